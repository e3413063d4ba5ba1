"""Trees of rules, given as tokens in prefix order: where their parts end, what they wait for, their tests as jumps.

A node is the position of its token. The nodes below it stand behind it, so that a loop from the last token to the first
comes to children before their parents.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, subkernel
from thatch.matching.segments.rules.records import ASKED, NO, SCANNED, TEST_WIDTH, YES

__all__ = ["emit_tests", "find_ends", "judge", "pick_waits", "waiting_tests"]

LEAF, ALL_OF = 0, 1  # as in `draft`


@kernel
def find_ends(tokens, out_end, out_parent):
    """The end of the part of each node, and its parent; roots have -1."""
    for node in range(len(tokens) - 1, -1, -1):
        end = node + 1
        if tokens[node] & 3 != LEAF:
            for _ in range(tokens[node] >> 2):
                out_parent[end] = node
                end = out_end[end]
        out_end[node] = end
        out_parent[node] = -1


@kernel
def pick_waits(rules, token_at, tokens, ends, tests, banned, out_share, out_pick):
    """For what some rules wait at each node, and its share of events; a share of infinity if nothing there can be waited for.

    Parameters
    ----------
    tests : attribute, share, whether it cannot be waited for, for which parts it scans a text
    banned : for which parts the text of an attribute is not to be scanned
    out_pick : of nodes that need all of their children, the child that is waited for
    """
    attribute, shares, is_open, scans = tests
    for k in range(len(rules)):
        rule = rules[k]
        for node in range(token_at[rule + 1] - 1, token_at[rule] - 1, -1):
            kind, count = tokens[node] & 3, tokens[node] >> 2
            if kind == LEAF:
                is_late = scans[count] & banned[attribute[count]] != 0
                out_share[node] = np.inf if is_open[count] or is_late else shares[count]
                continue
            best, total, child = np.inf, 0.0, np.int64(node + 1)
            out_pick[node] = -1
            for _ in range(count):
                share = out_share[child]
                total += share
                if share < best:
                    best, out_pick[node] = share, child
                child = ends[child]
            out_share[node] = best if kind == ALL_OF else total


@kernel
def waiting_tests(token_at, tokens, ends, shares, picks, out_is_waiting, out_rules, out_tests):
    """The tests for which rules wait, one after the other, and their rules; how many."""
    count = 0
    for rule in range(len(token_at) - 1):
        first = token_at[rule]
        if shares[first] == np.inf:
            continue
        out_is_waiting[first] = True
        for node in range(first, token_at[rule + 1]):
            if not out_is_waiting[node]:
                continue
            kind, number = tokens[node] & 3, tokens[node] >> 2
            if kind == LEAF:
                out_rules[count], out_tests[count] = rule, number
                count += 1
            elif kind == ALL_OF:
                out_is_waiting[picks[node]] = True
            else:
                child = np.int64(node + 1)
                for _ in range(number):
                    out_is_waiting[child] = True
                    child = ends[child]
    return count


@kernel
def judge(tokens, ends, test_shares, test_lateness, out_share, out_lateness):
    """About the share of events in which each node holds, and how late it is to be tested."""
    for node in range(len(tokens) - 1, -1, -1):
        kind, count = tokens[node] & 3, tokens[node] >> 2
        if kind == LEAF:
            out_share[node], out_lateness[node] = test_shares[count], test_lateness[count]
            continue
        least, total, late, child = 1.0, 0.0, np.int64(0), np.int64(node + 1)
        for _ in range(count):
            least = min(least, out_share[child])
            total += out_share[child]
            late = max(late, np.int64(out_lateness[child]))
            child = ends[child]
        out_share[node] = least if kind == ALL_OF else min(total, 1.0)
        out_lateness[node] = late


@subkernel
def _append(out, at, attribute, flags, group, ranges, holds, fails):
    first = TEST_WIDTH * at
    out[first], out[first + 1], out[first + 2] = attribute, flags, group
    out[first + 3], out[first + 4], out[first + 5] = ranges, holds, fails
    return at + 1


@subkernel
def _emit(tests, groups, is_late, test, yes, no, out, at):
    """Append the tests of a leaf: what literals decide, then whether the filter must be asked; the end, the last is the first."""
    attributes, classes, asked, range_at, is_negated, least = tests
    group_at, needle_at, parts = groups
    attribute = attributes[test]
    if is_negated[test]:
        yes, no = no, yes
    scanned = SCANNED if is_late[test] else 0
    if asked[test] != 0:
        # A negated leaf that may have to be asked must be, whichever way the answer goes.
        ask, fails = at, no
        at = _append(out, at, attribute, ASKED | np.int64(asked[test]), -1, least[test], no, no)
        no = ask
        first, last = needle_at[test], needle_at[test + 1]
        if first < last:
            no = fails
        for k in range(first, last):
            at = _append(out, at, attribute, scanned, parts[k], -1, ask, no)
            no = at - 1
    ranges = test if range_at[test + 1] > range_at[test] else -1
    first, last = group_at[test], group_at[test + 1]
    for k in range(first, last - 1):
        at = _append(out, at, attribute, scanned, parts[k], -1, yes, no)
        no = at - 1
    group = parts[last - 1] if first < last else -1
    return _append(out, at, attribute, scanned | np.int64(classes[test]), group, ranges, yes, no)


@kernel
def emit_tests(order, token_at, tokens, child_at, children, tests, groups, is_late, stack, out, out_start):
    """Write the tests of rules in this order as jumps, the last ones of a rule first; how many.

    Parameters
    ----------
    child_at, children : the children of each node, the last to be tested first
    tests : attribute, classes, asked classes, ranges, whether it is negated, how long a text about which it asks is
    groups : where the groups of each test begin, of its literals and of its needles, and all of them
    is_late : tests that have a text scanned, if they are come to
    stack : room for a row of four numbers for each token of a rule: node, where to go if it holds and if not, children done
    out_start : the first test of each rule
    """
    at = np.int64(0)
    for rule in order:
        depth = np.int64(0)
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = token_at[rule], YES, NO, 0
        while depth >= 0:
            node, yes, no = stack[depth, 0], stack[depth, 1], stack[depth, 2]
            kind = tokens[node] & 3
            child = child_at[node] + stack[depth, 3]
            if kind != LEAF and child < child_at[node + 1]:
                stack[depth, 3] += 1
                depth += 1
                stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = (
                    children[child],
                    yes,
                    no,
                    0,
                )
                continue
            if kind == LEAF:
                at = _emit(tests, groups, is_late, tokens[node] >> 2, yes, no, out, at)
                start = at - 1
            else:
                start = yes if kind == ALL_OF else no
            depth -= 1
            if depth < 0:
                out_start[rule] = start
            elif tokens[stack[depth, 0]] & 3 == ALL_OF:
                stack[depth, 1] = start
            else:
                stack[depth, 2] = start
    return at
