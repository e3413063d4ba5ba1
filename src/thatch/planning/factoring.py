"""Predicates that members share, factored out: they stand before the members, which are rejected together.

`nested` is for clusters that are disjoint or nested: every predicate stands once. `greedy` is for clusters that
overlap: for a group of members it takes what all of them share, and then again and again the predicate that rejects
members for the least expected cost each, which makes the next group; a member may so be in one of many groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush

from thatch.planning.commonalities import Cluster, nested_clusters
from thatch.planning.conjunction import by_ratio, expected
from thatch.planning.problem import Problem
from thatch.planning.steps import Step

__all__ = ["factored", "greedy", "nested"]

Rest = Mapping[int, tuple[int, ...]]  # by member: its predicates that do not stand above it


def factored(problem: Problem) -> Step:
    """The set as steps, in no particular order: nested where that is possible."""
    found = nested_clusters(problem)
    return greedy(problem) if found is None else nested(problem, found)


def nested(problem: Problem, found: Sequence[tuple[Cluster, int]]) -> Step:
    """Steps with every predicate once.

    Parameters
    ----------
    found : what `nested_clusters` gives
    """
    home, shared = [-1] * len(problem.members), {each for cluster, _ in found for each in cluster.predicates}
    for number, (cluster, _) in enumerate(found):  # inner clusters come after those around them
        for member in cluster.members:
            home[member] = number
    ends: dict[int, list[int]] = {}
    below: dict[int, list[Step]] = {}
    for member, predicates in enumerate(problem.members):
        private = tuple(each for each in predicates if each not in shared)
        if private:
            below.setdefault(home[member], []).append(Step(private, (member,)))
        else:
            ends.setdefault(home[member], []).append(member)
    for number in reversed(range(len(found))):
        cluster, around = found[number]
        step = Step(cluster.predicates, tuple(ends.get(number, ())), tuple(below.get(number, ())))
        below.setdefault(around, []).append(step)
    root = Step((), tuple(ends.get(-1, ())), tuple(below.get(-1, ())))
    return root.below[0] if len(root.below) == 1 and not root.ends else root


def greedy(problem: Problem) -> Step:
    """Steps for any set; a predicate may stand in several places."""
    return _group(problem, dict(enumerate(problem.members)), ())


def _group(problem: Problem, rest: Rest, taken: tuple[int, ...]) -> Step:
    """The step of a group: what was taken to make it and all else that its members share, then its members."""
    sets = [set(each) for each in rest.values()]
    common = set.intersection(*sets)
    rest = {member: tuple(each for each in own if each not in common) for member, own in rest.items()}
    ends = tuple(member for member, own in rest.items() if not own)
    open_rest = {member: own for member, own in rest.items() if own}
    groups = _groups(problem, open_rest)
    placed = {member for _, own in groups for member in own}
    below = [_group(problem, own, (predicate,)) for predicate, own in groups]
    below += [Step(own, (member,)) for member, own in open_rest.items() if member not in placed]
    return Step((*taken, *sorted(common)), ends, tuple(below))


def _groups(problem: Problem, rest: Rest) -> list[tuple[int, Rest]]:
    """Predicates with the members that each takes, the cheapest for a member first.

    A price only rises while members are taken by others, nearly: so the heap is right again once the price of its top
    was taken anew.
    """
    holders: dict[int, list[int]] = {}
    for member, own in rest.items():
        for predicate in own:
            holders.setdefault(predicate, []).append(member)
    prices = _Prices(problem, rest)
    heap = [(prices.of(each, some), each) for each, some in holders.items() if len(some) > 1]
    heapify(heap)
    taken: set[int] = set()
    found: list[tuple[int, Rest]] = []
    while heap:
        price, predicate = heappop(heap)
        free = [member for member in holders[predicate] if member not in taken]
        if len(free) < 2:
            continue
        now = prices.of(predicate, free)
        if heap and now > max(price, heap[0][0]):
            heappush(heap, (now, predicate))
        elif now * len(free) < prices.alone(free):
            taken.update(free)
            left = {member: tuple(each for each in rest[member] if each != predicate) for member in free}
            found.append((predicate, left))
    return found


class _Prices:
    """What it costs to reject members."""

    def __init__(self, problem: Problem, rest: Rest) -> None:
        self._problem = problem
        self._orders = {member: by_ratio(problem, own) for member, own in rest.items()}
        self._alone = {member: expected(problem, own)[1] for member, own in self._orders.items()}

    def of(self, predicate: int, members: Sequence[int]) -> float:
        """The expected cost of members that a predicate stands before, for each of them."""
        after = sum(
            expected(self._problem, [each for each in self._orders[member] if each != predicate])[1]
            for member in members
        )
        whole = self._problem.costs[predicate] + self._problem.selectivities[predicate] * after
        return whole / len(members)

    def alone(self, members: Sequence[int]) -> float:
        """The same for members that are evaluated one by one, in their own order."""
        return sum(self._alone[member] for member in members)
