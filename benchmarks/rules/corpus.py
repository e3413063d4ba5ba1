"""The rules and events of a folder that is not part of the project, and how time is taken."""

from __future__ import annotations

import gzip
import json
import tarfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import thatch
from benchmarks.console import note
from thatch.formats.reading import Reading
from thatch.formats.rules import read_rules
from thatch.formats.subscriptions import SubscriptionFile

__all__ = ["Bench", "microseconds"]

RULES, EVENTS = "sigma-rules.tar.xz", "windows-events.json.gz"
_SEEN = 2_000  # events after which an engine is laid out by what it counted
_PROCESS_CREATION = {1, 4688, "1", "4688"}  # of Sysmon and of the security log


@dataclass(frozen=True)
class Bench:
    """What is measured, and how often.

    Parameters
    ----------
    folder : for what is unpacked
    times : as many rules, in the section that multiplies them
    """

    data: Path | None
    folder: Path
    rounds: int = 9
    times: int = 100
    seed: int = 1
    is_quick: bool = False

    @cached_property
    def lines(self) -> list[bytes]:
        """The events as JSON."""
        assert self.data is not None
        with gzip.open(self.data / EVENTS) as file:
            return file.read().splitlines()

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines]

    @cached_property
    def process_creations(self) -> list[dict[str, Any]]:
        """Events with long command lines."""
        return [event for event in self.events if event.get("EventID") in _PROCESS_CREATION]

    @cached_property
    def rules_folder(self) -> Path:
        """The rules, unpacked."""
        assert self.data is not None
        with tarfile.open(self.data / RULES) as archive:
            archive.extractall(self.folder, filter="data")
        return self.folder

    @cached_property
    def file(self) -> SubscriptionFile:
        """The rules as they are read from YAML."""
        note("reading rules")
        return read_rules(str(self.rules_folder), Reading(language="sigma"))

    @cached_property
    def filters(self) -> dict[str, thatch.Filter]:
        """The filter of each rule by its id."""
        assert self.file.filters is not None
        return dict(zip(self.file.table.column("subscription").to_pylist(), self.file.filters, strict=True))

    @cached_property
    def engine(self) -> thatch.Engine:
        """An engine with all rules, which has seen some events."""
        engine = thatch.Engine(background=False)
        for identity, filter in self.filters.items():
            engine.subscribe(identity, filter)
        self.settle(engine)
        return engine

    def settle(self, engine: thatch.Engine) -> None:
        """Merge all rules, show the engine some events, and let it lay the rules out by what it counted."""
        engine.compact()
        for event in self.events[:_SEEN]:
            engine.match(event)
        engine.compact()


def microseconds(call: Callable[[Any], object], items: Sequence[Any], rounds: int) -> float:
    """Processor time of a call for each item: the best round."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        for item in items:
            call(item)
        best = min(best, time.process_time() - start)
    return best / len(items) * 1e6
