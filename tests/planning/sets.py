"""Small sets of subscriptions to be planned."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from thatch.planning import PlanningProblem
from thatch.planning.problem import AnswerKind

chances = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))
costs = st.sampled_from([1.0, 1.0, 0.5, 3.0])


@st.composite
def problems(draw: st.DrawFn, most: int = 6, answer: AnswerKind | None = None) -> PlanningProblem:
    """Any set: members share what they may, owners have one member or several."""
    predicates = draw(st.integers(1, most))
    member = st.lists(st.integers(0, predicates - 1), unique=True, max_size=3)
    members = draw(st.lists(member, min_size=1, max_size=4))
    owners = draw(st.lists(st.integers(0, 2), min_size=len(members), max_size=len(members)))
    return _rated(draw, members, predicates, owners, answer or draw(st.sampled_from(["list", "list", "any"])))


@st.composite
def nested_links(draw: st.DrawFn, most: int = 7) -> PlanningProblem:
    """Sets of one owner whose clusters are disjoint or nested: trees of `and` and `or` with every predicate once."""
    members: list[tuple[int, ...]] = []
    used = 0

    def grow(above: tuple[int, ...], depth: int) -> None:
        nonlocal used
        for _ in range(draw(st.integers(2 if depth == 0 else 0, 3))):
            own = tuple(range(used, min(used + draw(st.integers(1, 2)), most)))
            used += len(own)
            if own and depth < 2 and draw(st.booleans()):
                before = len(members)
                grow((*above, *own), depth + 1)
                if len(members) > before:
                    continue
            if own:
                members.append((*above, *own))

    grow((), 0)
    shared = draw(st.booleans()) and used < most
    if shared:
        members = [(used, *each) for each in members]
    return _rated(draw, members, used + shared, [0] * len(members), "any")


@st.composite
def link_groups(draw: st.DrawFn, most: int = 9) -> PlanningProblem:
    """Members of one owner that share nothing."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4).filter(lambda each: sum(each) <= most))
    members, used = [], 0
    for size in sizes:
        members.append(tuple(range(used, used + size)))
        used += size
    return _rated(draw, members, used, [0] * len(members), "any")


def _rated(
    draw: st.DrawFn,
    members: Sequence[Sequence[int]],
    predicates: int,
    owners: Sequence[int],
    answer: AnswerKind,
) -> PlanningProblem:
    return PlanningProblem.of(
        members,
        [draw(chances) for _ in range(predicates)],
        costs=[draw(costs) for _ in range(predicates)],
        owners=owners,
        answer=answer,
    )
