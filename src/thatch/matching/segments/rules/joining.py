"""Put tables of rules together as arrays: each literal and each test once, and only those that some rule uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.compiled.records import Int64s
from thatch.matching.arrays import starts_of
from thatch.matching.segments.columns import Texts
from thatch.matching.segments.rules.draft import LEAF, RuleTable
from thatch.matching.segments.rules.numbering import numbered, parts_of, taken_lists, taken_texts

__all__ = ["join_tables", "same_literals"]

Mask = npt.NDArray[np.bool_]
_RANGE = np.dtype("V32")  # four doubles


def join_tables(tables: Sequence[RuleTable], is_kept: Sequence[Mask]) -> RuleTable:
    """The kept rules of several tables of one index, just as a draft of them would have them."""
    every = _concatenated(tables)
    return _only(every, np.flatnonzero(np.concatenate(is_kept)))


def _concatenated(tables: Sequence[RuleTable]) -> RuleTable:
    """All tables one after the other, with literals and tests that may be there several times."""
    if len(tables) == 1:
        return tables[0]
    attributes = np.unique(np.concatenate([each.attributes for each in tables]))
    locals_of = [np.searchsorted(attributes, each.attributes).astype(np.int32) for each in tables]
    anywhere = [
        int(own[each.anywhere[0]])
        for own, each in zip(locals_of, tables, strict=True)
        if each.anywhere[0] >= 0
    ]
    first_atom = starts_of([len(each.atom_kind) for each in tables])
    first_test = starts_of([len(each.test_flags) for each in tables], np.int32)
    columns: dict[str, Any] = {"attributes": attributes, "anywhere": np.array([*anywhere, -1][:1], np.int32)}
    for name in RuleTable._fields[2:]:
        parts = [getattr(each, name) for each in tables]
        if name.endswith("_attribute"):
            parts = [own[part] for own, part in zip(locals_of, parts, strict=True)]
        elif name in ("test_atoms", "test_needles"):
            parts = [(part + first).astype(np.int32) for part, first in zip(parts, first_atom, strict=False)]
        elif name == "tokens":
            parts = [
                np.where((part & 3) == LEAF, part + (first << 2), part)
                for part, first in zip(parts, first_test, strict=False)
            ]
        elif name.endswith("_at"):
            columns[name] = starts_of(np.concatenate([np.diff(part) for part in parts]))
            continue
        columns[name] = Texts.join(parts) if isinstance(parts[0], Texts) else np.concatenate(parts)
    return RuleTable(**columns)


def _only(table: RuleTable, rules: Int64s) -> RuleTable:
    """Some rules of a table that may have a literal or a test several times, numbered as rules first use them."""
    token_at, tokens = taken_lists(table.token_at, table.tokens, rules)
    is_leaf = (tokens & 3) == LEAF
    used = tokens[is_leaf] >> 2
    same_atom, _ = numbered(*_literals(table))
    number, first = numbered(_same_tests(table, same_atom)[used])
    tokens[is_leaf] = number << 2 | LEAF
    tests = used[first]
    own, first = numbered(table.test_attribute[tests].astype(np.int64))
    attributes = table.test_attribute[tests][first]
    local = np.full(len(table.attributes) + 1, -1, np.int32)  # the last one for no attribute
    local[attributes] = np.arange(len(attributes), dtype=np.int32)
    sizes = np.stack([np.diff(at)[tests] for at in (table.test_atom_at, table.test_needle_at)], 1)
    starts = np.stack([table.test_atom_at[tests], table.test_needle_at[tests] + len(table.test_atoms)], 1)
    listed = parts_of(np.concatenate([table.test_atoms, table.test_needles]), starts.ravel(), sizes.ravel())
    number, first = numbered(same_atom[listed])
    is_needle = np.repeat(np.tile([False, True], len(tests)), sizes.ravel())
    atoms = listed[first]
    range_at, ranges = taken_lists(table.test_range_at, table.test_ranges.view(_RANGE), tests)
    return RuleTable(
        attributes=table.attributes[attributes],
        anywhere=local[table.anywhere],
        slots=table.slots[rules],
        sources=taken_texts(table.sources, rules),
        atom_attribute=local[table.atom_attribute[atoms]],
        atom_kind=table.atom_kind[atoms],
        atom_text=taken_texts(table.atom_text, atoms),
        atom_number=table.atom_number[atoms],
        test_attribute=own.astype(np.int32),
        test_flags=table.test_flags[tests],
        test_classes=table.test_classes[tests],
        test_asked=table.test_asked[tests],
        test_least=table.test_least[tests],
        test_atom_at=starts_of(sizes[:, 0]),
        test_atoms=number[~is_needle].astype(np.int32),
        test_needle_at=starts_of(sizes[:, 1]),
        test_needles=number[is_needle].astype(np.int32),
        test_range_at=range_at,
        test_ranges=ranges.view(np.float64),
        token_at=token_at,
        tokens=tokens,
    )


def _literals(table: RuleTable) -> tuple[Int64s, Int64s, Texts]:
    """What tells a literal from others of an index."""
    attribute = table.attributes[table.atom_attribute].astype(np.int64)
    return attribute << 8 | table.atom_kind, table.atom_number.view(np.int64), table.atom_text


def _same_tests(table: RuleTable, same_atom: Int64s) -> Int64s:
    """A number for each test, the same for those that are equal, given such numbers of literals."""
    least = np.arange(len(table.test_least) + 1)
    columns = (
        (least * 4, table.test_least),
        (table.test_atom_at * 8, same_atom[table.test_atoms]),
        (table.test_needle_at * 8, same_atom[table.test_needles]),
        (table.test_range_at * _RANGE.itemsize, table.test_ranges),
    )
    contents = [values.view(np.uint8) for _, values in columns]
    before = starts_of([*map(len, contents)])
    starts = np.stack([at[:-1] + first for (at, _), first in zip(columns, before, strict=False)], 1)
    sizes = np.stack([np.diff(at) for at, _ in columns], 1)
    content = parts_of(np.concatenate(contents), starts.ravel(), sizes.ravel())
    asks = (
        table.test_flags.astype(np.int64) << 16 | table.test_classes.astype(np.int64) << 8 | table.test_asked
    )
    return numbered(
        table.test_attribute.astype(np.int64) << 32 | asks,
        sizes[:, 1] << 32 | sizes[:, 2],  # what is left of the text is ranges
        Texts(starts_of(sizes.sum(1)), content),
    )[0]


def same_literals(table: RuleTable, others: Sequence[RuleTable]) -> list[Int64s]:
    """Where each literal of other tables stands in this one, -1 where it does not."""
    keys = [_literals(each) for each in (table, *others)]
    first, second = (np.concatenate([each[part] for each in keys]) for part in (0, 1))
    numbers, _ = numbered(first, second, Texts.join([texts for _, _, texts in keys]))
    numbers[numbers >= len(table.atom_kind)] = -1
    return np.split(numbers, np.cumsum([len(each[0]) for each in keys])[:-1])[1:]
