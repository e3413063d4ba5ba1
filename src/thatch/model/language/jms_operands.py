"""What stands beside an operator of a JMS selector: constants, and terms, which are one attribute with arithmetic around it.

Arithmetic is carried out on decimals as they are written, and moved to the other side of a comparison:
`price * 2 + 1 > 10` is `price > 4.5`. What is left there becomes an integer, or the nearest double.
"""

from __future__ import annotations

from dataclasses import dataclass
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
)
from thatch.model.language.truths import FLIPPED, NEVER, Truth, is_ordered, is_value, not_ordered
from thatch.model.lines import Literal
from thatch.model.values import MAX_INTEGER, MIN_INTEGER, canonical_number

__all__ = ["Operand", "Term", "combined", "compared", "is_one_of", "signed"]

Constant = Fraction | str | bool | None  # None is unknown
_ORDERS = ("<", "<=", ">", ">=")
_MOST_BITS = 10_000  # of a number while arithmetic is carried out
_UNKNOWN = Truth(NEVER, NEVER)


@dataclass(frozen=True, slots=True)
class Term:
    """`factor * key + offset`; a plain one has no arithmetic around it, and may be any value."""

    key: str
    factor: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)
    is_plain: bool = True
    quoted: str | None = None  # the text, if it stands in double quotes

    def condition(self) -> Truth:
        """The attribute where a condition stands: unknown if it is no boolean."""
        if not self.is_plain:
            return _UNKNOWN
        yes, no = (Compare(self.key, "=", value) for value in (True, False))
        return Truth(yes, no)

    def scaled(self, factor: Fraction) -> Term:
        """Times a constant."""
        return Term(self.key, self.factor * factor, self.offset * factor, is_plain=False)

    def plus(self, other: Term) -> Term:
        """Plus a term of the same attribute."""
        return Term(self.key, self.factor + other.factor, self.offset + other.offset, is_plain=False)

    def shifted(self, offset: Fraction) -> Term:
        """Plus a constant."""
        return Term(self.key, self.factor, self.offset + offset, is_plain=False)


Operand = Term | Constant


def literal_of(constant: Constant) -> Literal:
    """A constant as a literal of a filter; raises `OverflowError` beyond the doubles."""
    if not isinstance(constant, Fraction):
        return constant
    if constant.denominator == 1 and MIN_INTEGER <= constant <= MAX_INTEGER:
        return int(constant)
    return canonical_number(float(constant))


# --- arithmetic --------------------------------------------------------------------------------------------------


def signed(operand: Operand, sign: str) -> Operand:
    """`+` or `-` before an operand; unknown if it is no number."""
    factor = Fraction(-1 if sign == "-" else 1)
    if isinstance(operand, Term):
        return operand.scaled(factor)
    return operand * factor if isinstance(operand, Fraction) else None


def combined(left: Operand, sign: str, right: Operand) -> Operand:
    """`left sign right`, unknown if that has no value.

    Raises `ValueError`, with the reason, if it is no interval, and `OverflowError` if it has too many digits.
    """
    found = _combined(left, sign, right)
    parts = (found.factor, found.offset) if isinstance(found, Term) else (found,)
    for each in parts:
        if (
            isinstance(each, Fraction)
            and max(each.numerator.bit_length(), each.denominator.bit_length()) > _MOST_BITS
        ):
            raise OverflowError
    return found


def _combined(left: Operand, sign: str, right: Operand) -> Operand:
    if isinstance(left, Term) and isinstance(right, Term):
        if left.key != right.key or sign not in "+-":
            raise ValueError("arithmetic on one attribute and constants: two attributes cannot be combined")
        return left.plus(right.scaled(Fraction(1 if sign == "+" else -1)))
    if isinstance(left, Term) or isinstance(right, Term):
        return _around(left, sign, right)
    if not isinstance(left, Fraction) or not isinstance(right, Fraction):
        return None
    if sign in "+-*":
        return left + right if sign == "+" else left - right if sign == "-" else left * right
    if not right:
        return None
    if sign == "/":
        return left / right
    if left.denominator != 1 or right.denominator != 1:
        return None
    rest = abs(left) % abs(right)
    return rest if left >= 0 else -rest  # as computers do: the sign is that of the first


def _around(left: Operand, sign: str, right: Operand) -> Operand:
    """Arithmetic of one attribute and one constant."""
    if sign == "%":
        raise ValueError("arithmetic with + - * and /: the remainder of an attribute is no range of values")
    if isinstance(left, Term):
        if not isinstance(right, Fraction):
            return None
        if sign in "+-":
            return left.shifted(right if sign == "+" else -right)
        if sign == "/":
            return left.scaled(1 / right) if right else None
        return left.scaled(right)
    if sign == "/":
        raise ValueError("arithmetic with an attribute above the `/`: nothing can be divided by an attribute")
    if not isinstance(left, Fraction) or not isinstance(right, Term):
        return None
    return (
        right.scaled(left) if sign == "*" else right.scaled(Fraction(1 if sign == "+" else -1)).shifted(left)
    )


# --- comparisons -------------------------------------------------------------------------------------------------


def compared(left: Operand, operator: str, right: Operand) -> Truth:
    """A comparison; raises `ValueError`, with the reason, if it is between two attributes."""
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
            raise ValueError(
                "an attribute beside a constant: two attributes with arithmetic cannot be compared"
            )
    if isinstance(left, Term):
        return _UNKNOWN if right is None or isinstance(right, Term) else _beside(left, operator, right)
    if isinstance(right, Term):
        return _UNKNOWN if left is None else _beside(right, FLIPPED[operator], left)
    if left is None or right is None:
        return _UNKNOWN
    return Truth.of(value=_holds(left, operator, right))


def _beside_itself(left: Term, operator: str, right: Term) -> Truth:
    """A comparison of an attribute with itself, perhaps with arithmetic."""
    if not left.is_plain or not right.is_plain:
        difference = left.plus(right.scaled(Fraction(-1)))
        unequal = (
            Or((_is_text(left.key), _is_boolean(left.key))) if left.is_plain or right.is_plain else NEVER
        )  # text beside a number
        truth = _beside(difference, operator, Fraction(0))
        return (
            Truth(Or((truth.yes, unequal)), truth.no)
            if operator == "!="
            else Truth(truth.yes, Or((truth.no, unequal)))
        )
    number = _when(_is_number(left.key), value=operator in ("=", "<=", ">="))
    text = _when(_is_text(left.key), value=operator in ("=", "<=", ">="))
    boolean = _when(_is_boolean(left.key), value=operator == "=")
    parts = (number, text, boolean)
    return Truth(Or(tuple(each.yes for each in parts)), Or(tuple(each.no for each in parts)))


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
    rest = constant - attribute.offset
    if not attribute.factor:
        return _when(number, value=_holds(Fraction(0), operator, rest))
    if attribute.factor < 0:
        operator = FLIPPED[operator]
    bound = literal_of(rest / attribute.factor)
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
    if not isinstance(subject, Term):
        return Truth.any_of(_equals(each, subject) for each in members)
    known = [each.quoted if isinstance(each, Term) and each.quoted else each for each in members]
    known = [each for each in known if each is not None]
    values = [literal_of(each) for each in known if not isinstance(each, Term)]
    if not subject.is_plain or not values or len(values) < len(known):
        return Truth.any_of([_is_member(subject, each) for each in known] or [_UNKNOWN])
    key = subject.key
    others = tuple(Distinct(key, each) for each in values)
    return Truth(In(key, tuple(values)), And((Not(IsNull(key)), *others)))


def _is_member(subject: Term, member: Operand) -> Truth:
    truth = compared(subject, "=", member)
    if not isinstance(member, Term):
        return truth
    known = _is_present(subject.key) if subject.is_plain else _is_number(subject.key)
    others = () if member.is_plain else (_is_text(member.key), _is_boolean(member.key))
    unknown = Or((Not(Exists(member.key)), IsNull(member.key), *others))
    return Truth(truth.yes, Or((truth.no, And((known, unknown)))))


def _equals(member: Operand, constant: Constant) -> Truth:
    """Whether a member of `IN` equals a constant: false where the member is unknown."""
    truth = compared(member, "=", constant)
    if isinstance(member, Term) and isinstance(truth.yes, Compare):
        key = member.key
        return Truth(truth.yes, Or((Not(Exists(key)), Distinct(key, truth.yes.value))))
    return Truth.of(value=False) if truth.yes == NEVER else truth
