"""What a test of one attribute asks of a value, as literals that tries, gram tables and kernels decide.

A test holds if the value has one of some classes, is one of some literals or lies in one of some ranges; or, negated,
if nothing of that is so. Text in reverse is read in the text itself: how it begins is how the text ends. What literals
cannot say is asked of the filter itself, but only where a necessary literal holds, or the value has a class that allows
it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from thatch.matching.segments.parts import program
from thatch.matching.segments.rules.lists import (
    has_long_list,
    is_long_list,
    pack_cuts,
    pack_numbers,
    pack_texts,
)
from thatch.model.lines import (
    BOTTOM,
    NUMBERS,
    TEXTS,
    Constraint,
    Cut,
    complement,
    contains,
    first_point,
    intersect,
    intervals,
    is_prefix,
    is_single,
)
from thatch.model.names import ANYWHERE, split
from thatch.model.regexes import Pattern, Regex
from thatch.model.residuals import AnywhereCheck, PairCheck, WildcardCheck
from thatch.model.trees import Leaf, ValueTest
from thatch.model.wildcards import Wildcard

__all__ = [
    "ALL_CLASSES",
    "CONTAINS",
    "EQUAL",
    "LONGEST_NEEDLE",
    "NUMBER",
    "NUMBER_CLASS",
    "NUMBER_LIST",
    "PATTERN",
    "PREFIX",
    "READ_FORMS",
    "SUFFIX",
    "TEXT_CLASS",
    "TEXT_LIST",
    "Atom",
    "Test",
    "needle_of",
    "other_tests",
    "test_of",
]  # fmt: skip

EQUAL, PREFIX, SUFFIX, CONTAINS, PATTERN, NUMBER, TEXT_LIST, NUMBER_LIST = range(8)
NUMBER_CLASS, TEXT_CLASS = 1 << 5, 1 << 6
ALL_CLASSES = (1 << 7) - 1
_COMPARED = (
    1 << 2 | 1 << 3 | NUMBER_CLASS | TEXT_CLASS
)  # of values that may be compared with another attribute's
LONGEST_NEEDLE = (
    128  # bytes that are compared at each place where a needle may stand; a program reads the rest
)

READ_FORMS = (
    (),
    ("lower",),
    ("reverse",),
    ("reverse", "lower"),
)  # of texts: functions that kernels need not apply

_WORTH = (
    2  # characters from which on a text that a regular expression needs is looked for besides the longest
)

Range = tuple[float, float, bool, bool]  # bounds, and whether each of them is left out


class Atom(NamedTuple):
    """A literal: its kind, and its text, pattern or number, or a list of texts or numbers as `lists` packs it."""

    kind: int
    value: str | float | bytes


@dataclass(frozen=True, slots=True)
class Test:
    """A leaf of a tree for kernels.

    Parameters
    ----------
    folded : the text is read with its case folded
    classes : bits of the classes of values that pass
    needles : literals of which one holds wherever the filter has to be asked
    folded_needles : more of those, which are read in the folded text although the others are not
    asked : bits of the classes of values about which the filter has to be asked; text only where a needle holds, if
        there are needles, and only if it has at least `least` bytes
    """

    folded: bool
    negated: bool
    classes: int
    atoms: frozenset[Atom] = frozenset()
    ranges: frozenset[Range] = frozenset()
    needles: frozenset[Atom] = frozenset()
    asked: int = 0
    folded_needles: frozenset[Atom] = frozenset()
    least: int = 0


def test_of(leaf: Leaf) -> Test:
    """The test of a leaf."""
    if isinstance(leaf, AnywhereCheck):
        return _test_of_all_texts(leaf)
    if not isinstance(leaf, ValueTest):
        return Test(folded=False, negated=False, classes=0, asked=_needed_of(leaf).classes)
    functions, _ = split(leaf.key)
    is_back = functions[:1] == ("reverse",)
    if functions not in READ_FORMS or (is_back and leaf.patterns):
        asked = ALL_CLASSES if contains(leaf.constraint, BOTTOM) else ALL_CLASSES - 1
        return Test(folded=False, negated=False, classes=0, asked=asked)
    folded = "lower" in functions
    negated = leaf.negated or (
        not leaf.patterns and _is_simpler(complement(leaf.constraint), leaf.constraint)
    )
    parts = _decompose(complement(leaf.constraint) if negated else leaf.constraint, is_back=is_back)
    if parts is None:
        return Test(folded, negated=False, classes=0, asked=_classes_of(leaf))
    classes, atoms, ranges = parts
    found = _literals_of(leaf.key, leaf.patterns, folded=folded)
    if found is None:
        return Test(
            folded, negated=False, classes=0, asked=_classes_of(leaf), least=_least_of(leaf, folded=folded)
        )
    more, own, of_folded = found
    asked = TEXT_CLASS if own or of_folded else 0
    return Test(folded, negated, classes, frozenset(atoms | more), frozenset(ranges), own, asked, of_folded)


def _least_of(leaf: ValueTest, *, folded: bool) -> int:
    """How many bytes a text that passes must have; folding may make it shorter."""
    if folded or leaf.negated or intersect(leaf.constraint, TEXTS):
        return 0
    return min(each.needles.characters if isinstance(each, Regex) else 0 for each in leaf.patterns)


def other_tests(leaf: Leaf) -> list[tuple[str, Test]]:
    """Tests that hold wherever a leaf does, and the attributes they are on, besides `test_of` on the first one."""
    if isinstance(leaf, ValueTest):
        return [(leaf.key, each) for each in _tests_of_search(leaf)]
    return [(key, _needed_of(leaf)) for key in leaf.keys[1:]]


def _tests_of_search(leaf: ValueTest) -> list[Test]:
    """What a text must contain, each on its own, that one regular expression is found in."""
    if (
        leaf.negated
        or leaf.constraint
        or len(leaf.patterns) != 1
        or split(leaf.key)[0] not in ((), ("lower",))
    ):
        return []
    (pattern,) = leaf.patterns
    if not isinstance(pattern, Regex):
        return []
    folded = pattern.needles.is_folded or "lower" in split(leaf.key)[0]
    choices = [each for each in pattern.needles.others if min(map(len, each)) >= _WORTH]
    return [
        Test(folded, negated=False, classes=0, atoms=frozenset(map(_contained, each))) for each in choices
    ]


def _needed_of(leaf: Leaf) -> Test:
    """What each attribute must be wherever a check of several attributes holds."""
    if isinstance(leaf, (ValueTest, AnywhereCheck)) or leaf.negated:
        classes = ALL_CLASSES
    elif isinstance(leaf, PairCheck) or any(key[-1] == ")" for key in leaf.keys):
        classes = _COMPARED
    else:
        classes = NUMBER_CLASS
    return Test(folded=False, negated=False, classes=classes)


def _test_of_all_texts(check: AnywhereCheck) -> Test:
    """The test of a check of all texts, which are read as if they were those of one attribute."""
    folded = check.key != ANYWHERE
    found = _literals_of(check.key, check.patterns, folded=folded)
    if found is None:
        return Test(folded, negated=False, classes=0, asked=ALL_CLASSES if check.negated else TEXT_CLASS)
    atoms, own, of_folded = found
    classes = TEXT_CLASS if Atom(PREFIX, "") in atoms else 0
    asked = TEXT_CLASS if own or of_folded else 0
    return Test(folded, check.negated, classes, frozenset(atoms), frozenset(), own, asked, of_folded)


def _literals_of(
    key: str, patterns: Iterable[Pattern], *, folded: bool
) -> tuple[set[Atom], frozenset[Atom], frozenset[Atom]] | None:
    """Literals that say what patterns do, and needles of the others, those of folded text last; None if one has none."""
    atoms: set[Atom] = set()
    needles: tuple[set[Atom], set[Atom]] = (set(), set())
    for pattern in patterns:
        atom = _atom_of(key, pattern)
        if atom is not None:
            atoms.add(atom)
            continue
        found, is_of_folded = _needles_of(pattern)
        if not found:
            return None
        needles[is_of_folded and not folded].update(found)
    return atoms, frozenset(needles[0]), frozenset(needles[1])


def _classes_of(leaf: ValueTest) -> int:
    """The classes of values that may pass."""
    hull = leaf.hull()
    found = sum(1 << rank for rank in range(5) if contains(hull, (rank,)))
    found |= NUMBER_CLASS if intersect(hull, NUMBERS) else 0
    return found | (TEXT_CLASS if intersect(hull, TEXTS) else 0)


def _is_simpler(constraint: Constraint, other: Constraint) -> bool:
    """Whether literals say a constraint more briefly than another."""
    return has_long_list(constraint) or (
        not has_long_list(other) and _has_cuts(other) and not _has_cuts(constraint)
    )


def _has_cuts(constraint: Constraint) -> bool:
    """Whether some interval of texts is neither one text, nor a beginning, nor all of them."""
    texts = intersect(constraint, TEXTS)
    return texts != TEXTS and not all(is_single(*each) or is_prefix(*each) for each in intervals(texts))


def _decompose(constraint: Constraint, *, is_back: bool) -> tuple[int, set[Atom], set[Range]] | None:
    """Classes, literals and ranges of which one holds just where the constraint does; None if there are no such."""
    classes = sum(1 << rank for rank in range(5) if contains(constraint, (rank,)))
    atoms: set[Atom] = set()
    ranges: set[Range] = set()
    numbers, texts = intersect(constraint, NUMBERS), intersect(constraint, TEXTS)
    if numbers == NUMBERS:
        classes |= NUMBER_CLASS
    elif not _take_numbers(numbers, atoms, ranges):
        return None
    if texts == TEXTS:
        classes |= TEXT_CLASS
    else:
        _take_texts(texts, atoms, is_back=is_back)
    return classes, atoms, ranges


def _take_numbers(numbers: Constraint, atoms: set[Atom], ranges: set[Range]) -> bool:
    """Add what says the same as some intervals of numbers; False if a bound is no double."""
    if is_long_list(numbers):
        packed = pack_numbers([first_point(low)[1] for low in numbers[::2]])
        if packed is not None:
            atoms.add(Atom(NUMBER_LIST, packed))
        return packed is not None
    for low, high in intervals(numbers):
        if any(len(cut) == 3 and float(cut[1]) != cut[1] for cut in (low, high)):
            return False
        if is_single(low, high):
            atoms.add(Atom(NUMBER, float(first_point(low)[1]) + 0.0))
        else:
            first, is_above = (float(low[1]) + 0.0, low[2] == 1) if len(low) == 3 else (-float("inf"), False)
            last, is_below = (float(high[1]) + 0.0, high[2] == 0) if len(high) == 3 else (float("inf"), False)
            ranges.add((first, last, is_above, is_below))
    return True


def _take_texts(texts: Constraint, atoms: set[Atom], *, is_back: bool) -> None:
    """Add what says the same as some intervals of texts, or with `is_back` of texts in reverse."""
    if is_long_list(texts) and not is_back:
        atoms.add(Atom(TEXT_LIST, pack_texts([first_point(low)[1] for low in texts[::2]])))
        return
    cuts: list[Cut] = []
    for low, high in intervals(texts):
        if is_single(low, high):
            text = first_point(low)[1]
            atoms.add(Atom(EQUAL, text[::-1] if is_back else text))
        elif is_prefix(low, high):
            atoms.add(Atom(SUFFIX, low[1][::-1]) if is_back else Atom(PREFIX, low[1]))
        else:
            cuts += low, high
    if cuts:
        atoms.add(Atom(TEXT_LIST, pack_cuts(cuts, is_back=is_back)))


def _atom_of(key: str, pattern: Pattern) -> Atom | None:
    """The literal that says all that a pattern does; None if there is none."""
    if isinstance(pattern, Regex):
        return None
    if (atom := _plain_atom(pattern.text)) is not None:
        return atom
    if pattern.literal is not None:
        return Atom(EQUAL, pattern.literal)
    if pattern.is_prefix:
        return Atom(PREFIX, pattern.prefix)
    if pattern.is_suffix:
        return Atom(SUFFIX, pattern.suffix)
    run = needle_of(pattern)
    if not run or program(WildcardCheck(key, pattern)) is None:
        return None
    return Atom(PATTERN, pattern.text)


def _plain_atom(text: str) -> Atom | None:
    """The literal of a pattern with `%` at its ends only, as nearly all are, read from its text; None of another one."""
    is_open, is_left_open = text[:1] == "%", text[-1:] == "%"
    run = text[is_open : len(text) - is_left_open]
    if not run or "%" in run or "_" in run:
        return None
    if "\\" in run:
        if (len(run) - len(run.rstrip("\\"))) % 2:
            return None  # the last `%` is meant literally
        run = run.replace("\\\\", "\\")  # nothing else is escaped where it need not be
    if not is_open or not is_left_open:
        return Atom(SUFFIX if is_open else PREFIX if is_left_open else EQUAL, run)
    atom = _contained(run)
    return atom if atom.value == run else None


def _needles_of(pattern: Pattern) -> tuple[set[Atom], bool]:
    """Literals that a pattern cannot do without, one of them; and whether they are those of folded text."""
    if isinstance(pattern, Regex):
        return set(map(_contained, pattern.needles.texts)), pattern.needles.is_folded
    run = needle_of(pattern)
    return ({_contained(run)} if run else set()), False


def _contained(text: str) -> Atom:
    """The literal that says that a text, or as much of it as needles may be long, is contained."""
    content = text.encode()
    if len(content) > LONGEST_NEEDLE:
        text = content[:LONGEST_NEEDLE].decode(errors="ignore")
    return Atom(CONTAINS, text)


def needle_of(pattern: Wildcard) -> str:
    """The longest literal text in a pattern."""
    runs = [""]
    for piece in pattern.pieces:
        runs.append("")
        for part in piece:
            if part is None:
                runs.append("")
            else:
                runs[-1] += part
    return max(runs, key=len)
