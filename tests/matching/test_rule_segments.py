"""Rules answer what their filters say, in every form that they are kept in: new, in segments, merged, laid out again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from thatch import parse
from thatch.errors import FilterError
from thatch.matching.segments import SegmentIndex
from thatch.matching.segments.rules import is_rule
from thatch.matching.segments.rules.folding import MOST_GROWTH, fold_tables
from thatch.matching.segments.rules.segment import RuleSegment
from thatch.model.derived import fold
from thatch.model.events import read_event
from thatch.model.filters import Filter

# Letters that fold to several, to fewer bytes, to others; needles of one, two, four and more bytes; what is in others.
WORDS = ["", "a", "b", "ab", "abc", "abcab", "ß", "ss", "İ", "\u0390", "\u0149", "K", "ſ", "é", "\U00010400", "x" * 130]  # fmt: skip
words = st.lists(st.sampled_from(WORDS), max_size=3).map("".join)
names = st.sampled_from(["x", "y", "o.p"])
numbers = st.sampled_from([0, -0.0, 1, 1.5, 2**53, 2**53 + 1, -(2**63), 2**63 - 1, 1e308])


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


conditions = st.one_of(
    st.builds(lambda name, word: f"{name} like {quoted('%' + word + '%')}", names, words),
    st.builds(lambda name, word: f"lower({name}) like {quoted('%' + fold(word) + '%')}", names, words),
    st.builds(lambda name, word: f"lower({name}) like {quoted('%' + fold(word))}", names, words),
    st.builds(lambda name, word: f"lower({name}) = {quoted(fold(word))}", names, words),
    st.builds(
        lambda name, one, other: f"lower({name}) like {quoted('%' + fold(one) + '_' + fold(other) + '%')}",
        names,
        words,
        words,
    ),
    st.builds(lambda name, word: f"{name} like {quoted(word + '%b')}", names, words),
    st.builds(lambda name, word: f"{name} not like {quoted('%' + word + '%')}", names, words),
    st.builds(lambda name, word: f"{name} is unlike {quoted('%' + word)}", names, words),
    st.builds(lambda name, word: f"{name} is distinct from {quoted(word)}", names, words),
    st.builds(lambda name, word: f"{name} ~ {quoted('a+' + word + '$')}", names, words.filter(str.isascii)),
    st.builds(lambda name, sign, number: f"{name} {sign} {number}", names, st.sampled_from("<>="), numbers),
    st.builds(
        lambda name, what: f"{name} is {what}", names, st.sampled_from(["missing", "null", "not null"])
    ),
)
trees = st.recursive(
    conditions,
    lambda inner: st.builds(
        lambda word, some: "(" + f" {word} ".join(some) + ")",
        st.sampled_from(["and", "or"]),
        st.lists(inner, min_size=2, max_size=5),
    ),
    max_leaves=8,
)
values = st.one_of(words, words, numbers, st.sampled_from([None, True, float("nan"), float("inf")]))
fields = st.one_of(values, values, values, st.lists(values, max_size=3))
events = st.fixed_dictionaries({}, optional={"x": fields, "y": fields, "o.p": fields, "else": fields})


@st.composite
def rules(draw: st.DrawFn) -> Filter:
    """Filters that are kept as rules: each has a condition on folded text that must hold, or many alternatives."""
    tree, word, name = draw(trees), draw(words.filter(bool)), draw(names)
    try:
        found = parse(f"lower({name}) like {quoted('%' + fold(word) + '%')} and ({tree})")
    except FilterError:  # no event can match
        found = None
    if found is None or not is_rule(found):
        found = parse(f"lower({name}) like {quoted('%' + fold(word) + '%')}")
    assert is_rule(found)
    return found


def answers(index: SegmentIndex, event: dict[str, Any]) -> list[int]:
    """What all ways to ask an index agree upon."""
    view, record = index.view, read_event(event)
    found = index.match(record)
    plain = view.match_plain(event, lambda slots: slots.tolist())
    assert plain is None or plain == found
    assert view.any(record) == (found != [])
    return found


FORMS = ["new", "merged", "saved"]
FORMS += [pytest.param(form, marks=pytest.mark.slow) for form in ("in segments", "at once", "laid out again")]


@pytest.mark.parametrize("form", FORMS)
@examples(15)
@given(data=st.data())
def test_rules_match_what_their_filters_do(form: str, data: st.DataObject) -> None:
    held = dict(enumerate(data.draw(st.lists(rules(), min_size=1, max_size=6))))
    some = data.draw(st.lists(events, min_size=1, max_size=4))
    index = SegmentIndex(background=form in ("in segments", "merged"))
    if form in ("at once", "laid out again"):
        index.extend(held)
    for slot, each in held.items():
        if form not in ("at once", "laid out again"):
            index.add(slot, each)
            if form in ("in segments", "merged"):
                index.merge()
    for slot in data.draw(st.sets(st.sampled_from(sorted(held)), max_size=2)):
        index.remove(slot)
        del held[slot]
    if form == "merged":
        index._rules.is_due = True
        index.merge()
    if form == "laid out again":
        for event in some:
            index.match(read_event(event))
        index._rules.segments = tuple(each.lay_out_again() for each in index._rules.segments)
        index._reshape()
        index._publish()
    if form == "saved":
        other = SegmentIndex()
        keys, parts, saved = index.arrays()
        other.restore(keys, parts, saved)
        index = other
    assert index.stats()["rules"] == len(held)
    for event in some:
        wanted = [slot for slot, each in held.items() if each.matches(event)]
        assert answers(index, event) == wanted, event


def test_rules_that_die_while_a_segment_is_laid_out_again_are_dead_in_both() -> None:
    index = SegmentIndex(background=True)
    for slot in range(40):
        index.add(slot, parse(f"lower(x) like '%n{slot}%'"))
    index.merge()
    for _ in range(300):
        index.match(read_event({"x": "an3"}))
    index._rules.is_due = True
    job = index.next_job()
    assert job is not None
    built = job.build()
    for slot in range(30):
        index.remove(slot)
    index.finish(job, built)
    assert index.stats()["rules"] == 10
    assert index.match(read_event({"x": "n3 n35"})) == [35]
    index.merge()  # most are dead, so the segment is made anew without them
    assert [len(each) for each in index._rules.segments] == [10]


def test_rules_that_die_while_they_become_a_segment_stay_dead() -> None:
    index = SegmentIndex(background=True)
    for slot in range(4):
        index.add(slot, parse(f"lower(x) like '%n{slot}%'"))
    job = index.next_job()
    assert job is not None
    built = job.build()
    index.remove(1)
    index.replace(2, parse("lower(x) like '%other%'"))
    index.finish(job, built)
    assert index.match(read_event({"x": "n0 n1 n2 n3"})) == [0, 3]
    assert index.match(read_event({"x": "Other"})) == [2]
    assert index.stats()["rules"] == 3


def test_an_index_of_rules_goes_back_to_what_readers_have() -> None:
    index = SegmentIndex(background=True)
    for slot in range(3):
        index.add(slot, parse(f"lower(x) like '%n{slot}%'"))
    index.merge()
    view = index.view
    index.remove(0)
    index.add(7, parse("lower(x) like '%n7%'"))
    index.revert(view)
    assert index.match(read_event({"x": "n0 n7"})) == [0]
    assert index.stats()["rules"] == 3


@pytest.mark.parametrize("text", ["x" * 70_000, "é" * 40_000], ids=["ASCII", "not ASCII"])
def test_room_for_a_large_event_is_not_kept(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from thatch.matching.segments import encoding
    from thatch.matching.segments.rules import workspace

    monkeypatch.setattr(encoding, "_MOST_KEPT", 30_000)
    monkeypatch.setattr(workspace, "_MOST_KEPT", 30_000)
    index = SegmentIndex()
    index.extend({slot: parse(f"lower(x) like '%n{slot}%'") for slot in range(40)})
    small, large = {"x": "É n3"}, {"x": text + "N5"}
    for _ in range(40):  # the kernel that reads dicts is loaded
        assert answers(index, small) == [3]
    before = index.stats()["bytes_rooms"]
    assert answers(index, large) == [5]
    assert index.stats()["bytes_rooms"] < 20 * len(text.encode())
    assert answers(index, small) == [3]
    assert index.stats()["bytes_rooms"] <= before
    assert answers(index, {**dict.fromkeys(map("k{}".format, range(2_000)), "x"), "x": "n4"}) == [4]


def test_a_search_that_raises_leaves_no_room_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    index = SegmentIndex()
    index.add(0, parse("lower(x) like '%n%'"))
    index.match(read_event({"x": "n"}))
    rooms, events = len(index._pool.every), index.stats()["events"]

    def fail(_: object) -> list[int]:
        raise MemoryError

    for _ in range(5):
        with pytest.raises(MemoryError):
            index.view.match_plain({"x": "n"}, fail)
    assert len(index._pool.every) < rooms + 1
    assert index.stats()["events"] == events + 5
    assert index.match(read_event({"x": "an"})) == [0]


def test_an_event_of_thousands_of_lists_is_searched() -> None:
    index = SegmentIndex()
    index.extend({slot: parse(f"lower(k{slot}) like '%n{slot}%' and k7.a = 1") for slot in range(40)})
    event: dict[str, Any] = {f"k{number}": [f"N{number}"] for number in range(5_000)}
    event |= {"k7": [{"a": 1}], "k9": ["N9", "x"], "k11": ["x", [["y"]]]}
    assert answers(index, event) == [slot for slot in range(40) if slot not in {7, 11}]


# --- folding ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_fold_tables_say_what_folding_does_and_how_much_longer_it_makes_a_text() -> None:
    pages, places, content = fold_tables()
    for code in (*range(128, 0xD800), *range(0xE000, 0x110000)):
        text = chr(code)
        place = int(places[int(pages[code >> 8]) << 8 | code & 255]) if code >> 8 < len(pages) else 0
        found = content[place + 1 : place + 1 + int(content[place])].tobytes().decode() if place else text
        assert found == fold(text)
        assert len(found.encode()) <= MOST_GROWTH * len(text.encode())


# --- layouts ----------------------------------------------------------------------------------------------------------


def test_a_segment_says_how_often_its_literals_held() -> None:
    index = SegmentIndex()
    index.extend({0: parse("lower(x) like '%rare%' or lower(x) = 'common'")})
    (segment,) = index._rules.segments
    assert isinstance(segment, RuleSegment)
    for text in ["common"] * 7 + ["a rare one", "other"]:
        index.match(read_event({"x": text}))
    assert segment.events == 9
    assert sorted(segment.atom_hits[:-1].tolist()) == [1, 7]
    again = segment.lay_out_again()
    assert again.next_layout > segment.next_layout or again.next_layout >= 9 * 16
