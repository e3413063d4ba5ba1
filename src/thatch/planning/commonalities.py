"""What a set has in common: conditions that several members imply, and the topology that these make.

A commonality is a condition that each of some members implies (commonality, section 2.1). Which commonalities touch which
members is the topology of the set (sections 2.2 and 3), and decides which algorithm plans it:

==================  ============  =====================================================
topology            answer        predicates that several members hold
==================  ============  =====================================================
conjunction         –             (a single member)
link-group          yes or no     none
link-cluster        yes or no     held by all members
multicluster-link   yes or no     clusters that are disjoint or nested
separate            a list        none
cluster             a list        held by all members
multi-cluster       a list        clusters that are disjoint or nested
entangled           any           clusters that overlap
==================  ============  =====================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from thatch.planning.problem import PlanningProblem

__all__ = [
    "Commonality",
    "PredicateCluster",
    "SetTopology",
    "clusters",
    "commonalities",
    "nested_clusters",
    "topology_of",
]

_MOST_NAMED = 3  # members that an expression names
SetTopology = Literal[
    "conjunction",
    "link-group",
    "link-cluster",
    "multicluster-link",
    "separate",
    "cluster",
    "multi-cluster",
    "entangled",
]


@dataclass(frozen=True, slots=True)
class Commonality:
    """A necessary condition of at least two members.

    Parameters
    ----------
    use : "conjunctive" if it is evaluated and rejects all members when false; "disjunctive" if the first true member
        decides it
    members : those that have it
    predicates : the predicates to evaluate, all of which must hold; none if disjunctive
    """

    use: Literal["conjunctive", "disjunctive"]
    members: tuple[int, ...]
    predicates: tuple[int, ...] = ()

    def expression(self, problem: PlanningProblem, names: Sequence[str] | None = None) -> str:
        """The commonality expression (1) or (2) of the paper; members are called S0, S1, … by default."""
        listed = self.members[:_MOST_NAMED]
        if len(self.members) > _MOST_NAMED:
            listed = (*listed[:-1], self.members[-1])
        called = [f"S{member}" if names is None else names[member] for member in listed]
        if len(self.members) > _MOST_NAMED:
            called.insert(-1, "…")
        if self.use == "disjunctive":
            return f"{' ∨ '.join(called)} → answered"
        condition = " and ".join(problem.names[each] for each in self.predicates)
        return f"not ({condition}) → {' ∧ '.join('¬' + each if each != '…' else each for each in called)}"


@dataclass(frozen=True, slots=True)
class PredicateCluster:
    """Members that share predicates: exactly these members have exactly these predicates in common."""

    members: tuple[int, ...]
    predicates: tuple[int, ...]


def clusters(problem: PlanningProblem) -> list[PredicateCluster]:
    """All clusters of two members or more, the largest first."""
    found: dict[tuple[int, ...], list[int]] = {}
    for predicate, members in problem.holders.items():
        if len(members) > 1:
            found.setdefault(members, []).append(predicate)
    listed = sorted(found.items(), key=lambda each: (-len(each[0]), each[0]))
    return [PredicateCluster(members, tuple(predicates)) for members, predicates in listed]


def commonalities(problem: PlanningProblem) -> list[Commonality]:
    """All commonalities: disjunctive ones, then conjunctive ones, those with most members first."""
    of_owner: dict[int, list[int]] = {}
    for member, owner in enumerate(problem.owners):
        if owner in problem.repeated:
            of_owner.setdefault(owner, []).append(member)
    answers = [Commonality("disjunctive", tuple(members)) for members in of_owner.values()]
    shared = [Commonality("conjunctive", each.members, each.predicates) for each in clusters(problem)]
    shared += _weaker(problem)
    answers.sort(key=lambda each: -len(each.members))
    return answers + sorted(shared, key=lambda each: (-len(each.members), each.members))


def _weaker(problem: PlanningProblem) -> list[Commonality]:
    """Predicates that some members only imply, with all members that contain or imply them."""
    found: dict[int, set[int]] = {}
    for predicate, members in problem.holders.items():
        for each in problem.implied[predicate]:
            found.setdefault(each, set(problem.holders.get(each, ()))).update(members)
    return [
        Commonality("conjunctive", tuple(sorted(members)), (predicate,))
        for predicate, members in found.items()
        if len(members) > 1
    ]


def nested_clusters(problem: PlanningProblem) -> list[tuple[PredicateCluster, int]] | None:
    """All clusters, each with the position in this list of the smallest one around it, −1 for none.

    None if two clusters overlap: no tree then has every predicate once.
    """
    found: list[tuple[PredicateCluster, int]] = []
    innermost = [-1] * len(problem.members)
    for cluster in clusters(problem):
        around = {innermost[member] for member in cluster.members}
        if len(around) > 1:
            return None
        found.append((cluster, around.pop()))
        for member in cluster.members:
            innermost[member] = len(found) - 1
    return found


def topology_of(problem: PlanningProblem) -> SetTopology:
    """The topology of a set.

    Notes
    -----
    `separate`, `multi-cluster` and `entangled` are our names. The paper has none for sets without commonalities, for several
    clusters whose answer is a list, or for clusters that overlap.
    """
    if len(problem.members) == 1:
        return "conjunction"
    is_link = problem.owner_count == 1
    nested = nested_clusters(problem)
    if nested is None:
        return "entangled"
    if not nested:
        return "link-group" if is_link else "separate"
    if len(nested) == 1 and len(nested[0][0].members) == len(problem.members):
        return "link-cluster" if is_link else "cluster"
    return "multicluster-link" if is_link else "multi-cluster"
