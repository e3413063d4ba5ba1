"""Reads what commands are given: subscriptions, events, schemas, topologies and policies."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from thatch import Engine, EventError, Filter, Schema, ThatchError
from thatch.app.cli.options import POLICIES
from thatch.app.cli.output import note, note_rows, progress
from thatch.engine.subscriptions import CheckedSubscription, read_subscription
from thatch.engine.tables import text_column
from thatch.errors import FilterError, ParameterError, SubscriptionError, TableError, shown
from thatch.formats.events import read_events
from thatch.formats.live import Live
from thatch.formats.reading import Reading
from thatch.formats.rules import read_rules
from thatch.formats.subscriptions import SubscriptionFile, is_loaded, read_loaded

if TYPE_CHECKING:
    from thatch.model.topology import Topology
    from thatch.reduction.forwarding.policies import Policy

__all__ = [
    "check_rows",
    "fill_engine",
    "load_engine",
    "load_filters",
    "load_policy",
    "load_topology",
    "read_valid_events",
]

_AT_ONCE = 10_000  # subscriptions between two steps of the progress bar

Valid = TypeVar("Valid")


def load_engine(path: str, reading: Reading) -> Engine:
    """An engine with the valid subscriptions of a file; the others are reported on standard error."""
    return fill_engine(path, reading)[0]


def fill_engine(path: str, reading: Reading) -> tuple[Engine, list[tuple[int, str]], float]:
    """An engine with the valid subscriptions of a file, the other rows with reasons, and the seconds to subscribe.

    The other rows are reported on standard error. Raises a `TableError` if there are too many of them.
    """
    with progress(f"reading {path}"):
        loaded = read_rules(path, reading)
    engine, spent = Engine(reading.schema), 0.0
    rejects = list(loaded.rejects)
    seen: set[str | None] = set()
    with progress("subscriptions", loaded.table.num_rows) as meter:
        for start in range(0, loaded.table.num_rows, _AT_ONCE):
            part, kept = loaded.table.slice(start, _AT_ONCE), []
            for position, identity in enumerate(part.column("subscription").to_pylist()):
                if identity is not None and identity in seen:
                    rejects.append((loaded.rows[start + position], f"Duplicate id {identity!r}"))
                else:
                    kept.append(position)
                    seen.add(identity)
            started = time.perf_counter()
            filters = None if loaded.filters is None else [loaded.filters[start + each] for each in kept]
            refused = engine.subscribe_many(part.take(pa.array(kept, pa.int64())), filters=filters)
            spent += time.perf_counter() - started
            rejects += [
                (loaded.rows[start + kept[each["row"]]], each["reason"]) for each in refused.to_pylist()
            ]
            meter.step(part.num_rows)
    _report_rejects(path, loaded, rejects, len(engine), reading)
    return engine, rejects, spent


def _report_rejects(
    path: str, loaded: SubscriptionFile, rejects: list[tuple[int, str]], good: int, reading: Reading
) -> None:
    """Report the rows that are no subscriptions, and raise a `TableError` if there are too many."""
    rejects.sort()
    what = f"subscriptions of {path} were refused (`thatch check {path}` lists all)"
    note_rows(what, rejects, place=loaded.place)
    reading.rejects.check(len(rejects), good + len(rejects), path, "subscriptions")


def read_valid_events(
    path: str,
    rejects: list[tuple[int, str]],
    check: Callable[[dict[str, Any]], Valid],
    nulls: str,
    reading: Reading,
    live: Live | None = None,
    names: Collection[str] | None = None,
) -> Iterator[tuple[int, Valid]]:
    """The row of every valid event of a file, with what `check` returns for it.

    Raises a `TableError` at the end if too many rows are none.

    Parameters
    ----------
    rejects : gets the rows that are not events, with the reason
    check : raises EventError for an event that is not valid
    live : as for `read_events`
    names : the attributes that are asked for
    """
    good = bad = 0

    def reject(row: int, reason: str) -> None:
        nonlocal bad
        bad += 1
        rejects.append((row, reason))

    found = read_events(path, reject, nulls=nulls, reading=reading, tell=note, live=live, names=names)
    for row, event in found:
        try:
            yield row, check(event)
        except EventError as error:
            reject(row, str(error))
        else:
            good += 1
    if rejects:
        reading.rejects.check(bad, good + bad, path, why=rejects[0][1])


def load_filters(
    path: str, schema: Schema | None, reading: Reading
) -> tuple[list[tuple[str, Filter]], list[tuple[int, str]]]:
    """The subscriber and filter of every valid subscription of a file; and the other rows, with reasons.

    The file may also be a folder written by `thatch load`. A subscription without a subscriber is its own subscriber. Of
    several rows with one id the first valid one is accepted. The other rows are reported on standard error; raises a
    `TableError` if there are too many.
    """
    with progress(f"reading {path}"):
        loaded = read_loaded(path) if is_loaded(path) else read_rules(path, reading)
    accepted: list[tuple[str, Filter]] = []
    rejects = list(loaded.rejects)
    for row, _, found in check_rows(loaded, schema):
        if isinstance(found, str):
            rejects.append((row, found))
        else:
            accepted.append((found.subscriber or found.identity, found.filter))
    _report_rejects(path, loaded, rejects, len(accepted), reading)
    return accepted, rejects


def check_rows(
    loaded: SubscriptionFile, schema: Schema | None
) -> Iterator[tuple[int, str | None, CheckedSubscription | str]]:
    """The row and id of each subscription of a file, with the subscription, or with the reason why it is refused."""
    table, nothing = loaded.table, [None] * loaded.table.num_rows
    has = set(table.column_names)
    ids = text_column(table, "subscription", "subscriptions")
    filters: Sequence[Filter | str | None] | None = loaded.filters
    if filters is None:
        filters = text_column(table, "filter", "subscriptions")
    subscribers = text_column(table, "subscriber", "subscriptions") if "subscriber" in has else nothing
    expiries = table.column("expires").to_pylist() if "expires" in has else nothing
    rows = zip(loaded.rows, ids, subscribers, filters, expiries, strict=True)
    first: dict[str | None, int] = {}
    with progress("subscriptions", table.num_rows) as meter:
        for row, identity, subscriber, text, expires in rows:
            meter.step()
            found: CheckedSubscription | str
            try:
                if identity in first:
                    raise SubscriptionError(f"Duplicate id {shown(identity)}, also in row {first[identity]}")
                if text is None:
                    raise FilterError("filter text", "null")
                found = read_subscription(identity, text, subscriber, expires, schema)
            except ThatchError as error:
                found = str(error)
            else:
                first[identity] = row
            yield row, identity, found


_SHAPE = re.compile(r"(line|star|tree|random):([0-9]{1,6})|(regions):([0-9]{1,4})x([0-9]{1,6})")


def load_topology(text: str, seed: int = 0) -> Topology:
    """The topology in a file or of a shape such as `line:5`."""
    from thatch.formats.topology import SHAPES, generate_topology, read_topology

    found = _SHAPE.fullmatch(text)
    if found is None:
        if text.partition(":")[0] in SHAPES:
            raise TableError("a shape such as line:5, star:5, tree:7, random:20 or regions:4x5", shown(text))
        return read_topology(text)
    if found[3]:
        return generate_topology("regions", regions=int(found[4]), brokers=int(found[5]), seed=seed)
    return generate_topology(found[1], count=int(found[2]), seed=seed)


def load_policy(text: str) -> Policy:
    """The policy with this name, such as `exact` or `merging:0.01`."""
    from thatch.reduction.forwarding import policies

    name, _, number = text.partition(":")
    plain: dict[str, Callable[[], Policy]] = {
        "exact": policies.Exact,
        "pairwise": policies.Pairwise,
        "flooding": policies.Flooding,
        "negative-space": policies.NegativeSpace,
        "merging": policies.Merging,
    }
    if text in plain:
        return plain[text]()
    try:
        match name:
            case "approximate":
                return policies.ApproximateNegativeSpace(int(number))
            case "probabilistic":
                return policies.Probabilistic(float(number))
            case "merging":
                return policies.Merging(threshold=float(number))
    except ParameterError:
        raise
    except ValueError as error:
        raise ParameterError(f"a number after `{name}:`", shown(text), "policy") from error
    raise ParameterError(POLICIES, shown(text), "policy")
