"""Virtual time: work and timers in their order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from thatch.runtime.simulated.agenda import Agenda, Timers


def drained(agenda: Agenda) -> None:
    while agenda.step():
        pass


def test_work_is_done_in_the_order_of_time_and_then_of_putting():
    agenda, done = Agenda(), []
    for at, name in ((2.0, "c"), (1.0, "a"), (1.0, "b")):
        agenda.put(at, done.append, name)
    drained(agenda)
    assert done == ["a", "b", "c"]
    assert agenda.now == 2.0


def test_nothing_happens_beyond_the_time_that_is_asked_for():
    agenda, done = Agenda(), []
    agenda.put(2.0, done.append, "late")
    assert not agenda.step(1.0)
    assert done == []
    assert agenda.step(2.0)


def test_a_timer_that_is_set_anew_fires_once_at_the_new_time():
    agenda, fired = Agenda(), []
    timers = Timers(lambda name: fired.append((name, agenda.now)))
    agenda.set_timer(timers, "resend", 1.0)
    agenda.set_timer(timers, "resend", 5.0)
    drained(agenda)
    agenda.set_timer(timers, "resend", 9.0)
    agenda.set_timer(timers, "resend", 7.0)
    drained(agenda)
    assert fired == [("resend", 5.0), ("resend", 7.0)]


def test_a_timer_that_was_cancelled_does_not_fire():
    agenda, fired = Agenda(), []
    timers = Timers(fired.append)
    agenda.set_timer(timers, "resend", 1.0)
    timers.due.pop("resend")
    assert agenda.next_timer() == float("inf")
    drained(agenda)
    assert fired == []


def test_a_timer_in_the_past_fires_now():
    agenda, fired = Agenda(), []
    timers = Timers(lambda name: fired.append(agenda.now))
    agenda.put(3.0, lambda: None)
    drained(agenda)
    agenda.set_timer(timers, "lease", 1.0)
    drained(agenda)
    assert fired == [3.0]


MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("set"), st.sampled_from("ab"), st.integers(0, 10)),
        st.tuples(st.just("cancel"), st.sampled_from("ab"), st.just(0)),
        st.tuples(st.just("clear"), st.just(""), st.just(0)),
        st.tuples(st.just("run"), st.just(""), st.integers(0, 4)),
    ),
    max_size=30,
)


@given(moves=MOVES)
def test_timers_fire_as_if_each_had_one_time_only(moves):
    agenda, fired, expected = Agenda(), [], []
    timers = Timers(lambda name: fired.append((agenda.now, name)))
    due: dict[str, float] = {}
    clock = 0.0

    def pass_time(until: float) -> None:
        for at, name in sorted((max(at, clock), name) for name, at in due.items() if at <= until):
            expected.append((at, name))
            del due[name]

    for kind, name, number in moves:
        if kind == "set":
            due[name] = clock + number - 1  # sometimes in the past
            agenda.set_timer(timers, name, due[name])
        elif kind == "cancel":
            due.pop(name, None)
            timers.due.pop(name, None)
        elif kind == "clear":
            due.clear()
            timers.clear()
        else:
            pass_time(clock + number)
            while agenda.step(clock + number):
                pass
            clock = agenda.now = clock + number
    assert sorted(fired) == sorted(expected)
    assert [at for at, _ in fired] == [at for at, _ in expected]
