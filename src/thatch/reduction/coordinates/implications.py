"""What a conjunction implies for attributes and checks that rows constrain and it does not mention.

`implied` and `implies_residual` answer that for one key; this module knows which keys are worth asking for. An attribute
that is not derived and has no derived ones implies nothing, which is the case for most conjunctions. Neither does an
unconstrained attribute, even if its declared type has few values: then no row has a derived key or a check of it (see
`close`).
"""

from __future__ import annotations

from collections.abc import Iterator

from thatch.model.conjunctions import Conjunction, implied_constraint, points_of
from thatch.model.derived import derive
from thatch.model.lines import WHOLE, Constraint, Cut
from thatch.model.names import base_of
from thatch.model.residuals import AnywhereCheck, Residual, WildcardCheck, WithinCheck
from thatch.model.schema import Schema, line_of
from thatch.model.shape_relations import are_apart, lies_inside
from thatch.reduction.coordinates.forms import KnownForms

__all__ = ["Implications"]

_MOST_SHAPES = 1_000  # compared with one

_MOST_CHECKED = 4_096  # values tried against checks for one question; if there are more, nothing is implied


class Implications:
    """The keys and checks that rows constrain, by attribute."""

    def __init__(self, schema: Schema | None) -> None:
        self._schema = schema
        self._plain: set[str] = set()  # attributes themselves
        self._derived: dict[str, list[str]] = {}  # by attribute
        self._checks: dict[str, list[Residual]] = {}  # checks of one attribute, by attribute
        self._forms: dict[str, KnownForms] = {}  # patterns of one attribute, by attribute
        self._shapes: dict[tuple[str, ...], list[WithinCheck]] = {}  # by pair of attributes
        self._known: set[Residual] = set()  # all checks, including those of two attributes

    def add(self, key: str | Residual) -> None:
        """Note that rows constrain this key, or this check and its opposite."""
        if not isinstance(key, str):
            self._known.add(key)
            if len(key.keys) == 1 and not isinstance(key, AnywhereCheck):
                base = base_of(key.keys[0])
                self._checks.setdefault(base, []).append(key)
                if isinstance(key, WildcardCheck):
                    self._forms.setdefault(base, KnownForms()).add(key)
            elif isinstance(key, WithinCheck):
                self._shapes.setdefault(key.keys, []).append(key)
        elif key[-1] == ")":
            self._derived.setdefault(base_of(key), []).append(key)
        else:
            self._plain.add(key)

    def of(self, conjunction: Conjunction) -> Iterator[tuple[str, Constraint]]:
        """Constraints of known keys that follow from the conjunction but are not part of it."""
        if not self._derived and all(key[-1] != ")" for key, _ in conjunction.constraints):
            return
        bases: dict[str, bool] = {}
        for key, _ in conjunction.constraints:
            base = base_of(key)
            if key != base:
                bases[base] = True  # the derived key narrows the attribute itself
            elif base in self._derived:
                bases.setdefault(base, False)
        for base, is_narrowed in bases.items():
            if is_narrowed and base in self._plain:
                yield base, implied_constraint(conjunction, base, self._schema)
            for key in self._derived.get(base, ()):
                constraint = implied_constraint(conjunction, key, self._schema)
                if constraint != WHOLE:
                    yield key, constraint

    def checks_of(self, conjunction: Conjunction) -> Iterator[Residual]:
        """The known checks, or their opposites, that hold wherever the conjunction does."""
        own = set(conjunction.residuals)
        for check in own:
            if (check.opposite() if check.negated else check) in self._known:
                yield check
        for check in own:
            if isinstance(check, WithinCheck):
                yield from self._checks_of_shape(check)
        if not self._checks:
            return
        bases = {base_of(key) for key, _ in conjunction.constraints}
        for base in bases.intersection(self._checks):
            yield from self._checks_of_values(conjunction, base, own)
            if base in self._forms:
                yield from self._forms[base].checks_of(conjunction, base, own, self._schema)

    def _checks_of_shape(self, own: WithinCheck) -> Iterator[Residual]:
        """Checks of shapes around one that places lie in, or apart from it; or inside one that they do not lie in."""
        for check in self._shapes.get(own.keys, ())[:_MOST_SHAPES]:
            if check == own or check.opposite() == own:
                continue
            if own.negated:
                if lies_inside(check.shape, own.shape):
                    yield check.opposite()
            elif lies_inside(own.shape, check.shape):
                yield check
            elif are_apart(own.shape, check.shape):
                yield check.opposite()

    def _checks_of_values(
        self, conjunction: Conjunction, base: str, own: set[Residual]
    ) -> Iterator[Residual]:
        """Checks that have the same outcome for all possible values of an attribute, if these are few."""
        line = line_of(base, self._schema)
        checks = self._checks[base]
        constraint = implied_constraint(conjunction, base, self._schema)
        if len(constraint) * len(checks) > 2 * _MOST_CHECKED:
            return
        points: list[Cut] | None = points_of(constraint, line)
        if points is None or len(points) * len(checks) > _MOST_CHECKED:
            return
        for check in checks:
            if check in own or check.opposite() in own:
                continue
            outcomes = {check.holds([derive(check.keys[0], point)]) for point in points}
            if len(outcomes) == 1:
                yield check if outcomes.pop() else check.opposite()
