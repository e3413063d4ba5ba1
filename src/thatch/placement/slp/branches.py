"""What subscribers are split among: the leaves, or the brokers right below one broker.

Filters belong to branches, loads to leaves: on a tree of several levels the leaves below a branch keep their own
capacities, because their sum would promise room that only other subscribers can use.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thatch.placement.arrays import Bools, Ints
from thatch.placement.candidates import SubscriberTypes
from thatch.placement.problem import PlacementProblem

__all__ = ["Branches", "Subproblem"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Branches:
    """Brokers with disjoint sets of leaves.

    Parameters
    ----------
    nodes : the broker at the top of each branch
    of_leaf : the branch of each leaf, −1 for leaves elsewhere
    complexities : most boxes in the filter of each
    """

    nodes: Ints
    of_leaf: Ints
    complexities: Ints

    def __len__(self) -> int:
        return len(self.nodes)

    @classmethod
    def leaves(cls, problem: PlacementProblem) -> Branches:
        """Each leaf by itself."""
        leaves = problem.tree.leaves
        return cls(nodes=leaves, of_leaf=np.arange(len(leaves)), complexities=problem.complexities[leaves])

    @classmethod
    def below(cls, problem: PlacementProblem, node: int) -> Branches:
        """The children of a node, each with the leaves below it."""
        tree = problem.tree
        children = tree.children(node)
        of_leaf = np.full(len(tree.leaves), -1, np.int64)
        for leaf in range(len(tree.leaves)):
            path = tree.path_nodes[tree.path_start[leaf] : tree.path_start[leaf + 1]]
            found = np.flatnonzero(np.isin(children, path))
            if len(found):
                of_leaf[leaf] = found[0]
        return cls(nodes=children, of_leaf=of_leaf, complexities=problem.complexities[children])

    def any_leaf(self, is_leaf: Bools) -> Bools:
        """Turn rows over leaves into rows over branches: whether any leaf below is marked."""
        answer = np.zeros((len(is_leaf), len(self)), np.bool_)
        for leaf in np.flatnonzero(self.of_leaf >= 0).tolist():
            answer[:, self.of_leaf[leaf]] |= is_leaf[:, leaf]
        return answer


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Subproblem:
    """Some or all subscribers of a problem, and the branches they are split among.

    Parameters
    ----------
    members : the subscribers
    types : theirs: `types.of` has a type for each member, and candidates are leaves below the branches
    capacities : of all leaves
    """

    problem: PlacementProblem
    members: Ints
    types: SubscriberTypes
    branches: Branches
    capacities: Ints

    @classmethod
    def of(
        cls,
        problem: PlacementProblem,
        types: SubscriberTypes,
        branches: Branches,
        capacities: Ints,
        members: Ints | None = None,
    ) -> Subproblem:
        """The subproblem of these members, by default everybody, given the types of the whole problem."""
        if members is None:
            members = np.arange(problem.subscribers)
        return cls(
            problem=problem,
            members=members,
            types=types.select(members, branches.of_leaf >= 0),
            branches=branches,
            capacities=capacities,
        )
