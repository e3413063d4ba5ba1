"""Arithmetic in filter text without a word before it: `price * 2 > 10` is an interval, `price * quantity > 500` a formula."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise

from thatch.errors import FilterError, FilterTooLargeError
from thatch.model.expressions import Compare, Expression, compare_formulas
from thatch.model.formulas import Formula, Numeral, Variable
from thatch.model.language.arithmetic import Operand, Term, bound_of, combined
from thatch.model.language.formulas import read_sum
from thatch.model.language.reading import COMPARISONS, Reader

__all__ = ["SumReader"]

_SIGNS = frozenset("+-*/%")
_PARTS = frozenset("+-*/%()")
_NO_SIGN = frozenset(("like", *COMPARISONS))  # after a bracket and a name
_DASHED = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*(?:-[A-Za-z_][A-Za-z0-9_.]*)+")
_MOST_LOOKED_AT = 1_000  # tokens, to see whether a bracket is one of arithmetic


class SumReader(Reader):
    """Reads comparisons with arithmetic."""

    __slots__ = ("_dashed",)

    def __init__(self, text: str, tokens: list[str] | None = None) -> None:
        super().__init__(text, tokens)
        self._dashed: set[str] | None = None

    def goes_on(self, ahead: int = 0) -> bool:
        """Whether what comes next, or after so many tokens, carries on with arithmetic: an operator, or a number with a sign."""
        token = self.tokens[self.index + ahead]
        return token in _SIGNS or (token[:1] in ("+", "-") and token[1:2].isdigit())

    def starts_sum(self) -> bool:
        """Whether a condition with arithmetic begins here."""
        token = self.tokens[self.index]
        if token == "(":
            return self._is_bracketed_sum()
        if token[:1].isdigit() or token[:1] in ("+", "-", "."):
            return self._has_attribute()
        return (token[:1].isalpha() or token[:1] in ("_", '"')) and self.goes_on(1) and not self._is_dashed()

    def _is_dashed(self) -> bool:
        """Whether `detail-type` comes next: more likely a name that needs quotes than a difference, which has blanks."""
        first, sign, second = self.tokens[self.index : self.index + 3]
        if sign != "-" or not (second[:1].isalpha() or second[:1] == "_"):
            return False
        if self._dashed is None:
            parts = [each.split("-") for each in _DASHED.findall(self.text)]
            self._dashed = {f"{one}-{other}" for each in parts for one, other in pairwise(each)}
        return f"{first}-{second}" in self._dashed

    def _is_bracketed_sum(self) -> bool:
        """Whether an open bracket holds arithmetic, and no condition."""
        if self.tokens[self.index + 1] and self.tokens[self.index + 2] in _NO_SIGN:
            return False  # as it is with most
        depth = 0
        for at in range(self.index, min(self.index + _MOST_LOOKED_AT, len(self.tokens) - 1)):
            token = self.tokens[at]
            depth += (token == "(") - (token == ")")
            if not depth:
                following = self.tokens[at + 1]
                return following in _SIGNS or following in COMPARISONS or following[:1] in ("+", "-")
            if token not in _PARTS and not (token[:1].isalnum() or token[:1] in '_."+-'):
                return False
        return False

    def _has_attribute(self) -> bool:
        """Whether a name stands before the comparison; a number alone there is refused elsewhere."""
        for at in range(self.index, min(self.index + _MOST_LOOKED_AT, len(self.tokens))):
            token = self.tokens[at]
            if token in COMPARISONS or not token:
                return False
            if token[:1].isalpha() or token[:1] in ("_", '"'):
                return True
        return False

    def compared_sums(self) -> Expression:
        """A comparison with arithmetic on one or both sides."""
        begin = self.index
        left = read_sum(self)
        operator = COMPARISONS.get(self.tokens[self.index])
        if operator is None:
            self.refuse("a comparison such as `=`, `<` or `>=` after arithmetic")
        self.index += 1
        right = read_sum(self)
        end, self.index = self.index, begin
        found = self._compared_formulas(left, operator, right)
        self.index = end
        return found

    def _compared_formulas(self, left: Formula, operator: str, right: Formula) -> Expression:  # noqa: RET503 - `refuse` raises
        """A condition on the attribute itself if there is one, with everything else moved to its right."""
        try:
            formula = compare_formulas(left, operator, right)
            whole = combined(_folded(left), "-", _folded(right))
            if not isinstance(whole, (Term, Fraction)) and whole is not None:
                return formula
            if isinstance(whole, Term) and whole.factor:
                operator, bound = bound_of(whole, operator, Fraction(0))
                return Compare(whole.key, operator, bound)
        except FilterTooLargeError:
            raise
        except FilterError as error:
            self.refuse(error.expected)
        except OverflowError:
            self.refuse("arithmetic whose result is in the range of a double")
        if whole is None:
            self.refuse("a divisor other than 0")
        self.refuse("a comparison that an attribute decides", "The arithmetic leaves no attribute in it.")


def _folded(formula: Formula) -> Operand:
    """A formula with its constants worked out; of one attribute, multiplied and added to, a term."""
    if isinstance(formula, Variable):
        return Term(formula.key)
    if isinstance(formula, Numeral):
        return formula.value
    return combined(_folded(formula.left), formula.sign, _folded(formula.right))
