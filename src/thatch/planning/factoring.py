"""Factor out the predicates that members share, so that one test rejects many members.

`factor_nested` is for clusters that are disjoint or nested: every predicate occurs once. `factor_greedily` is for clusters
that overlap. For a group of members it takes what all of them share; then, repeatedly, the predicate that rejects members
at the least expected cost per member, which makes the next group. A member may end up in one of many groups, and the
predicate may be one that members only imply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush

from thatch.planning.commonalities import PredicateCluster, nested_clusters
from thatch.planning.depth_first import by_ratio, chance_and_cost
from thatch.planning.problem import PlanningProblem
from thatch.planning.steps import PlanStep

__all__ = ["factor", "factor_greedily", "factor_nested"]

Rest = Mapping[int, tuple[int, ...]]  # by member: its predicates that are not tested above it


def factor(problem: PlanningProblem) -> PlanStep:
    """The steps of a set, in no particular order: nested if possible."""
    found = nested_clusters(problem)
    return factor_greedily(problem) if found is None else factor_nested(problem, found)


def factor_nested(problem: PlanningProblem, found: Sequence[tuple[PredicateCluster, int]]) -> PlanStep:
    """Steps in which every predicate occurs once, from the result of `nested_clusters`."""
    home, shared = [-1] * len(problem.members), {each for cluster, _ in found for each in cluster.predicates}
    for number, (cluster, _) in enumerate(found):  # inner clusters come after those around them
        for member in cluster.members:
            home[member] = number
    ends: dict[int, list[int]] = {}
    below: dict[int, list[PlanStep]] = {}
    for member, predicates in enumerate(problem.members):
        private = tuple(each for each in predicates if each not in shared)
        if private:
            below.setdefault(home[member], []).append(PlanStep(private, (member,)))
        else:
            ends.setdefault(home[member], []).append(member)
    for number in reversed(range(len(found))):
        cluster, around = found[number]
        step = PlanStep(cluster.predicates, tuple(ends.get(number, ())), tuple(below.get(number, ())))
        below.setdefault(around, []).append(step)
    return _without_empty_root(PlanStep((), tuple(ends.get(-1, ())), tuple(below.get(-1, ()))))


def _without_empty_root(root: PlanStep) -> PlanStep:
    return root.below[0] if len(root.below) == 1 and not root.tests and not root.ends else root


def factor_greedily(problem: PlanningProblem) -> PlanStep:
    """Steps for any set; a predicate may occur several times, and before members that only imply it."""
    return _without_empty_root(_group(problem, dict(enumerate(problem.members)), (), frozenset()))


def _group(problem: PlanningProblem, rest: Rest, taken: tuple[int, ...], known: frozenset[int]) -> PlanStep:
    """The step of a group: the predicate that made it and all else that its members share, then its members."""
    sets = [set(each) for each in rest.values()]
    common = set.intersection(*sets)
    follows = {weaker for each in common for weaker in problem.implied[each]}
    tests = (*(each for each in taken if each not in follows), *sorted(common))
    known = known.union(tests, *(problem.implied[each] for each in tests))
    rest = {member: tuple(each for each in own if each not in common) for member, own in rest.items()}
    ends = tuple(member for member, own in rest.items() if not own)
    open_rest = {member: own for member, own in rest.items() if own}
    groups = _groups(problem, open_rest, known)
    placed = {member for _, own in groups for member in own}
    below = [_group(problem, own, (predicate,), known) for predicate, own in groups]
    below += [PlanStep(own, (member,)) for member, own in open_rest.items() if member not in placed]
    return PlanStep(tests, ends, tuple(below))


def _groups(problem: PlanningProblem, rest: Rest, known: frozenset[int]) -> list[tuple[int, Rest]]:
    """Predicates with the members that each takes, the cheapest per member first.

    Prices hardly ever fall while other predicates take members, so it is enough to update the price at the top of the heap.
    """
    holders: dict[int, list[int]] = {}
    for member, own in rest.items():
        for predicate in _necessary(problem, own, known):
            holders.setdefault(predicate, []).append(member)
    prices = _Prices(problem, rest, known)
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


def _necessary(problem: PlanningProblem, own: tuple[int, ...], known: frozenset[int]) -> set[int]:
    """The predicates of a member, and those implied by them that are stronger than what is known.

    Weaker predicates on one attribute are nested, so their selectivities give the conditional probability.
    """
    found = set(own)
    for predicate in own:
        weaker = problem.implied[predicate]
        inner = next((each for each in weaker if each in known), None)
        found.update(each for each in weaker if inner is None or inner in problem.implied[each])
    return found


class _Prices:
    """The cost of rejecting members, given that some predicates are true."""

    def __init__(self, problem: PlanningProblem, rest: Rest, known: frozenset[int]) -> None:
        self._problem = problem
        self._known = known
        self._orders = {member: by_ratio(problem, own, known) for member, own in rest.items()}
        self._alone = {
            member: chance_and_cost(problem, own, known)[1] for member, own in self._orders.items()
        }

    def of(self, predicate: int, members: Sequence[int]) -> float:
        """The expected cost per member if a predicate is tested before these members."""
        problem, known = self._problem, self._known | {predicate}
        after = sum(
            chance_and_cost(problem, [each for each in self._orders[member] if each != predicate], known)[1]
            for member in members
        )
        whole = problem.costs[predicate] + problem.chance(predicate, self._known) * after
        return whole / len(members)

    def alone(self, members: Sequence[int]) -> float:
        """The expected cost of these members if each is evaluated on its own."""
        return sum(self._alone[member] for member in members)
