"""Decision diagrams: chains share what they can, forget what nobody needs, and can be looked at."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch
from thatch.errors import ParameterError
from thatch.matching.diagrams import DiagramIndex, chains, predicates
from thatch.matching.diagrams.chains import Chains
from thatch.matching.diagrams.drawing import as_graphviz, as_text
from thatch.matching.diagrams.ordering import order_from_filters, order_from_profile
from thatch.model.events import read_event
from thatch.model.profile import Profile

# li2005, sections 2 and 3.1: figures 2, 3 and 5. Its attribute `time` is a word of our language and called `day`.
ORDER = ("price", "day", "destination")
S1 = "price = 150 and day = 'July 20, 2004' and destination = 'Ottawa'"
S2 = "price < 150 and day = 'July 20, 2004' and destination = 'Ottawa'"


def test_a_subscription_is_a_chain_of_its_predicates() -> None:
    index = DiagramIndex(ORDER)
    index.add(0, thatch.parse(S1))
    (node,) = index.outputs
    keys = [index.predicates.predicate(variable)[0] for variable in index.chains.variables(node)]
    assert keys == list(ORDER)
    ticket = {"price": 150, "day": "July 20, 2004", "destination": "Ottawa"}
    assert index.match(read_event(ticket)) == [0]
    for name in ORDER:
        assert index.match(read_event({**ticket, name: "other"})) == []
        assert index.match(read_event({key: value for key, value in ticket.items() if key != name})) == []


def test_two_subscriptions_share_predicates_and_the_nodes_at_their_end() -> None:
    index = DiagramIndex(ORDER)
    index.add(0, thatch.parse(S1))
    index.add(1, thatch.parse(S2))
    stats = index.stats()
    assert (stats["predicates"], stats["nodes"], stats["outputs"], stats["diagrams"]) == (4, 4, 2, 1)


def test_a_diagram_can_be_read_as_text() -> None:
    index = DiagramIndex(ORDER)
    index.add(0, thatch.parse(S1))
    index.add(1, thatch.parse(S2))
    index.add(2, thatch.parse("true"))
    assert as_text(index, names={0: "S1", 1: "S2", 2: "all"}).splitlines() == [
        "true",
        "  true -> all",
        "day = 'July 20, 2004' and destination = 'Ottawa'",
        "  price < 150 -> S2",
        "  price = 150 -> S1",
    ]


def test_a_diagram_can_be_drawn() -> None:
    index = DiagramIndex(ORDER)
    index.add(0, thatch.parse(S1))
    index.add(1, thatch.parse("destination = 'a\"b'"))
    drawn = as_graphviz(index)
    assert drawn.startswith("digraph diagrams {")
    assert drawn.count("->") == 4 + 2  # four nodes have a child, two filters an output
    assert '[label="destination = \'a\\"b\'"]' in drawn


_chains = st.lists(st.sets(st.integers(1, 6)).map(sorted), max_size=12)


@given(_chains, st.data())
def test_chains_hold_what_was_inserted_and_not_removed(
    inserted: list[list[int]], data: st.DataObject
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(chains, "_FEW_GONE", 0)
        held = Chains()
        nodes = [held.insert(each) for each in inserted]
        live = dict(enumerate(inserted))
        for number in data.draw(st.permutations(range(len(inserted)))) if inserted else ():
            held.remove(nodes[number])
            del live[number]
            new = held.renumber()
            if new is not None:
                nodes = new[nodes].tolist()
            for each, variables in live.items():
                assert list(held.variables(nodes[each])) == variables[::-1]
            ends = {
                tuple(variables[:length])
                for variables in live.values()
                for length in range(len(variables) + 1)
            }
            assert len(held) == len(ends | {()})
            columns = held.columns
            assert all(child < node for node, child in enumerate(columns.child.tolist()) if node)


def test_predicates_that_come_and_go_leave_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predicates, "_FRESH", 2)
    index = DiagramIndex()
    for number in range(60):
        index.add(number, thatch.parse(f"x between {number} and {number + 5} and lower(y) = 'k{number % 3}'"))
        if number >= 10:
            index.remove(number - 10)
        wanted = [
            each
            for each in range(max(0, number - 9), number + 1)
            if each <= number <= each + 5 and each % 3 == 1
        ]
        assert index.match(read_event({"x": number, "y": "K1"})) == wanted
    for number in range(50, 60):
        index.remove(number)
    stats = index.stats()
    assert (stats["predicates"], stats["nodes"], stats["outputs"]) == (0, 0, 0)
    assert index.predicates.size < 60


def test_a_wide_fan_out_is_decided_by_a_full_pass_and_a_narrow_one_is_not() -> None:
    index = DiagramIndex(("y", "x"))
    for number in range(1_000):
        index.add(number, thatch.parse(f"x = {number % 20} and y > {number // 20}"))
    assert index.match(read_event({"x": 3, "y": 2})) == [3, 23]
    assert index.stats()["full_passes"] == 0
    for number in range(1_000, 1_200):
        index.add(number, thatch.parse(f"x > -1 and y > {number - 1_200}"))
    assert len(index.match(read_event({"x": 3, "y": 100}))) == 250
    assert index.stats()["full_passes"] == 1


def test_lists_give_candidates_that_are_verified() -> None:
    index = DiagramIndex()
    index.add(0, thatch.parse("o.p = 1 and o.q = 2"))
    index.add(1, thatch.parse("o.p = 1 and o.q is missing"))
    assert index.match(read_event({"o": [{"p": 1, "q": 3}, {"p": 2, "q": 2}]})) == []
    assert index.match(read_event({"o": [{"p": 1, "q": 2}, {"p": 1}]})) == [0, 1]
    assert index.stats()["verified"] >= 3


def test_what_is_wrong_is_refused() -> None:
    with pytest.raises(ParameterError, match="way"):
        DiagramIndex(way="sideways")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ParameterError, match="order"):
        DiagramIndex(("a", "a"))
    with pytest.raises(ParameterError, match="order"):
        DiagramIndex("abc")


def test_what_is_shared_most_goes_to_the_bottom() -> None:
    filters = [
        thatch.parse(f"price < {number} and destination = 'Ottawa' and day = {number % 3}")
        for number in range(30)
    ]
    assert order_from_filters(filters) == ("price", "day", "destination")
    profile = Profile.of([{"price": 1, "destination": "Ottawa"}], {str(n): f for n, f in enumerate(filters)})
    assert order_from_profile(profile) == ("price", "day", "destination")
    assert order_from_profile(Profile.of([{"a": 1, "b": 2}, {"b": 3}])) == ("a", "b")


def test_a_good_order_makes_fewer_diagrams() -> None:
    filters = [thatch.parse(f"a = {number} and b = {number % 2} and c = 1") for number in range(40)]

    def diagrams(order: tuple[str, ...]) -> int:
        index = DiagramIndex(order)
        for slot, each in enumerate(filters):
            index.add(slot, each)
        return index.stats()["diagrams"]

    assert diagrams(order_from_filters(filters)) == 2
    assert diagrams(("b", "c", "a")) == 40


def test_what_no_interval_says_is_checked_on_flat_events_too() -> None:
    index = DiagramIndex()
    index.add(0, thatch.parse("x = 1 and y like '%a%b%'"))
    index.add(1, thatch.parse("y like '%a%b%'"))
    assert index.match(read_event({"x": 1, "y": "-a-b-"})) == [0, 1]
    assert index.match(read_event({"x": 1, "y": "-b-a-"})) == []
