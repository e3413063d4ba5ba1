"""A window gives the alerts that the whole history, put in order, gives."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch
from tests.windows.histories import Arrivals, arrivals, rules
from thatch import Window
from thatch.errors import EventError, FilterSyntaxError, IndexFileError, OutputError, ParameterError
from thatch.model.lines import value_at
from thatch.windows.occurrences import occurrences_of
from thatch.windows.problem import Rule, seconds_of
from thatch.windows.reference import find_alerts

LATENESS = 5


def told(window: Window, some: Arrivals) -> list:
    return [alert for event, ids in some for alert in window.add(event, ids)]


def expected(rule: Rule, some: Arrivals) -> list[tuple]:
    history = [each for event, ids in some for each in occurrences_of(rule, event, ids, None).some]
    return [
        (
            group[0] or None,
            tuple(map(value_at, group[1])),
            seconds_of(found.first),
            seconds_of(time),
            found.number,
            tuple(map(value_at, found.values)),
        )
        for time, group, found in find_alerts(rule, history)
    ]


def as_rows(alerts: list) -> list[tuple]:
    return [
        (each.subscription, tuple(each.key.values()), each.first, each.last, each.count, each.values)
        for each in alerts
    ]


# --- the definition --------------------------------------------------------------------------------------------------


@given(rule=rules, some=arrivals(LATENESS))
def test_alerts_are_those_of_the_sorted_history_in_whatever_order_events_arrive(rule, some):
    window = Window(rule, lateness=LATENESS)
    alerts = told(window, some) + window.finish()
    assert as_rows(alerts) == expected(rule, some)
    assert window.stats()["late"] == 0
    assert window.stats()["waiting"] == 0
    assert window.stats()["alerts"] == len(alerts)


@given(rule=rules, some=arrivals(LATENESS), data=st.data())
def test_what_is_certain_is_told_at_once_and_nothing_else(rule, some, data):
    window, so_far = Window(rule, lateness=LATENESS), []
    for number, (event, ids) in enumerate(some, start=1):
        so_far += window.add(event, ids)
        sure = max(each["time"] for each, _ in some[:number]) - LATENESS
        assert as_rows(so_far) == [row for row in expected(rule, some) if row[3] <= sure]


@given(rule=rules, some=arrivals(LATENESS), cut=st.integers(0, 30))
def test_a_window_goes_on_where_it_was_pickled_or_saved(rule, some, cut, tmp_path_factory):
    whole, window = Window(rule, lateness=LATENESS), Window(rule, lateness=LATENESS)
    alerts = as_rows(told(whole, some) + whole.finish())
    first = told(window, some[:cut])
    path = tmp_path_factory.mktemp("windows") / "w.thatch"
    window.save(path)
    for again in (pickle.loads(pickle.dumps(window)), Window.open(path)):
        assert (repr(again), again.stats(), again.watermark) == (
            repr(window),
            window.stats(),
            window.watermark,
        )
        assert as_rows(first + told(again, some[cut:]) + again.finish()) == alerts
        assert again.stats() == whole.stats()


# --- examples --------------------------------------------------------------------------------------------------------


def at(second: float, **fields: object) -> dict[str, object]:
    return {"time": second, "user": "ann", **fields}


def lasts(window: Window, *seconds: float) -> list[float]:
    return [alert.last for second in seconds for alert in window.add(at(second))]


def test_five_in_a_minute_both_ends_included():
    window = Window.count(at_least=5, within=60, by="user")
    assert lasts(window, 0, 10, 20, 30, 60) == [60.0]
    assert lasts(Window.count(at_least=5, within=60, by="user"), 0, 10, 20, 30, 60.000001) == []


def test_an_alert_uses_up_what_it_rests_on():
    assert lasts(Window.count(2, 10), 0, 1, 2, 3, 4) == [1.0, 3.0]


def test_keys_are_kept_apart_and_numbers_are_equal_by_value():
    window = Window.count(2, 10, by=("user", "port"))
    assert window.add(at(0, port=5)) == window.add(at(1, port=True)) == window.add(at(2, port="5")) == []
    (alert,) = window.add(at(3, port=5.0))
    assert alert.key == {"user": "ann", "port": 5}
    assert type(alert.key["port"]) is int


def test_each_subscription_counts_by_itself_or_several_together():
    alone, together = Window.count(2, 10), Window.count(2, 10, of=["a", "b"])
    for window, answers in ((alone, [None, None, "a"]), (together, [None, [], None])):
        found = [
            window.add(at(second), ids) for second, ids in ((0, ["a"]), (1, ["b", "c"]), (2, ["a", "d"]))
        ]
        assert [[alert.subscription for alert in some] for some in found] == (
            [[], [], ["a"]] if window is alone else [[], [None], []]
        ), answers


def test_a_list_stands_for_its_elements_chosen_together():
    window = Window.count(2, 10, by=("hop.user", "hop.host"))
    event = {"time": 0, "hop": [{"user": "a", "host": "x"}, {"user": "b", "host": "y"}]}
    window.add(event)
    assert [tuple(each.key.values()) for each in window.add(event)] == [("a", "x"), ("b", "y")]


def test_what_lacks_a_key_does_not_count_and_null_is_a_value():
    window = Window.count(2, 10, by="user")
    for value in ({}, {"user": float("nan")}, {"user": []}, {"user": None}):
        assert window.add({"time": 0, **value}) == []
    assert window.stats()["without_key"] == 3
    assert [each.key for each in window.add({"time": 0, "user": None})] == [{"user": None}]


def test_distinct_counts_values_once():
    window = Window.distinct("ip", 3, within=60, by="user")
    assert [each for ip in ("a", "b", "a", "b") for each in window.add(at(0, ip=ip))] == []
    (alert,) = window.add(at(1, ip=["b", "c"]))
    assert (alert.values, alert.count, alert.first) == (("a", "b", "c"), 3, 0.0)


def test_a_sequence_asks_for_its_steps_in_order():
    window = Window.sequence(["failed", "ok"], within=60, by="user")
    assert window.add(at(0), ["ok"]) == window.add(at(1), ["failed"]) == window.add(at(62), ["ok"]) == []
    window.add(at(70), ["failed"])
    window.add(at(80), ["failed"])
    (alert,) = window.add(at(90), ["ok"])
    assert (alert.first, alert.last, alert.count) == (80.0, 90.0, 2)


def test_one_event_is_one_step():
    window = Window.sequence(["a", "a"], within=60)
    assert window.add(at(0), ["a"]) == []
    assert len(window.add(at(0), ["a"])) == 1


def test_steps_may_be_filters():
    window = Window.sequence(
        [thatch.attr("action") == "fail", {"action": ["ok"]}, thatch.parse("action = 'delete'")], 60, "user"
    )
    found = [window.add(at(0, action=action)) for action in ("fail", "ok", "delete")]
    assert [len(each) for each in found] == [0, 0, 1]


def test_late_events_are_counted_and_change_nothing():
    window = Window.count(2, 100, lateness=10)
    window.add(at(50))
    window.add(at(100))
    assert window.add(at(89.9)) == []
    assert (window.stats()["late"], window.watermark) == (1, 90.0)
    assert [each.first for each in window.add(at(90)) + window.finish()] == [50.0]


def test_time_may_be_said_to_have_passed():
    window = Window.count(2, 10, lateness="1h")
    window.add(at(0))
    window.add(at(1))
    assert window.advance(0.5) == []
    assert len(window.advance(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))) == 1


def test_events_that_do_not_count_move_time_on_if_they_have_one():
    window = Window.count(1, 10, of=["a"], lateness=5)
    window.add(at(0), ["a"])
    assert window.add({"no": "time"}, ["b"]) == []
    assert len(window.add(at(5), ["b"])) == 1


def test_the_time_of_an_event_is_its_attribute_or_given():
    window = Window.count(2, 10, time="at.utc")
    window.add({"at": {"utc": "1970-01-01T00:00:01.5Z"}})
    (alert,) = window.add({}, time=datetime(1970, 1, 1, 0, 0, 3, tzinfo=UTC))
    assert (alert.first, alert.last) == (1.5, 3.0)


# --- bounds ----------------------------------------------------------------------------------------------------------


def test_the_key_without_an_occurrence_for_longest_is_forgotten():
    window = Window.count(2, 100, by="user", max_keys=2)
    for second, user in enumerate(["a", "b", "c"]):
        window.add({"time": second, "user": user})
    assert (window.stats()["keys"], window.stats()["evicted_keys"]) == (2, 1)
    assert window.add({"time": 4, "user": "a"}) == []
    assert len(window.add({"time": 5, "user": "c"})) == 1


def test_keys_are_forgotten_when_their_time_is_over():
    window = Window.count(2, 10, by="user")
    for second in range(1_000):
        window.add({"time": second, "user": second})
    assert (window.stats()["keys"], window.stats()["evicted_keys"]) == (11, 0)


def test_what_waits_is_bounded():
    window = Window.count(3, 1_000, lateness=1_000, max_waiting=4)
    for second in (4, 3, 2, 1):
        assert window.add(at(second)) == []
    assert window.add(at(5)) == []
    assert (window.stats()["waiting"], window.stats()["hurried"], window.watermark) == (4, 1, 1.0)
    window.add(at(0.5))
    assert window.stats()["late"] == 1
    assert [each.last for each in window.finish()] == [3.0]


def test_a_key_remembers_no_more_than_its_rule_needs():
    window = Window.count(3, 10**6)
    for _ in range(10_000):
        window.add(at(0))
    (progress,) = window._keys.values()
    assert len(progress.state()) < 3


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "event",
    [{}, {"time": None}, {"time": "soon"}, {"time": 1e15}, {"time": float("nan")}, {"time": [1]}, {"time": True}, 5],
    ids=repr,
)  # fmt: skip
def test_an_event_without_a_time_is_refused_and_changes_nothing(event):
    window = Window.count(2, 10)
    window.add(at(0))
    before = window.stats()
    with pytest.raises(EventError):
        window.add(event)
    assert window.stats() == before
    assert len(window.add(at(0))) == 1


def test_lists_that_multiply_are_refused():
    window = Window.count(2, 10, by=("a", "b"))
    with pytest.raises(EventError, match="at most 1,000 keys of one event, got lists of 1,600"):
        window.add({"time": 0, "a": list(range(40)), "b": list(range(40))})


@pytest.mark.parametrize("matches", ["a", 5, [5], [""], None], ids=repr)
def test_matches_that_are_no_ids_are_refused(matches):
    with pytest.raises(ParameterError, match="matches"):
        Window.count(2, 10, of=["a"]).add(at(0), matches)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Window.count(0, 10),
        lambda: Window.count(True, 10),
        lambda: Window.count(10**6, 10),
        lambda: Window.count(2, 0),
        lambda: Window.count(2, "5 weeks"),
        lambda: Window.count(2, float("inf")),
        lambda: Window.count(2, 10, by=5),
        lambda: Window.count(2, 10, by=("a", "a")),
        lambda: Window.count(2, 10, by=""),
        lambda: Window.count(2, 10, of="a"),
        lambda: Window.count(2, 10, of=[""]),
        lambda: Window.count(2, 10, lateness=-1),
        lambda: Window.count(2, 10, max_keys=0),
        lambda: Window.sequence(["a"], 10),
        lambda: Window("count 5 in 60s"),
        lambda: Window.count(2, 10).advance(True),
        lambda: Window.count(2, 10).advance(datetime(2026, 1, 1)),
        lambda: Window.parse(5),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(make):
    with pytest.raises((ParameterError, EventError), match="Expected"):
        make()


# --- as text ---------------------------------------------------------------------------------------------------------


@given(rule=rules)
def test_a_rule_is_read_from_its_text(rule):
    window = Window(rule)
    text = repr(window).removeprefix("<thatch.Window ").removesuffix(">")
    assert Window.parse(text).rule == rule


def test_texts_of_windows():
    parse = Window.parse
    assert (
        parse('COUNT 5 IN 60s BY user, "host-name"').rule == Window.count(5, 60, ["user", "host-name"]).rule
    )
    assert parse("count 5 in 90", time="at").rule == Window.count(5, timedelta(minutes=1.5), time="at").rule
    assert parse("distinct ip 3 of a, 'b c' in 1.5h by lower(user)").rule == (
        Window.distinct("ip", 3, 5_400, thatch.attr("user").lower(), of=["a", "b c"]).rule
    )
    assert parse("sequence a, 'it''s' in 250ms").rule == Window.sequence(["a", "it's"], 0.25).rule
    assert repr(parse("sequence a, 'in' in 250ms")) == "<thatch.Window sequence a, 'in' in 250000us>"


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("", 1),
        ("sum 5 in 60s", 1),
        ("count many in 60s", 7),
        ("count 5 60s", 9),
        ("count 5 in soon", 12),
        ("count 5 in 5 weeks", 12),
        ("count 5 in 60s by", 18),
        ("count 5 in 60s by user host", 24),
        ("distinct 5 in 60s", 10),
        ("sequence a, in 60s", 13),
        ("sequence a, '' in 60s", 13),
    ],
)  # fmt: skip
def test_a_text_that_is_no_window_is_refused_with_its_place(text, column):
    with pytest.raises(FilterSyntaxError) as caught:
        Window.parse(text)
    assert caught.value.column == column


def test_the_watermark_never_falls_back():
    window = Window.count(2, 10, lateness=5)
    marks = []
    for second in (10, 6, 12, 8):
        window.add(at(second))
        marks.append(window.watermark)
    assert marks == [5.0, 5.0, 7.0, 7.0]
    window.add(at(6.5))
    assert window.stats()["late"] == 1


def test_a_key_is_as_old_as_its_last_occurrence():
    window = Window.count(3, 100, by="user", max_keys=2)
    for second, user in enumerate("abac"):
        window.add({"time": second, "user": user})
    assert window.stats()["evicted_keys"] == 1  # b
    (alert,) = window.add({"time": 9, "user": "a"})
    assert alert.key == {"user": "a"}


# --- files -----------------------------------------------------------------------------------------------------------


def test_a_file_that_is_no_window_is_refused(tmp_path):
    engine, nothing = tmp_path / "engine.thatch", tmp_path / "nothing"
    thatch.Engine().save(engine)
    nothing.write_text("{}")
    for path in (engine, nothing, tmp_path / "missing", tmp_path):
        with pytest.raises(IndexFileError, match="a saved window"):
            Window.open(path)
    with pytest.raises(OutputError):
        Window.count(2, 10).save(engine)


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "w.thatch"
    window = Window.count(2, 10, of=[thatch.parse("x = 1")])
    window.add({"time": 0, "x": 1})
    window.save(path)
    content = bytearray(path.read_bytes())
    assert Window.open(path).stats() == window.stats()
    refused = 0
    for place in range(0, len(content), 37):
        content[place] ^= 1
        path.write_bytes(content)
        content[place] ^= 1
        try:
            assert Window.open(path).stats() == window.stats()  # it was one of the zeros that fill up
        except IndexFileError:
            refused += 1
    assert refused > 5
