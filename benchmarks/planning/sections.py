"""What is measured, as rows of a table: evaluations an event, and how far predictions are from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.console import note
from benchmarks.interests import draw_interests
from benchmarks.matching.rows import Row, at_least, at_most
from benchmarks.planning.comparison import Compared, compared
from benchmarks.planning.skewed import skewed
from benchmarks.real_events import ATTRIBUTES, real_events
from benchmarks.reduction.streams import best_time
from thatch.matching.problem import AccessHints
from thatch.matching.segments import SegmentIndex
from thatch.model.events import read_event
from thatch.model.filters import Filter
from thatch.model.profile import Profile
from thatch.planning import PlanningProblem, access_hints, plan
from thatch.workloads import generate

__all__ = ["SECTIONS", "Bench"]

_FEWER = 2.0  # times, where the model predicts as much


@dataclass(frozen=True)
class Bench:
    """Sizes, and where real events lie."""

    rounds: int = 3
    seed: int = 1
    is_quick: bool = False
    data: Path | None = None

    def size(self, count: int) -> int:
        return max(100, count // 50) if self.is_quick else count


def _rows(
    what: str, found: Compared, predicted: dict[str, float], error: float, most: float, **more: float
) -> list[Row]:
    """Two rows: evaluations in the planned order beside those as they came, and the error of a prediction.

    Parameters
    ----------
    predicted : ratios of evaluations; the first decides whether anything is to be reached
    """
    count = len(found.planned.problem.members)
    goal = at_least(_FEWER) if next(iter(predicted.values())) >= _FEWER else None
    return [
        Row(
            what=f"evaluations, {what}",
            subscriptions=count,
            ours=found.counts[0],
            unit="",
            peer="arrival order",
            theirs=found.counts[1],
            ratio=found.ratio,
            goal=goal,
            details=predicted,
        ),
        Row(
            what=f"prediction, {what}",
            subscriptions=count,
            ours=error,
            unit="%",
            goal=at_most(most),
            details=more,
        ),
    ]


def workload_rows(bench: Bench) -> list[Row]:
    """Workloads with independent attributes, planned from a profile of other events."""
    rows = []
    asked = (("W1", 2_000), ("W1", 20_000), ("W1F", 5_000), ("W2-3D", 5_000), ("W3", 5_000), ("W4A", 5_000))
    for name, count in asked:
        note(f"{count:,} subscriptions of {name}")
        workload = generate(name, bench.size(count), bench.size(4_000), bench.seed)
        events, half = workload.events(), bench.size(4_000) // 2
        found = compared(workload.filters(), events[:half], events[half:])
        predicted = {"predicted ratio": found.predicted}
        rows += _rows(f"{name} from a profile", found, predicted, found.marginal, 10.0)
    return rows


_INTERESTS: dict[str, dict[str, object]] = {
    "1-3 attributes": {},
    "3-4 attributes": {"sizes": (3, 4), "one_sided": 0.0},
}


@dataclass(frozen=True)
class _Interests:
    """Interests in real events (`workloads/interests.py`), and events, some of them known before."""

    title: str
    filters: list[Filter]
    known: list[dict[str, object]]
    others: list[dict[str, object]]


def _real(bench: Bench) -> Iterator[_Interests]:
    for name, attributes in ATTRIBUTES.items() if bench.data is not None else ():
        events = real_events(bench.data / name)
        rng = np.random.default_rng(bench.seed)
        some = [events[int(place)] for place in rng.permutation(len(events))[: bench.size(6_000)]]
        flat = [{key: event[key] for key in attributes if key in event} for event in some]
        half = len(flat) // 2
        for kind, options in _INTERESTS.items():
            filters = draw_interests(rng, events, bench.size(5_000), attributes, **options)  # type: ignore[arg-type]  # options by name
            yield _Interests(f"{name.partition('.')[0]}, {kind}", filters, flat[:half], flat[half:])


def real_rows(bench: Bench) -> list[Row]:
    """Interests in real events: a list of who wants an event, and whether anybody does."""
    rows = []
    for each in _real(bench):
        for answer in ("list", "any"):
            title = f"{each.title}, {answer}"
            note(title)
            found = compared(each.filters, each.known, each.others, is_measured=True, answer=answer)
            predicted = {"predicted ratio": found.jointly_predicted, "by predicates": found.predicted}
            errors = {"by pairs, %": found.pairs, "by predicates, %": found.marginal}
            rows += _rows(title, found, predicted, found.joint, 25.0, **errors)
    return rows


def hint_rows(bench: Bench) -> list[Row]:
    """What the engine's index looks at that knows hints of a profile and subscriptions, beside one that knows nothing."""
    workload = generate("W1", bench.size(20_000), bench.size(4_000), bench.seed)
    events, half = workload.events(), bench.size(4_000) // 2
    filters, came = skewed(np.random.default_rng(bench.seed), bench.size(20_000), 2 * half)
    sets = [
        _Interests("W1", workload.filters(), events[:half], events[half:]),
        _Interests("a set that asks for other values than come", filters, came[:half], came[half:]),
        *_real(bench),
    ]
    rows = []
    for each in sets:
        note(f"hints, {each.title}")
        hints = access_hints(
            dict(zip(map(str, range(len(each.filters))), each.filters, strict=True)), Profile.of(each.known)
        )
        told, untold = (_looked_at(each, some) for some in (hints, None))
        rows.append(
            Row(
                what=f"blocks read with hints, {each.title}",
                subscriptions=len(each.filters),
                ours=told["blocks"],
                unit="",
                peer="without",
                theirs=untold["blocks"],
                ratio=untold["blocks"] / told["blocks"],
                details={"boxes looked at": told["candidates"], "without": untold["candidates"]},
            )
        )
    return rows


def _looked_at(asked: _Interests, hints: AccessHints | None) -> dict[str, float]:
    index = SegmentIndex(hints=hints)
    index.extend(dict(enumerate(asked.filters)))
    for event in asked.others:
        index.match(read_event(event))
    stats = index.stats()
    return {name: stats[name] / len(asked.others) for name in ("blocks", "candidates")}


def link_rows(bench: Bench) -> list[Row]:
    """The dynamic programme beside the factored heuristic, on links of clusters with random predicates."""
    rows = []
    for members, size, shared in ((3, 4, 2), (5, 4, 3), (6, 4, 4)):
        rng = np.random.default_rng(bench.seed)
        problems = [_link_cluster(rng, members, size, shared) for _ in range(5 if bench.is_quick else 20)]
        note(f"links of {members} members")
        seconds, best = best_time(lambda p=problems: [plan(each) for each in p], bench.rounds)
        plain = [plan(each, budget=0) for each in problems]
        ours, theirs = (float(np.mean([each.cost for each in some])) for some in (best, plain))
        rows.append(
            Row(
                what=f"link-cluster, {size} predicates each and {shared} shared, dynamic programme",
                subscriptions=members,
                ours=ours,
                unit="",
                peer="factored heuristic",
                theirs=theirs,
                ratio=theirs / ours,
                details={"states": best[0].states or 0, "ms a plan": 1e3 * seconds / len(problems)},
            )
        )
    return rows


def _link_cluster(rng: np.random.Generator, members: int, size: int, shared: int) -> PlanningProblem:
    own = [range(shared + at * size, shared + (at + 1) * size) for at in range(members)]
    count = shared + members * size
    return PlanningProblem.of(
        [[*range(shared), *each] for each in own],
        rng.random(count).tolist(),
        costs=(0.2 + rng.random(count)).tolist(),
        answer="any",
    )


SECTIONS: dict[str, Callable[[Bench], list[Row]]] = {
    "workloads": workload_rows,
    "real": real_rows,
    "hints": hint_rows,
    "links": link_rows,
}
