"""One walk over a diagram of boxes, compiled."""

from __future__ import annotations

from thatch.matching.segments.compiling.kernels import kernel

__all__ = ["COVERED", "COVERS", "relations"]

COVERED = 1  # the paper's right side: what exists covers or equals what is new
COVERS = 2  # its left side: what is new covers or equals what exists


@kernel
def relations(columns, sides, box, wanted, stacks, found):
    """Evaluate both sides of the diagrams at once, from the terminal upwards.

    Parameters
    ----------
    columns : variable, first node above, next node above the same child, and outputs of every node
    sides : axis, low and high of every variable
    box : axes, lows and highs of what is new; axes rise, and rise from the bottom of diagrams to their top
    wanted : `COVERED`, `COVERS`, or both
    stacks : room for nodes, for how many axes of the box lie below each, and for what holds so far

    Returns
    -------
    An output that covers the box, or -1; how many outputs in `found` it covers; how many nodes were looked at
    """
    variable, first, after, outputs = columns
    axis, low, high = sides
    axes, lows, highs = box
    nodes, passed, states = stacks
    m = axes.shape[0]
    count = 0
    looked_at = 0
    if outputs[0] > 0:
        if wanted & COVERED:
            return 0, 0, 1
        if m == 0:
            found[0] = 0
            count = 1
    nodes[0], passed[0], states[0] = 0, 0, wanted
    depth = 1
    while depth > 0:
        depth -= 1
        at, state = passed[depth], states[depth] & wanted
        node = first[nodes[depth]]
        while node > 0 and state:
            looked_at += 1
            each = variable[node]
            k = at
            while k < m and axes[k] < axis[each]:
                k += 1
            holds = state
            if k > at:
                # The node's box says nothing of an axis of the new one, so it is not inside it: the paper forgets this.
                holds &= COVERED
            if k < m and axes[k] == axis[each]:
                if low[each] > lows[k] or highs[k] > high[each]:
                    holds &= COVERS
                if low[each] < lows[k] or highs[k] < high[each]:
                    holds &= COVERED
                k += 1
            else:
                holds &= COVERS  # an axis that is not in the new box constrains what exists alone
            if holds and outputs[node] > 0:
                if holds & COVERED:
                    return node, 0, looked_at
                if k == m:
                    found[count] = node
                    count += 1
                    wanted &= COVERS  # in an antichain, what covers one is covered by none
            if holds:
                nodes[depth], passed[depth], states[depth] = node, k, holds
                depth += 1
            node = after[node]
    return -1, count, looked_at
