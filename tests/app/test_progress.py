"""How far a command is: forward only, with rate and time left, and never on standard output."""

from __future__ import annotations

import json
from contextlib import redirect_stderr
from io import StringIO
from itertools import count

import pytest

from tests.app.here import run_here
from thatch.app.cli.progress import Meter, progress, tasks


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seen() -> list[tuple[str, float | None, str]]:
    return []


def meter(seen, clock, total=None, every=1.0) -> Meter:
    return Meter("loading", total, lambda *each: seen.append(each), every=every, clock=clock)


def test_rate_and_time_left_are_shown(seen):
    clock = Clock()
    shown = meter(seen, clock, total=1_000)
    clock.now = 10.0
    shown.step(250)
    assert seen == [("loading", 0.25, "250 of 1,000, 25 per second, 30 s left")]


def test_slow_work_says_how_long_one_takes(seen):
    clock = Clock()
    shown = meter(seen, clock, total=500)
    clock.now = 60.0
    shown.step(5)
    assert seen[0][2] == "5 of 500, one in 12 seconds, 1:39:00 left"


def test_without_a_total_there_is_no_share(seen):
    clock = Clock()
    shown = meter(seen, clock)
    clock.now = 2.0
    shown.step(3_000)
    assert seen == [("loading", None, "3,000, 1,500 per second")]


def test_the_share_never_falls_when_more_work_becomes_known(seen):
    clock = Clock()
    shown = meter(seen, clock, every=0.0)
    for done, known in ((0, 4), (3, 4), (4, 40), (30, 40), (38, 90), (90, 90)):
        clock.now += 1.0
        shown.report(done, known)
    shares = [share for _, share, _ in seen]
    assert shares == sorted(shares)
    assert shares[-1] < 1  # the job may yet find more to do


def test_calls_between_two_looks_show_nothing(seen):
    clock = Clock()
    shown = meter(seen, clock, total=10_000, every=0.5)
    for number in count():
        if number == 10_000:
            break
        clock.now += 0.001
        shown.step()
    assert 10 < len(seen) < 21


def test_where_there_is_no_terminal_short_work_is_silent():
    err = StringIO()
    with redirect_stderr(err), progress("reading", 10) as shown:
        shown.step(10)
    with redirect_stderr(err), tasks("reading") as report:
        report(1, 2)
    assert not err.getvalue()


def test_what_is_printed_of_progress_never_gets_among_results(tmp_path, monkeypatch):
    (tmp_path / "subs.csv").write_text("subscription,filter\na,x = 1\nb,x < 9\n")
    (tmp_path / "log.jsonl").write_text("\n".join(json.dumps({"x": number}) for number in range(50)))
    monkeypatch.setenv("FORCE_COLOR", "1")
    ended = run_here(tmp_path, "match", "subs.csv", "log.jsonl")
    assert ended.returncode == 0, ended.stderr
    assert [json.loads(line)["event"] for line in ended.stdout.splitlines()] == list(range(9))


def test_work_that_grows_is_not_shown_as_almost_done_when_its_first_part_is(seen):
    clock = Clock()
    shown = Meter("matching", None, lambda *each: seen.append(each), every=0.0, grows=True, clock=clock)
    for done, known in ((1, 1), (4, 16), (12, 16), (16, 16), (40, 40)):
        clock.now += 10.0
        shown.report(done, known)
    assert [share for _, share, _ in seen] == [0.2, 0.2, 0.6, 0.8, 0.8]
    assert seen[2][2] == "12 of 16, one in 2 seconds, 20 s left"


def test_a_total_that_was_estimated_too_low_is_not_shown_when_more_is_done(seen):
    clock = Clock()
    shown = meter(seen, clock, every=0.0)
    for done in (900, 1_100):
        clock.now += 1.0
        shown.report(done, 1_000)
    assert [figures.partition(",")[0] for _, _, figures in seen] == ["900 of 1", "1"]
    assert "1,100, 550 per second" in seen[1][2]
