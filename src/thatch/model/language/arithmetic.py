"""Arithmetic in text: constants, terms, which are one attribute with arithmetic around it, and formulas, which are all other.

It is carried out on decimals as they are written. That of a term is moved to the other side of a comparison:
`price * 2 + 1 > 10` is `price > 4.5`. What is left there becomes an integer, or the nearest double, as if it had been
written there.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from thatch.model.formulas import Formula, Numeral, Operation, Variable, calculated
from thatch.model.language.truths import FLIPPED
from thatch.model.lines import Literal
from thatch.model.values import MAX_INTEGER, MIN_INTEGER, canonical_number

__all__ = ["Constant", "Operand", "Term", "bound_of", "combined", "formula_of", "literal_of", "signed"]

Constant = Fraction | str | bool | None  # None is unknown
_MOST_BITS = 10_000  # of a number while arithmetic is carried out


@dataclass(frozen=True, slots=True)
class Term:
    """`factor * key + offset`; a plain one has no arithmetic around it, and may be any value."""

    key: str
    factor: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)
    is_plain: bool = True
    quoted: str | None = None  # the text, if it stands in double quotes

    def formula(self) -> Formula:
        """The same as a formula."""
        found: Formula = Variable(self.key)
        if self.factor.numerator == 1 and self.factor != 1:
            found = Operation("/", found, Numeral(Fraction(self.factor.denominator)))
        elif self.factor != 1:
            found = Operation("*", found, _number(self.factor))
        if not self.offset:
            return found
        return Operation("+" if self.offset > 0 else "-", found, _number(abs(self.offset)))

    def scaled(self, factor: Fraction) -> Term:
        """Times a constant."""
        return Term(self.key, self.factor * factor, self.offset * factor, is_plain=False)

    def plus(self, other: Term) -> Term:
        """Plus a term of the same attribute."""
        return Term(self.key, self.factor + other.factor, self.offset + other.offset, is_plain=False)

    def shifted(self, offset: Fraction) -> Term:
        """Plus a constant."""
        return Term(self.key, self.factor, self.offset + offset, is_plain=False)


Operand = Term | Operation | Constant


def _number(value: Fraction) -> Formula:
    """A number as a formula: one that is no decimal as a fraction."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest == 1:
        return Numeral(value)
    return Operation("/", Numeral(Fraction(value.numerator)), Numeral(Fraction(value.denominator)))


def formula_of(operand: Term | Operation | Fraction) -> Formula:
    """An operand as a formula."""
    if isinstance(operand, Term):
        return operand.formula()
    return operand if isinstance(operand, Operation) else _number(operand)


def literal_of(constant: Constant) -> Literal:
    """A constant as a literal of a filter; raises `OverflowError` beyond the doubles."""
    if not isinstance(constant, Fraction):
        return constant
    if constant.denominator == 1 and MIN_INTEGER <= constant <= MAX_INTEGER:
        return int(constant)
    return canonical_number(float(constant))


def signed(operand: Operand, sign: str) -> Operand:
    """`+` or `-` before an operand; unknown if it is no number."""
    factor = Fraction(-1 if sign == "-" else 1)
    if isinstance(operand, Term):
        return operand.scaled(factor)
    if isinstance(operand, Operation):
        return Operation("*", Numeral(factor), operand) if sign == "-" else operand
    return operand * factor if isinstance(operand, Fraction) else None


def combined(left: Operand, sign: str, right: Operand) -> Operand:
    """`left sign right`, unknown if that has no value; raises `OverflowError` if it has too many digits."""
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
    if any(each is None or isinstance(each, (str, bool)) for each in (left, right)):
        return None
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return calculated(left, sign, right)
    if isinstance(left, Term) and isinstance(right, Term) and left.key == right.key and sign in "+-":
        return left.plus(right if sign == "+" else right.scaled(Fraction(-1)))
    if isinstance(left, Term) and isinstance(right, Fraction) and sign != "%":
        return _around(left, sign, right)
    if isinstance(left, Fraction) and isinstance(right, Term) and sign in "+-*":
        return right.scaled(left) if sign == "*" else _signed_term(right, sign).shifted(left)
    return Operation(sign, formula_of(left), formula_of(right))  # type: ignore[arg-type]  # the rest has no such type


def _signed_term(term: Term, sign: str) -> Term:
    """A term behind a sign."""
    return term.scaled(Fraction(1 if sign == "+" else -1))


def _around(term: Term, sign: str, constant: Fraction) -> Operand:
    """Arithmetic of an attribute and a constant behind it."""
    if sign in "+-":
        return term.shifted(constant if sign == "+" else -constant)
    if sign == "/":
        return term.scaled(1 / constant) if constant else None
    return term.scaled(constant)


def bound_of(term: Term, operator: str, constant: Fraction) -> tuple[str, Literal]:
    """How the attribute itself compares, and with what, where a term with an attribute in it compares so with a constant."""
    rest = literal_of((constant - term.offset) / term.factor)
    return (FLIPPED[operator] if term.factor < 0 else operator), rest
