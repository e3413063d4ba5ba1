"""Whether a filter can hold for some event, seen without multiplying its alternatives out."""

from __future__ import annotations

from typing import Any

from thatch.model.conditions import Draft, Normalisation, both_of, parts_of_condition, size_of
from thatch.model.conjunctions import Dead, base_of_derived, close
from thatch.model.expressions import And, Constant, Expression, Not, Or
from thatch.model.names import base_of
from thatch.model.schema import Schema

__all__ = ["may_hold"]

_MAX_TRIED = 32 * 1_024  # conditions looked at

_Waiting = (
    tuple[tuple[Expression, bool], Any] | None
)  # what must hold too, negated or not: the next one, and the rest
_State = tuple[_Waiting, _Waiting, Draft]  # what waits, of that which is a choice, and what holds already


def may_hold(expression: Expression, schema: Schema | None) -> bool:
    """Whether some alternative can hold, as far as a bounded number of steps tells; stops at the first that can."""
    work = Normalisation(schema)
    states: list[_State] = [(((expression, False), None), None, Draft({}))]
    while states:
        waiting, choices, draft = states.pop()
        if _can_go_on(waiting, choices, draft, states, work):
            return True
    return False


def _can_go_on(
    waiting: _Waiting, choices: _Waiting, draft: Draft, states: list[_State], work: Normalisation
) -> bool:
    """Whether a draft, what waits and the first alternatives of all choices can hold together.

    Choices come last, so that an alternative that what must hold excludes is seen at once; their other alternatives
    are left for later.
    """
    while waiting is not None or choices is not None:
        work.steps += 1 + (size_of([draft]) >> 6)
        if work.steps > _MAX_TRIED:
            return True  # as far as is known
        if waiting is None:
            assert choices is not None, "one of the two is there"
            (choice, negated), choices = choices
            first, *others = choice.children  # type: ignore[attr-defined]  # a choice is an `and` or an `or`
            states += [(((child, negated), None), choices, draft) for child in others]
            waiting = ((first, negated), None)
            continue
        (each, negated), waiting = waiting
        if isinstance(each, Not):
            waiting = ((each.child, not negated), waiting)
        elif isinstance(each, (And, Or)):
            if isinstance(each, And) == negated:
                choices = ((each, negated), choices)
                continue
            for child in each.children:
                waiting = ((child, negated), waiting)
        elif isinstance(each, Constant):
            if each.value == negated:
                return False
        else:
            parts = parts_of_condition(each, negated, work)  # type: ignore[arg-type]  # all other kinds are conditions
            possible = [
                both for part in parts if isinstance(both := both_of(draft, _with_bases(part)), Draft)
            ]
            if not possible:
                return False
            draft = possible[0]
            states += [(waiting, choices, other) for other in possible[1:]]
    return not _is_dead(draft, work.schema)


def _with_bases(draft: Draft) -> Draft:
    """A draft that also says where attributes must lie of which it constrains something derived."""
    implied = {
        base_of(key): base_of_derived(key, constraint)
        for key, constraint in draft.constraints.items()
        if key[-1] == ")"
    }
    return both_of(draft, Draft(implied)) if implied else draft  # type: ignore[return-value]  # one condition never excludes itself


def _is_dead(draft: Draft, schema: Schema | None) -> bool:
    try:
        close(draft.constraints, draft.residuals, schema)
    except Dead:
        return True
    return False
