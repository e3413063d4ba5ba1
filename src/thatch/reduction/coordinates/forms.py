"""Patterns of one attribute that rows ask for: which of them follow from what a conjunction asks of the attribute?

A pattern becomes a text by a strange letter for each `%` and `_`; whatever matches this text contains the pattern (see
`thatch.model.texts.sets`). So patterns are found by three letters that they need, as if this were an event.
"""

from __future__ import annotations

from collections.abc import Iterator

from thatch.model.conjunctions import Conjunction, implied_constraint
from thatch.model.derived import fold
from thatch.model.lines import EMPTY, TEXTS, WHOLE, covers
from thatch.model.names import base_of
from thatch.model.residuals import Residual, WildcardCheck
from thatch.model.schema import Schema
from thatch.model.texts import are_apart, lies_inside
from thatch.model.texts.sets import STRANGE, TextClauses, TextSet, clauses_of, generic_text
from thatch.model.trees import ValueTest
from thatch.model.wildcards import Wildcard

__all__ = ["KnownForms"]

_LENGTH = 3  # of the texts by which patterns are found
_MOST_ALTERNATIVES = 16  # of what a conjunction asks for
_MOST_EXCLUDED = 256  # patterns that are compared with what a conjunction excludes


class KnownForms:
    """Checks of the texts of one attribute."""

    def __init__(self) -> None:
        self._checks: list[tuple[WildcardCheck, TextSet]] = []
        self._by_needle: dict[tuple[bool, str], list[tuple[WildcardCheck, TextSet]]] = {}

    def add(self, check: WildcardCheck) -> None:
        """Note a check, which is not negated."""
        ((part,),) = clauses_of([ValueTest(check.key, EMPTY, frozenset([check.pattern]))]).clauses
        found = (check, part)
        self._checks.append(found)
        if isinstance(part.form, Wildcard):
            lists = [self._by_needle.setdefault((part.is_folded, each), []) for each in _needles(part.form)]
            min(lists, key=len).append(found)

    def checks_of(
        self, conjunction: Conjunction, base: str, own: set[Residual], schema: Schema | None
    ) -> Iterator[Residual]:
        """The checks, or their opposites, that are seen to hold wherever a conjunction does."""
        asked = _clauses(conjunction, base)
        clauses = [clause for clause in asked.clauses if len(clause) <= _MOST_ALTERNATIVES]
        if clauses and covers(TEXTS, implied_constraint(conjunction, base, schema)):
            for check, _ in self._around(clauses):
                if check not in own:
                    yield check
        for check, part in self._checks[:_MOST_EXCLUDED]:
            if check in own or check.opposite() in own:
                continue
            if any(lies_inside(part, outer) for outer in asked.excluded) or any(
                all(are_apart(each, part) for each in clause) for clause in clauses
            ):
                yield check.opposite()

    def _around(self, clauses: list[frozenset[TextSet]]) -> Iterator[tuple[WildcardCheck, TextSet]]:
        """The checks that hold wherever one of each clause does."""
        seen: set[WildcardCheck] = set()
        for clause in clauses:
            first = next(iter(clause))
            if not isinstance(first.form, Wildcard):
                continue
            text = generic_text(first.form, STRANGE)
            for is_folded in {first.is_folded, True}:
                for needle in _pieces(fold(text) if is_folded else text):
                    for check, part in self._by_needle.get((is_folded, needle), ()):
                        if check not in seen and all(lies_inside(each, part) for each in clause):
                            seen.add(check)
                            yield check, part


def _clauses(conjunction: Conjunction, base: str) -> TextClauses:
    tests = [ValueTest(key, each) for key, each in conjunction.constraints if base_of(key) == base]
    tests += [
        ValueTest(each.key, WHOLE if each.negated else EMPTY, frozenset([each.pattern]), each.negated)
        for each in conjunction.residuals
        if isinstance(each, WildcardCheck) and base_of(each.key) == base
    ]
    return clauses_of(tests)


def _needles(form: Wildcard) -> set[str]:
    """Texts by which a pattern may be found: one of them is enough."""
    runs = "".join(
        STRANGE if each is None else each for piece in form.pieces for each in (*piece, None)
    ).split(STRANGE)
    found = {run[at : at + _LENGTH] for run in runs for at in range(len(run) - _LENGTH + 1)}
    return found or {""}


def _pieces(text: str) -> set[str]:
    """All texts by which patterns around a text may have been noted."""
    return {"", *(text[at : at + _LENGTH] for at in range(len(text) - _LENGTH + 1))}
