"""First pass of merging: list the tails of every filter, and let each row choose the group that it is merged in.

A *tail* is what a filter has in common with those it may be merged with: all but its condition on one attribute. Any
attribute may be the one that differs, not only the topmost of a diagram as in li2005, so that a filter has as many tails
as attributes. Tasks compare tails by numbers of 64 bits; the second pass compares the conditions themselves, so that two
tails that share a number by chance are never merged.

Each row chooses the tail that most rows share. The largest group takes all its rows, and the others choose again among
themselves, until no two rows share a tail. The result depends on the set of rows alone, not on their order or partitions.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.engine import container
from thatch.errors import TableError
from thatch.model.conjunctions import Conjunction
from thatch.model.filters import Filter
from thatch.model.lines import Constraint
from thatch.model.names import base_of
from thatch.model.schema import Schema
from thatch.model.selectivity import NamedValues, Selectivity
from thatch.pipeline.adapter import translate_spark_errors
from thatch.pipeline.columns import ROW, DataFrame
from thatch.pipeline.indexes import check_once
from thatch.pipeline.tasks import Batches, binary_row, unpickle_all
from thatch.pipeline.transforms.reducing.pieces import parse_filters
from thatch.pipeline.transforms.reducing.sides import encode_cut
from thatch.reduction.boxes import Ints
from thatch.reduction.merging.rules import predicates_in

__all__ = [
    "GROUP",
    "ROUNDS",
    "Description",
    "Tail",
    "choose_tails",
    "combine_pieces",
    "describe_filters",
    "describe_rows",
    "list_tails",
]

GROUP = "group"  # the number of a tail, or for a single row a number of its own
ROUNDS = 32  # of choosing; rows that are left then stay single
_MERGER = "merger"
_SAMPLE = 256  # numbers, and texts, that are kept of the values named for an attribute
_ALL = (1 << 64) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Description:
    """What is known of all subscriptions before they are merged."""

    rows: Ints  # their numbers, rising
    groups: Ints  # the tail that each has chosen; for a single row a number that no other has
    named: dict[str, NamedValues]  # the values that they name, by attribute; a sample if there are many
    prefix: str  # for the ids of mergers; no subscription has such an id


def describe_rows(rows: DataFrame, schema: Schema | None) -> Description:
    """Parse all subscriptions, which `input_columns` gives, and let each choose its group."""
    with translate_spark_errors("reading the subscriptions"):
        task = partial(describe_filters, schema)
        pieces = rows.mapInArrow(task, "tails binary, named binary").toArrow()
    return combine_pieces(pieces)


def combine_pieces(pieces: pa.Table) -> Description:
    """Combine what `describe_filters` found in all tasks."""
    named: dict[str, NamedValues] = {}
    for each in unpickle_all(pieces.column("named")):
        _add_values(named, each)
    dashes = 0
    found = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))]
    for each in pieces.column("tails"):
        arrays = container.loads(each.as_buffer())[1]
        found.append((arrays["rows"], arrays["counts"], arrays["tails"]))
        dashes = max(dashes, int(arrays["dashes"][0]))
    rows, counts, tails = (np.concatenate(each) for each in zip(*found, strict=True))
    check_once(pa.chunked_array([rows]), TableError, "each number of a row once")
    owners = np.repeat(np.arange(len(rows)), counts)
    choice, is_grouped = choose_tails(owners, tails, len(rows))
    groups = np.where(is_grouped, choice, rows)
    order = np.argsort(rows)
    return Description(rows[order], groups[order], named, _MERGER + "-" * (dashes + 1))


def describe_filters(schema: Schema | None, batches: Batches) -> Batches:
    """List the tails of filters and the values that they name, in a worker."""
    for batch in batches:
        if batch.column(0).null_count:
            raise TableError("a number for every row", "null", f"column `{ROW}` of the subscriptions")
        selectivity = Selectivity(schema=schema)
        counts: list[int] = []
        tails: list[int] = []
        for filter in parse_filters(schema, batch):
            before = len(tails)
            tails += [each.number for each in list_tails(filter)]
            counts.append(len(tails) - before)
            for conjunction in filter.outer_conjunctions:
                selectivity.observe(conjunction)
        arrays = {
            "rows": batch.column(0).to_numpy(),
            "counts": np.array(counts, np.int64),
            "tails": np.array(tails, np.int64),
            "dashes": np.array([max(map(_dashes, batch.column(1).to_pylist()), default=0)], np.int64),
        }
        named = _add_values({}, selectivity.named)
        yield binary_row(tails=container.dumps({}, arrays), named=pickle.dumps(named))


def _add_values(named: dict[str, NamedValues], others: Mapping[str, NamedValues]) -> dict[str, NamedValues]:
    """Add the values that others name, and keep a sample of all."""
    for key, values in others.items():
        own = named.setdefault(key, NamedValues())
        own.update(values)
        own.thin(_SAMPLE)
    return named


def _dashes(identity: str) -> int:
    """How many dashes follow the prefix of mergers, if an id begins with it."""
    rest = identity.removeprefix(_MERGER)
    return len(rest) - len(rest.lstrip("-")) if rest != identity else 0


# --- tails -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tail:
    """A conjunction seen from one of its attributes."""

    number: int  # a hash of what it has in common with others, from -2**63 up
    key: str  # the attribute in which it may differ from them


def list_tails(filter: Filter) -> Iterator[Tail]:
    """List the tails of a filter; none if it has alternatives, since only conjunctions are merged.

    An attribute with several intervals, or with more than one condition (on `x` and on `lower(x)`, say), gives none:
    a merger there would change what the other conditions mean.
    """
    if not filter.has_conjunctions or len(filter.conjunctions) != 1:
        return
    (conjunction,) = filter.conjunctions
    sides = [_hash(_encode_side(key, constraint)) for key, constraint in conjunction.constraints]
    together = sum(sides) + sum(_hash(b"\0" + repr(check).encode()) for check in conjunction.residuals)
    named = _count_conditions(conjunction)
    for side, (key, constraint) in zip(sides, conjunction.constraints, strict=True):
        if named[base_of(key)] == 1 and predicates_in(constraint) == 1:
            number = (together - side + _hash(key.encode())) & _ALL
            yield Tail(number - (1 << 63), key)


def _count_conditions(conjunction: Conjunction) -> Counter[str]:
    """Count the conditions on each attribute."""
    named = Counter(base_of(key) for key, _ in conjunction.constraints)
    named.update(base_of(key) for check in conjunction.residuals for key in check.keys)
    return named


def _encode_side(key: str, constraint: Constraint) -> bytes:
    """Encode a condition; no two have the same bytes, since the encoding of cuts is prefix-free."""
    return b"\xff".join((key.encode(), *map(encode_cut, constraint)))


def _hash(content: bytes) -> int:
    return int.from_bytes(blake2b(content, digest_size=8).digest())


def choose_tails(owners: Ints, tails: Ints, count: int) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Choose a tail for each of `count` rows, and say whether other rows chose it, too.

    Of each tail of each row, `owners` has the row, from 0, and `tails` the number of the tail.
    """
    numbers, named = np.unique(tails, return_inverse=True)
    choice = np.zeros(count, np.int64)
    is_grouped = np.zeros(count, np.bool_)
    for _ in range(ROUNDS):
        sizes = np.bincount(named, minlength=len(numbers))
        is_shared = sizes[named] > 1
        owners, named = owners[is_shared], named[is_shared]
        if not len(owners):
            break
        # Row by row, the most shared tail comes last; of equals the one with the least number.
        order = np.lexsort((-named, sizes[named], owners))
        last = np.append(np.flatnonzero(np.diff(owners[order])), len(order) - 1)
        row, tail = owners[order][last], named[order][last]
        together = np.bincount(tail, minlength=len(numbers))[tail] > 1
        choice[row[together]] = numbers[tail[together]]
        is_grouped[row[together]] = True
        is_left = ~is_grouped[owners]
        owners, named = owners[is_left], named[is_left]
    return choice, is_grouped
