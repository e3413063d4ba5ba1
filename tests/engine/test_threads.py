"""Engines in several threads: every answer is that of some moment, and nobody waits for a merge but who has to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from threading import Event, Thread
from typing import Any

import pyarrow as pa
import pytest

import thatch
from thatch.engine.ids import Ids
from thatch.engine.texts import table as texts
from thatch.matching import growing
from thatch.matching.growing import GrowingIndex
from thatch.matching.segments import index as segments
from thatch.matching.segments import merging
from thatch.matching.segments.index import SegmentIndex

PATIENCE = 60  # seconds from which on a thread hangs; a test that is well never waits for so long
GLANCE = 0.2  # seconds in which a thread that is not held up gets far enough


@pytest.fixture(autouse=True)
def tiny_sizes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Few subscriptions make many merges, and threads take turns as often as they can."""
    for module, name, size in [
        (growing, "FEW", 4), (segments, "CAPACITY", 8), (segments, "_FIRST", 4),
        (merging, "FAN_OUT", 2), (merging, "_TIER", 8), (texts, "RECENT", 3),
    ]:  # fmt: skip
        monkeypatch.setattr(module, name, size)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


class Work(Thread):
    """Something done in a thread of its own; a hang fails the test that waits for it and does not outlive it."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._error: BaseException | None = None
        self._answer: Any = None
        self.start()

    def run(self) -> None:
        try:
            self._answer = self._work()
        except BaseException as error:  # noqa: BLE001 - it is raised in the thread that waits
            self._error = error

    def answer(self) -> Any:
        self.join(PATIENCE)
        assert not self.is_alive(), "the thread hangs"
        if self._error is not None:
            raise self._error
        return self._answer


def table_of(rows: dict[str, str], **columns: Any) -> pa.Table:
    return pa.table({"subscription": list(rows), "filter": list(rows.values()), **columns})


def settle(engine: thatch.Engine) -> None:
    def wait() -> None:
        with engine._state.writing:
            engine._state.merger.wait()

    Work(wait).answer()


# --- every answer is that of one moment ------------------------------------------------------------------------------

FIRST = 10  # number of the first subscription that comes and goes
WINDOW = 5  # so many of those there are, or one more


class Stage:
    """A writer whose every state has a form that readers can check.

    `00` is always there. `01` is replaced by filters that all want x = 5. `02` and `03` change together, between two
    filters, subscribers and moments of expiry. From `10` on there is a window of ids that only moves up. All filters
    have the same form, which says how they are kept.
    """

    def __init__(self, form: str) -> None:
        self._form = form
        self.engine = thatch.Engine()
        self.subscribe("00", "x >= 0")
        self.subscribe("01", "x > 0")
        self.pair(0)
        for number in range(FIRST, FIRST + WINDOW):
            self.subscribe(f"{number}", "x = 5")

    def subscribe(self, name: str, text: str) -> None:
        self.engine.subscribe(name, self._form.format(text))

    def pair(self, turn: int) -> None:
        text = self._form.format(f"x = {5 + turn % 2}")
        columns = {"subscriber": [f"pair {turn}"] * 2, "expires": [float(turn % 3)] * 2}
        self.engine.subscribe_many(table_of({"02": text, "03": text}, **columns))

    def write(self) -> None:
        for turn in range(1, 85):
            number = FIRST + WINDOW + turn - 1
            self.subscribe(f"{number}", "x = 5")
            self.subscribe("01", ("x < 10 or y like '%no%'", "x > 0", "x != 7")[turn % 3])
            self.pair(turn)
            self.engine.unsubscribe(f"{number - WINDOW}")
            if turn % 20 == 0:
                self.engine.compact()


class Reader:
    """One thread's reading: what it saw last bounds what it may see next."""

    def __init__(self) -> None:
        self.low = self.high = FIRST

    def check(self, names: list[str], *, has_expired: bool = False) -> None:
        assert names == sorted(set(names)), "in order, each once"
        assert names[:2] == ["00", "01"]
        pair = [name for name in names if name in ("02", "03")]
        assert pair in ([], ["02", "03"])
        assert not (has_expired and pair)
        window = [int(name) for name in names[2 + len(pair) :]]
        assert window == list(range(window[0], window[0] + len(window)))
        assert len(window) in (WINDOW, WINDOW + 1)
        assert self.low <= window[0]
        assert self.high <= window[-1]
        self.low, self.high = window[0], window[-1]

    def check_subscribers(self, names: list[str]) -> None:
        pairs = [name for name in names if name.startswith("pair")]
        assert len(pairs) <= 1
        self.check([name for name in names if name not in pairs])


EVENT = {"x": 5}
BATCH = pa.table({"x": [5, 6, 5]})


def read_flat(engine: thatch.Engine, reader: Reader) -> None:
    reader.check(engine.match(EVENT))
    reader.check(engine.match({"x": 5, "y": "none", "z": None}))


def read_lists(engine: thatch.Engine, reader: Reader) -> None:
    reader.check(engine.match({"x": [5, 5.0], "o": [{"p": 1}, {"q": [2]}]}))
    assert engine.count(EVENT) in {WINDOW + 2, WINDOW + 3, WINDOW + 4, WINDOW + 5}
    assert engine.any(EVENT)


def read_subscribers(engine: thatch.Engine, reader: Reader) -> None:
    reader.check_subscribers(engine.match(EVENT, by="subscriber"))
    reader.check(engine.match(EVENT, now=2), has_expired=True)
    reader.check(engine.match(EVENT, now=0.5))


def read_batches(engine: thatch.Engine, reader: Reader) -> None:
    for now in (None, 2):
        rows = engine.match_batch(BATCH, ordered=True, now=now).to_pylist()
        first, second, third = (
            [row["subscription"] for row in rows if row["event"] == event] for event in range(3)
        )
        assert first == third, "one batch sees one moment"
        assert ("02" in first) + ("02" in second) <= 1
        reader.check(first, has_expired=now == 2)


BOXES, RULES = "{}", "({}) or lower(y) like '%zzz%' or lower(x) = 'zz'"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("read", "form"),
    [
        *((read, BOXES) for read in (read_flat, read_lists, read_subscribers, read_batches)),
        *((read, RULES) for read in (read_flat, read_lists)),
    ],
    ids={BOXES: "boxes", RULES: "rules"}.get,
)
def test_every_answer_is_that_of_one_moment_while_a_writer_and_merges_are_at_work(
    read: Callable[[thatch.Engine, Reader], None], form: str
) -> None:
    stage, done = Stage(form), Event()

    def keep_reading() -> None:
        reader = Reader()
        while not done.is_set():
            read(stage.engine, reader)
        read(stage.engine, reader)

    readers = [Work(keep_reading) for _ in range(2)]
    try:
        Work(stage.write).answer()
    finally:
        done.set()
    for each in readers:
        each.answer()
    settle(stage.engine)
    assert stage.engine.match({"x": 6}) == ["00", "01"]


def test_many_engines_in_many_threads_do_not_meet() -> None:
    def live(own: int) -> None:
        engine = thatch.Engine()
        for number in range(40):
            engine.subscribe(f"{own}-{number}", f"x = {own} or a{own} = {number % 7} and b like '%{own}'")
            engine.match({"x": own, f"a{own}": 1, "b": f"b{own}"})
            if number % 3 == 0:
                engine.unsubscribe(f"{own}-{number}")
        assert engine.match({"x": own}) == [f"{own}-{number}" for number in range(40) if number % 3]
        assert engine.match({"x": -1, f"a{own}": 1, "b": f"b{own}"}) == [
            f"{own}-{number}" for number in range(1, 40, 7) if number % 3
        ]
        settle(engine)

    for each in [Work(lambda own=own: live(own)) for own in range(8)]:  # type: ignore[misc]  # `own` is bound here
        each.answer()


# --- moments inside a change: a reader comes just there ----------------------------------------------------------------


def read_everything(engine: thatch.Engine) -> None:
    batch = engine.match_batch(pa.table({"x": [5]}), now=0).column("subscription").to_pylist()
    for names in (
        engine.match(EVENT),
        engine.match(EVENT, by="subscriber"),
        engine.match(EVENT, now=0),
        batch,
    ):
        assert "00" in names
    assert engine.count(EVENT) >= 1
    assert engine.any(EVENT)


class Visits:
    """Readers that start at chosen moments; who is held up by a lock finishes later."""

    def __init__(self, engine: thatch.Engine) -> None:
        self.engine = engine
        self.works: list[Work] = []

    def begin(self) -> None:
        self.works.append(Work(lambda: read_everything(self.engine)))
        self.works[-1].join(GLANCE)

    def check(self) -> None:
        assert self.works
        for work in self.works:
            work.answer()


@pytest.mark.parametrize("moment", ["before the segments are there", "before they are announced"])
def test_a_reader_finds_all_subscriptions_while_a_bulk_addition_moves_them_to_segments(
    moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = thatch.Engine()
    engine.subscribe("00", "x = 5")
    visits, commit = Visits(engine), SegmentIndex._commit

    def set_attribute(index: GrowingIndex, name: str, value: Any) -> None:
        if name == "current" and isinstance(value, SegmentIndex):
            visits.begin()
        object.__setattr__(index, name, value)

    def commit_and_visit(index: SegmentIndex) -> None:
        commit(index)
        visits.begin()

    if moment == "before they are announced":
        monkeypatch.setattr(SegmentIndex, "_commit", commit_and_visit)
    else:
        monkeypatch.setattr(GrowingIndex, "__setattr__", set_attribute, raising=False)
    engine.subscribe_many(table_of({f"1{number}": "x = 5" for number in range(6)}))
    visits.check()


def test_a_reader_may_ask_for_expiry_while_the_ids_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = thatch.Engine()
    engine.subscribe("00", "x = 5", expires=1e12)
    engine.tally(on=False)  # segments from now on
    visits = Visits(engine)
    reach = Ids._reach

    def visit_and_reach(ids: Ids, slots: int) -> None:
        if slots > len(ids._is_alive):
            visits.begin()
        reach(ids, slots)

    monkeypatch.setattr(Ids, "_reach", visit_and_reach)
    for number in range(10, 80):
        engine.subscribe(f"{number}", "x = 5")
    visits.check()
    settle(engine)
