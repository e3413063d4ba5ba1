"""What the paper does for every publication and every new subscription, compiled."""

from __future__ import annotations

from thatch.compiled.decorators import kernel

__all__ = ["COVERED", "COVERS", "MET", "assign", "evaluate", "scan"]

COVERED = 1  # what exists covers what is new: the right side of the paper's pairs
COVERS = 2  # what is new covers what exists: their left side
MET = 4  # what is new has a predicate on the attribute too


@kernel
def scan(table, event, found):
    """The naive way: one subscription after the other. `found` gets those that match; gives their number.

    Parameters
    ----------
    table : where subscriptions begin; attribute, least and greatest value of each predicate, and whether it holds outside
        of these
    """
    offsets, attribute, low, high, is_outside = table
    count = 0
    for row in range(offsets.shape[0] - 1):
        is_matched = True
        for place in range(offsets[row], offsets[row + 1]):
            value = event[attribute[place]]
            if (low[place] <= value <= high[place]) == is_outside[place]:
                is_matched = False
                break
        if is_matched:
            found[count] = row
            count += 1
    return count


@kernel
def assign(sides, box, state):
    """Step 1 of the paper's covering: compare what is new with the predicate of every variable; `state` gets the pairs.

    Parameters
    ----------
    sides : attribute, least and greatest value of every variable; variable 0 is none
    box : attributes, least and greatest values of what is new
    """
    attribute, low, high = sides
    attributes, lows, highs = box
    for variable in range(1, attribute.shape[0]):
        found = COVERS  # on an attribute that is not in what is new
        for place in range(attributes.shape[0]):
            if attributes[place] == attribute[variable]:
                found = MET
                if low[variable] <= lows[place] and highs[place] <= high[variable]:
                    found |= COVERED
                if lows[place] <= low[variable] and high[variable] <= highs[place]:
                    found |= COVERS
                break
        state[variable] = found


@kernel
def evaluate(columns, state, wanted, size, value, found):
    """Step 2, figure 7: evaluate both sides of all diagrams in one pass, or one of them.

    Parameters
    ----------
    columns : variable, child and outputs of every node
    state : of every variable
    wanted : `COVERED`, `COVERS`, or both
    size : how many predicates what is new has

    Returns
    -------
    An output that covers what is new, or -1; how many outputs in `found` it covers; how many nodes were evaluated
    """
    variable, child, outputs = columns
    value[0] = wanted
    count = 0
    for node in range(1, variable.shape[0]):
        below, own = value[child[node]], state[variable[node]]
        holds = below & own & wanted
        met = (below - (below & 3)) + (own & MET)
        value[node] = holds | met
        # One branch that is seldom taken: what holds along half of a chain cannot be foretold.
        if holds & (COVERED | (COVERS * (met == size * MET))) and outputs[node] > 0:
            if holds & COVERED:
                return node, 0, node
            found[count] = node
            count += 1
            wanted = COVERS  # no one that exists covers another, so none covers what covers one
    return -1, count, variable.shape[0] - 1
