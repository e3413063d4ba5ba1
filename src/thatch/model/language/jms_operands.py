"""Comparisons of a JMS selector: of constants, of terms, and of formulas."""

from __future__ import annotations

from fractions import Fraction

from thatch.model.expressions import (
    And,
    Compare,
    ComparePair,
    Distinct,
    Exists,
    Expression,
    In,
    IsNull,
    Not,
    Or,
    compare_formulas,
)
from thatch.model.expressions import Constant as Always
from thatch.model.formulas import Operation, keys_of
from thatch.model.language.arithmetic import Constant, Operand, Term, bound_of, formula_of, literal_of
from thatch.model.language.truths import FLIPPED, NEVER, Truth, is_ordered, is_value, not_ordered
from thatch.model.lines import Literal

__all__ = ["compared", "condition_of", "is_one_of"]

_ORDERS = ("<", "<=", ">", ">=")
_UNKNOWN = Truth(NEVER, NEVER)


def condition_of(term: Term) -> Truth:
    """An attribute where a condition stands: unknown if it is no boolean."""
    if not term.is_plain:
        return _UNKNOWN
    yes, no = (Compare(term.key, "=", value) for value in (True, False))
    return Truth(yes, no)


# --- comparisons -------------------------------------------------------------------------------------------------


def compared(left: Operand, operator: str, right: Operand) -> Truth:
    """A comparison of two operands."""
    if isinstance(left, Term) and isinstance(right, Term):
        if right.quoted is not None:
            right = right.quoted
        elif left.quoted is not None:
            left = left.quoted
        elif left.key == right.key:
            return _beside_itself(left, operator, right)
        elif left.is_plain and right.is_plain:
            return _beside_another(left.key, operator, right.key)
        else:
            return _besideformula_of(left, operator, right)
    if left is None or right is None:
        return _UNKNOWN
    if isinstance(left, Operation) or isinstance(right, Operation):
        return _besideformula_of(left, operator, right)
    if isinstance(left, Term):
        return _UNKNOWN if isinstance(right, Term) else _beside(left, operator, right)
    if isinstance(right, Term):
        return _beside(right, FLIPPED[operator], left)
    return Truth.of(value=_holds(left, operator, right))


def _beside_itself(left: Term, operator: str, right: Term) -> Truth:
    """A comparison of an attribute with itself, perhaps with arithmetic."""
    if not left.is_plain or not right.is_plain:
        return _beside(left.plus(right.scaled(Fraction(-1))), operator, Fraction(0))
    number = _when(_is_number(left.key), value=operator in ("=", "<=", ">="))
    text = _when(_is_text(left.key), value=operator in ("=", "<=", ">="))
    boolean = _when(_is_boolean(left.key), value=operator == "=")
    parts = (number, text, boolean)
    return Truth(Or(tuple(each.yes for each in parts)), Or(tuple(each.no for each in parts)))


def _besideformula_of(left: Operand, operator: str, right: Operand) -> Truth:
    """A comparison in which a side is more than a term, or both are: false beside text and booleans."""
    if isinstance(left, (str, bool)):
        return _when(_known(right), value=operator == "!=")
    if isinstance(right, (str, bool)):
        return _when(_known(left), value=operator == "!=")
    both = compare_formulas(formula_of(left), operator, formula_of(right))  # type: ignore[arg-type]  # nothing else is left
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Term) and one.is_plain:
            of_two_types = And((_known(other), Or((_is_text(one.key), _is_boolean(one.key)))))
            if operator == "!=":
                return Truth(Or((both, of_two_types)), Not(both))
            return Truth(both, Or((Not(both), of_two_types)))
    return Truth(both, Not(both))


def _known(operand: Operand) -> Expression:
    """Where an operand has a value."""
    if isinstance(operand, Operation):
        return compare_formulas(operand, "=", operand)
    if not isinstance(operand, Term):
        return Always(operand is not None)
    return _is_present(operand.key) if operand.is_plain else _is_number(operand.key)


def _unknown(operand: Operand) -> Expression:
    """Where an attribute of an operand is such that it has none."""
    if isinstance(operand, Term) and operand.is_plain:
        return Or((Not(Exists(operand.key)), IsNull(operand.key)))
    keys = (
        (operand.key,)
        if isinstance(operand, Term)
        else keys_of(operand)
        if isinstance(operand, Operation)
        else ()
    )
    return Or(tuple(each(key) for key in keys for each in (_is_missing, IsNull, _is_text, _is_boolean)))


def _beside_another(left: str, operator: str, right: str) -> Truth:
    """A comparison of two attributes: false for values of two types, as it is beside a constant, and booleans in no order."""
    both = ComparePair(left, operator, right)
    of_two_types = Or(
        tuple(
            And((of(left), Or(tuple(other(right) for other in _TYPES if other is not of)))) for of in _TYPES
        )
    )
    if operator == "!=":
        return Truth(Or((both, of_two_types)), Not(both))
    if operator == "=":
        return Truth(both, Or((Not(both), of_two_types)))
    ordered = Or((And((_is_number(left), both)), And((_is_text(left), both))))
    return Truth(ordered, Or((Not(both), of_two_types, And((_is_boolean(left), _is_boolean(right))))))


def _holds(left: Constant, operator: str, right: Constant) -> bool:
    """A comparison of two constants; those of two types are unequal and in no order."""
    if operator in ("=", "!="):
        return (type(left) is type(right) and left == right) == (operator == "=")
    if isinstance(left, str) and isinstance(right, str):
        return _in_order((left > right) - (left < right), operator)
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return _in_order((left > right) - (left < right), operator)
    return False


def _in_order(sign: int, operator: str) -> bool:
    return (
        (sign < 0 and operator[0] == "<")
        or (sign > 0 and operator[0] == ">")
        or (not sign and "=" in operator)
    )


def _beside(attribute: Term, operator: str, constant: Constant) -> Truth:
    """An attribute, perhaps with arithmetic, beside a constant."""
    if attribute.is_plain:
        return _plain(attribute.key, operator, literal_of(constant))
    number = _is_number(attribute.key)
    if not isinstance(constant, Fraction):
        return _when(number, value=operator == "!=")
    if not attribute.factor:
        return _when(number, value=_holds(Fraction(0), operator, constant - attribute.offset))
    operator, bound = bound_of(attribute, operator, constant)
    yes = Compare(attribute.key, operator, bound)
    if operator in _ORDERS:
        return Truth(yes, not_ordered(attribute.key, operator, bound))
    return Truth(yes, Compare(attribute.key, "!=" if operator == "=" else "=", bound))


def _plain(key: str, operator: str, value: Literal) -> Truth:
    if operator in _ORDERS:
        return Truth(NEVER, _is_present(key)) if isinstance(value, bool) else is_ordered(key, operator, value)
    same = is_value(key, value)
    truth = Truth(same.yes, And((same.no, Not(IsNull(key)))))
    return truth if operator == "=" else truth.negated()


def _when(known: Expression, *, value: bool) -> Truth:
    """True or false where something is known."""
    return Truth(known, NEVER) if value else Truth(NEVER, known)


def _is_number(key: str) -> Expression:
    return Or((Compare(key, "<=", 0), Compare(key, ">", 0)))


def _is_missing(key: str) -> Expression:
    return Not(Exists(key))


def _is_text(key: str) -> Expression:
    return Compare(key, ">=", "")


def _is_boolean(key: str) -> Expression:
    return In(key, (True, False))


_TYPES = (_is_boolean, _is_number, _is_text)


def _is_present(key: str) -> Expression:
    return Not(IsNull(key))


def is_one_of(subject: Operand, members: list[Operand]) -> Truth:
    """`subject IN (members)`: unknown only if the subject is; an unknown member is equal to nothing."""
    if subject is None:
        return _UNKNOWN
    known = [each.quoted if isinstance(each, Term) and each.quoted else each for each in members]
    known = [each for each in known if each is not None]
    values = [literal_of(each) for each in known if not isinstance(each, (Term, Operation))]
    if isinstance(subject, Term) and subject.is_plain and values and len(values) == len(known):
        others = tuple(Distinct(subject.key, each) for each in values)
        return Truth(In(subject.key, tuple(values)), And((Not(IsNull(subject.key)), *others)))
    return Truth.any_of(
        [_is_member(subject, each) for each in known] or [_when(_known(subject), value=False)]
    )


def _is_member(subject: Operand, member: Operand) -> Truth:
    truth = compared(subject, "=", member)
    if not isinstance(member, (Term, Operation)):
        return truth
    if isinstance(truth.yes, Compare) and not isinstance(subject, (Term, Operation)):
        key = truth.yes.key
        return Truth(truth.yes, Or((Not(Exists(key)), Distinct(key, truth.yes.value))))
    return Truth(truth.yes, Or((truth.no, And((_known(subject), _unknown(member))))))
