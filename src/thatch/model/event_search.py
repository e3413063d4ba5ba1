"""Find a flat event that satisfies some trees and none of others, without multiplying alternatives out; or prove there is none.

A search with decisions and their undoing, as solvers of satisfiability do it. What must hold is taken apart into tests of
single attributes, which are kept together, and clauses: alternatives of which one must hold. For the tests of each
attribute a value is found (`texts`). If the event of these values satisfies all clauses, it is the answer. If not, a
clause that it violates is decided: by force if only one alternative may hold beside the tests, else by trying one after
the other. A contradiction names the decisions that it rests on; decisions that it does not name are not tried otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from thatch.model.asked import Asked, fixed_order, is_met, parts_of
from thatch.model.lines import BOTTOM, COMPARABLE, Cut, intersect_all
from thatch.model.names import base_of, key_of
from thatch.model.placed_checks import place_anywhere, place_compared, spot, test_of_one, texts_exclude
from thatch.model.places import find_place, has_no_place
from thatch.model.residuals import PairCheck, Residual, WithinCheck, implies
from thatch.model.schema import Schema, line_of
from thatch.model.texts import MOST_STEPS, FoundValue, Steps, find_value, opposite
from thatch.model.trees import AllOf, AnyOf, Leaf, Tree, ValueTest, bases_of

__all__ = ["EventSearch", "FoundEvent"]

_MOST_STEPS = 50_000  # of about a tenth of a millisecond
_MOST_LETTERS = 500_000  # steps of automata of one search
_MOST_PAIRS = 60_000  # of patterns that are compared to find one value
_PAIRS_A_STEP = 100
_MOST_WEIGHED = 500  # alternatives
_CHILDREN_A_STEP = 40
_MOST_DECISIONS = 150  # at the same time


@dataclass(frozen=True, slots=True)
class FoundEvent:
    """What a search found.

    Parameters
    ----------
    is_empty : True if no event satisfies what was asked, False if one does, None if that is not known
    places : of that event, by the key of the attribute; all others are missing
    used : numbers of excluded trees that leave nothing
    """

    is_empty: bool | None
    places: dict[str, Cut] = field(default_factory=dict)
    used: tuple[int, ...] = ()


Sets = int  # of reasons: a bit for each excluded tree and each decision
Clause = tuple[tuple[Asked, ...], Sets]
_EVERYTHING = -1  # as a reason: nothing may be left untried


class _BudgetSpentError(Exception):
    """The search took too many steps; not an error of anybody's."""


class _Contradiction(Exception):  # noqa: N818 - not an error: an answer
    """What must hold cannot; the argument has the reasons."""

    def __init__(self, reasons: Sets) -> None:
        self.reasons = reasons


@dataclass(slots=True)
class _State:
    """What must hold: tests by attribute, shapes by pair of attributes, other checks, all with their reasons; and clauses."""

    tests: dict[str, tuple[tuple[ValueTest, Sets], ...]] = field(default_factory=dict)
    checks: dict[tuple[str, str], tuple[tuple[WithinCheck, Sets], ...]] = field(default_factory=dict)
    others: tuple[tuple[Residual, Sets], ...] = ()
    clauses: list[Clause] = field(default_factory=list)

    def copy(self) -> _State:
        return _State(dict(self.tests), dict(self.checks), self.others, list(self.clauses))


class EventSearch:
    """Searches for events that satisfy a tree and none of a growing number of others.

    Parameters
    ----------
    wanted : trees that must all hold
    schema : declared types of attributes
    budget : the most steps of all its searches together, infinite for no limit, None for one that suits most filters
    """

    def __init__(self, wanted: Iterable[Tree], schema: Schema | None, budget: float | None = None) -> None:
        self._schema = schema
        self._wanted = list(wanted)
        self._excluded: list[Tree] = []
        self._named = set(map(key_of, schema or ())).union(*map(bases_of, self._wanted))
        self._most_steps = _MOST_STEPS if budget is None else budget
        self.steps_taken = 0
        self._letters = Steps(_MOST_LETTERS)
        self._numbers: dict[Leaf, int] = {}
        self._opposites: dict[int, ValueTest] = {}
        self._values: dict[tuple[int, ...], FoundValue] = {}
        self._is_unknown = False
        self._decisions = 0

    def exclude(self, tree: Tree) -> None:
        """Let the event that is looked for not satisfy a tree; the trees are numbered from 0 on."""
        self._excluded.append(tree)
        self._named |= bases_of(tree)

    def find(self) -> FoundEvent:
        """Look for an event; of all searches together the steps are bounded."""
        self._is_unknown, self._decisions = False, 0
        state = _State()
        try:
            for tree in self._wanted:
                self._require(state, (tree, False), 0)
            for number, tree in enumerate(self._excluded):
                self._require(state, (tree, True), 1 << number)
            places = self._decide(state)
        except _Contradiction as found:
            if self._is_unknown:
                return FoundEvent(is_empty=None)
            used = (number for number in range(len(self._excluded)) if found.reasons >> number & 1)
            return FoundEvent(is_empty=True, used=tuple(used))
        except _BudgetSpentError:
            return FoundEvent(is_empty=None)
        return FoundEvent(is_empty=False, places=places)

    # --- what must hold ----------------------------------------------------------------------------------------------

    def _require(self, state: _State, asked: Asked, reasons: Sets) -> None:
        """Add what must hold; raises `_Contradiction` where it is seen that it cannot."""
        changed: set[str] = set()
        pairs: set[tuple[str, str]] = set()
        pending = [asked]
        while pending:
            tree, is_negated = pending.pop()
            if isinstance(tree, ValueTest):
                test = self._opposite(tree) if is_negated else tree
                base = base_of(test.key)
                known = state.tests.get(base)
                state.tests[base] = (
                    *(_tests_of_all(state, base) if known is None else known),
                    (test, reasons),
                )
                changed.add(base)
            elif isinstance(tree, WithinCheck):
                check = tree.opposite() if is_negated else tree
                pair = (check.latitude, check.longitude)
                state.checks[pair] = (*state.checks.get(pair, ()), (check, reasons))
                pairs.add(pair)
                if not check.negated:
                    pending += [(bounds, False) for bounds in _bounds_of(check)]
            elif isinstance(tree, (AllOf, AnyOf)) and isinstance(tree, AllOf) != is_negated:
                pending += [(child, is_negated) for child in tree.children]
            elif isinstance(tree, (AllOf, AnyOf)):
                children = tuple((child, is_negated) for child in sorted(tree.children, key=fixed_order))
                state.clauses.append((children, reasons))
            else:
                other = tree.opposite() if is_negated else tree
                self._check_other(state, other, reasons)
                state.others = (*state.others, (other, reasons))
                for base, known in state.tests.items():
                    if (own := test_of_one(other, base)) is not None:
                        state.tests[base] = (*known, (own, reasons))
                        changed.add(base)
                if isinstance(other, PairCheck) and not other.negated:
                    pending += [(ValueTest(key, COMPARABLE), False) for key in other.keys]
        for base in sorted(changed):
            self._check(base, state.tests[base])
        for pair in sorted(pairs | {pair for pair in state.checks if not changed.isdisjoint(pair)}):
            self._check_pair(state, pair)

    def _opposite(self, test: ValueTest) -> ValueTest:
        number = self._number(test)
        known = self._opposites.get(number)
        if known is None:
            known = self._opposites[number] = opposite(test)
        return known

    def _number(self, leaf: Leaf) -> int:
        return self._numbers.setdefault(leaf, len(self._numbers))

    def _check(self, base: str, tests: Sequence[tuple[ValueTest, Sets]]) -> None:
        """Raise `_Contradiction` if no value passes all tests of an attribute."""
        if self._value(base, [test for test, _ in tests]).is_empty:
            raise _Contradiction(self._reasons(base, tests))

    def _value(self, base: str, tests: Sequence[ValueTest]) -> FoundValue:
        if all(test.constraint[:1] == (BOTTOM,) for test in tests):
            return _MISSING
        key = tuple(sorted({self._number(test) for test in tests}))
        known = self._values.get(key)
        if known is None:
            different = tuple(dict.fromkeys(tests))
            size = sum(1 + len(test.patterns) for test in different)
            self._spend(1 + min(size * size, _MOST_PAIRS) // _PAIRS_A_STEP)
            own = Steps(min(MOST_STEPS, self._letters.left))
            given = own.left
            known = self._values[key] = find_value(different, line_of(base, self._schema), own)
            self._letters.left -= given - max(own.left, 0)
        return known

    def _spend(self, steps: int) -> None:
        self.steps_taken += steps
        if self.steps_taken > self._most_steps:
            raise _BudgetSpentError

    def _reasons(self, base: str, tests: Sequence[tuple[ValueTest, Sets]]) -> Sets:
        """Reasons why no value passes all tests, the last of which is the newest."""
        every: Sets = 0
        for _, reasons in tests:
            every |= reasons
        newest, last = tests[-1]
        given = [test for test, reasons in tests if not reasons]
        if every in (0, last) or self._value(base, [*given, newest]).is_empty:
            return last
        for test, reasons in tests:
            if reasons and self._value(base, [*given, newest, test]).is_empty:
                return last | reasons
        return every

    @staticmethod
    def _check_other(state: _State, check: Residual, reasons: Sets) -> None:
        """Raise `_Contradiction` if a check is seen to exclude one that must hold."""
        for known, why in state.others:
            contrary = implies(known, check.opposite()) or implies(check, known.opposite())
            if contrary or texts_exclude(known, check):
                raise _Contradiction(reasons | why)

    def _check_pair(self, state: _State, pair: tuple[str, str]) -> None:
        """Raise `_Contradiction` if it is seen that no place on the globe passes all checks of two attributes."""
        checks = state.checks[pair]
        sides = [state.tests.get(base_of(key), ()) for key in pair]
        if has_no_place([check for check, _ in checks], *map(_hull_of, sides)):
            reasons = 0
            for _, each in (*checks, *sides[0], *sides[1]):
                reasons |= each
            raise _Contradiction(reasons)

    # --- decisions ---------------------------------------------------------------------------------------------------

    def _decide(self, state: _State) -> dict[str, Cut]:
        """The places of an event; raises `_Contradiction` with the reasons if there is none."""
        while True:
            self._spend(1 + sum(len(children) for children, _ in state.clauses) // _CHILDREN_A_STEP)
            places, unknown = self._places(state)
            violated = [
                (at, clause)
                for at, clause in enumerate(state.clauses)
                if not any(is_met(each, places, unknown) for each in clause[0])
            ]
            if not violated:
                if not unknown:
                    return places
                self._is_unknown = True  # another decision may still give an event
                raise _Contradiction(_EVERYTHING)
            # A clause that an excluded tree has left is decided even if it holds so far: what is wanted can often be had
            # in many ways, all of which would be tried in vain.
            numbers = {at for at, _ in violated}
            left = (each for each in enumerate(state.clauses) if each[1][1] and each[0] not in numbers)
            at, open_children, reasons = self._tightest(state, [*violated, *left])
            del state.clauses[at]
            if len(open_children) > 1:
                return self._try_each(state, open_children, reasons)
            if not open_children:
                raise _Contradiction(reasons)
            self._require(state, open_children[0], reasons)

    def _tightest(
        self, state: _State, violated: Sequence[tuple[int, Clause]]
    ) -> tuple[int, list[Asked], Sets]:
        """The clause that is decided next, its alternatives that may hold, and why it has no others.

        One with at most one such alternative, if there is one; else one that an excluded tree has left, the shortest first.
        """
        best: tuple[int, list[Asked], Sets] | None = None
        weighed = 0
        for at, (children, reasons) in sorted(violated, key=_urgency):
            left: list[Asked] = []
            for child in children:
                weighed += 1
                why = self._excludes(state, child)
                if why is None:
                    left.append(child)
                    if best is not None and len(left) > 1:
                        break
                else:
                    reasons |= why
            else:
                best = (at, left, reasons)
                if len(left) < 2:
                    break
            if best is not None and weighed > _MOST_WEIGHED:
                break
        assert best is not None, "a clause"
        return best

    def _excludes(self, state: _State, asked: Asked) -> Sets | None:
        """Why something cannot hold beside the tests there are, None if that is not seen."""
        for tree, is_negated in parts_of(asked):
            if isinstance(tree, ValueTest):
                base = base_of(tree.key)
                known = state.tests.get(base)
                if known is not None:
                    test = self._opposite(tree) if is_negated else tree
                    if self._value(base, [*(each for each, _ in known), test]).is_empty:
                        return self._reasons(base, [*known, (test, 0)])
        return None

    def _try_each(self, state: _State, children: Sequence[Asked], reasons: Sets) -> dict[str, Cut]:
        decision = 1 << (len(self._excluded) + self._decisions)
        self._decisions += 1
        if self._decisions > _MOST_DECISIONS:
            raise _BudgetSpentError
        for child in children:
            tried = state.copy()
            try:
                self._require(tried, child, decision)
                return self._decide(tried)
            except _Contradiction as found:
                if not found.reasons & decision:
                    self._decisions -= 1
                    raise
                reasons |= found.reasons & ~decision
        self._decisions -= 1
        raise _Contradiction(reasons)

    # --- the event ---------------------------------------------------------------------------------------------------

    def _places(self, state: _State) -> tuple[dict[str, Cut], set[str]]:
        """A place for every attribute that is tested, and the attributes for which none is known."""
        places: dict[str, Cut] = {}
        unknown: set[str] = set()
        for base, tests in state.tests.items():
            found = self._value(base, [test for test, _ in tests])
            if found.place is None:
                unknown.add(base)
            else:
                places[base] = found.place
        for pair, checks in state.checks.items():
            self._place_pair(state, pair, [check for check, _ in checks], places, unknown)
        others = [check for check, _ in state.others]
        known = {base: [test for test, _ in each] for base, each in state.tests.items()}
        place_compared(others, known, places, unknown, self._schema)
        place_anywhere(others, places, unknown, self._named)
        return {base: place for base, place in places.items() if place != BOTTOM}, unknown

    def _place_pair(
        self,
        state: _State,
        pair: tuple[str, str],
        checks: Sequence[WithinCheck],
        places: dict[str, Cut],
        unknown: set[str],
    ) -> None:
        """Choose places of two attributes so that they pass their checks."""
        bases = [base_of(key) for key in pair]
        own = [spot(key, places) for key in pair]
        if unknown.isdisjoint(bases) and all(check.holds(own) for check in checks):
            return
        found = None
        if all(key == base for key, base in zip(pair, bases, strict=True)):
            first, second = ([test for test, _ in state.tests.get(base, ())] for base in bases)
            lines = [line_of(base, self._schema) for base in bases]
            found = find_place(checks, first, second, lines[0], lines[1])
        if found is None:
            unknown.update(bases)
        else:
            places.update(zip(bases, found, strict=True))
            unknown.difference_update(bases)


def _tests_of_all(state: _State, base: str) -> tuple[tuple[ValueTest, Sets], ...]:
    """What an attribute must be since all texts of the event must be it."""
    every = ((test_of_one(check, base), reasons) for check, reasons in state.others)
    return tuple((test, reasons) for test, reasons in every if test is not None)


_MISSING = FoundValue(is_empty=False, place=BOTTOM)


def _bounds_of(check: WithinCheck) -> Iterator[ValueTest]:
    latitudes, longitudes = check.shape.bounds()
    yield ValueTest(check.latitude, latitudes)
    yield ValueTest(check.longitude, longitudes)


def _hull_of(tests: Sequence[tuple[ValueTest, Sets]]) -> tuple[Cut, ...]:
    return intersect_all([(BOTTOM, (7,)), *(test.hull() for test, _ in tests if test.key[-1] != ")")])


def _urgency(violated: tuple[int, Clause]) -> tuple[bool, int]:
    _, (children, reasons) = violated
    return not reasons, len(children)
