"""Virtual time: work and timers in their order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from thatch.runtime.simulated.schedule import Schedule, VirtualTimers


def drained(schedule: Schedule) -> None:
    while schedule.step():
        pass


def test_work_is_done_in_the_order_of_time_and_then_of_putting():
    schedule, done = Schedule(), []
    for at, name in ((2.0, "c"), (1.0, "a"), (1.0, "b")):
        schedule.put(at, done.append, name)
    drained(schedule)
    assert done == ["a", "b", "c"]
    assert schedule.now == 2.0


def test_nothing_happens_beyond_the_time_that_is_asked_for():
    schedule, done = Schedule(), []
    schedule.put(2.0, done.append, "late")
    assert not schedule.step(1.0)
    assert done == []
    assert schedule.step(2.0)


def test_a_timer_that_is_set_anew_fires_once_at_the_new_time():
    schedule, fired = Schedule(), []
    timers = VirtualTimers(lambda name: fired.append((name, schedule.now)))
    schedule.set_timer(timers, "resend", 1.0)
    schedule.set_timer(timers, "resend", 5.0)
    drained(schedule)
    schedule.set_timer(timers, "resend", 9.0)
    schedule.set_timer(timers, "resend", 7.0)
    drained(schedule)
    assert fired == [("resend", 5.0), ("resend", 7.0)]


def test_a_timer_that_was_cancelled_does_not_fire():
    schedule, fired = Schedule(), []
    timers = VirtualTimers(fired.append)
    schedule.set_timer(timers, "resend", 1.0)
    timers.due.pop("resend")
    assert schedule.next_timer() == float("inf")
    drained(schedule)
    assert fired == []


def test_a_timer_in_the_past_fires_now():
    schedule, fired = Schedule(), []
    timers = VirtualTimers(lambda name: fired.append(schedule.now))
    schedule.put(3.0, lambda: None)
    drained(schedule)
    schedule.set_timer(timers, "lease", 1.0)
    drained(schedule)
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
    schedule, fired, expected = Schedule(), [], []
    timers = VirtualTimers(lambda name: fired.append((schedule.now, name)))
    due: dict[str, float] = {}
    clock = 0.0

    def pass_time(until: float) -> None:
        for at, name in sorted((max(at, clock), name) for name, at in due.items() if at <= until):
            expected.append((at, name))
            del due[name]

    for kind, name, number in moves:
        if kind == "set":
            due[name] = clock + number - 1  # sometimes in the past
            schedule.set_timer(timers, name, due[name])
        elif kind == "cancel":
            due.pop(name, None)
            timers.due.pop(name, None)
        elif kind == "clear":
            due.clear()
            timers.clear()
        else:
            pass_time(clock + number)
            while schedule.step(clock + number):
                pass
            clock = schedule.now = clock + number
    assert sorted(fired) == sorted(expected)
    assert [at for at, _ in fired] == [at for at, _ in expected]
