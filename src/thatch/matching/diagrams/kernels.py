"""Kernels that evaluate the chains of diagrams."""

from __future__ import annotations

from thatch.compiled.decorators import kernel

__all__ = ["full_pass", "top_down"]


@kernel
def full_pass(variable, child, outputs, true, truth, value, found, much):
    """Evaluate every node, from bottom to top; write the true outputs to `found` and return how many there are.

    A node's child has a lower number. `truth` is all zero before and after; `found` has room for every node. Where
    `much` holds no one can tell what, and a pass without branches is the quicker one.
    """
    for each in true:
        truth[each] = 1
    value[0] = 1
    count = 0
    if outputs[0] > 0:
        found[0] = 0
        count = 1
    if much:
        for node in range(1, variable.shape[0]):
            holds = truth[variable[node]] & value[child[node]]
            value[node] = holds
            found[count] = node
            count += int(holds & (outputs[node] > 0))
    else:
        for node in range(1, variable.shape[0]):
            holds = truth[variable[node]] & value[child[node]]
            value[node] = holds
            if holds and outputs[node] > 0:
                found[count] = node
                count += 1
    for each in true:
        truth[each] = 0
    return count


@kernel
def top_down(columns, true, truth, stack, found, most):
    """Walk from the terminal to all true nodes above it; write the true outputs to `found`, return how many there are.

    Parameters
    ----------
    columns : variable, first node above, next node above the same child, and outputs of every node
    most : nodes that may be looked at; beyond that the answer is -1
    """
    variable, first, after, outputs = columns
    for each in true:
        truth[each] = 1
    count = 0
    if outputs[0] > 0:
        found[0] = 0
        count = 1
    looked_at = 0
    stack[0] = 0
    depth = 1
    while depth > 0 and looked_at <= most:
        depth -= 1
        node = first[stack[depth]]
        while node > 0:
            looked_at += 1
            if truth[variable[node]]:
                if outputs[node] > 0:
                    found[count] = node
                    count += 1
                stack[depth] = node
                depth += 1
            node = after[node]
    for each in true:
        truth[each] = 0
    return count if looked_at <= most else -1
