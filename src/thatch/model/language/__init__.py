"""The ways to write a filter: SQL-style text, JSON patterns and Python expressions; and the languages of other systems.

A language of another system is a module with a function `expression_of`, imported when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thatch.errors import FilterError, SchemaError, shown
from thatch.model.expressions import Expression
from thatch.model.filters import Filter
from thatch.model.language.patterns import expression_of_source
from thatch.model.language.quick import quick_conjunction
from thatch.model.language.quick_patterns import quick_pattern
from thatch.model.language.reading import tokens_of
from thatch.model.language.registry import LANGUAGES, language_called
from thatch.model.language.text import MAX_LENGTH, expression_of_text
from thatch.model.schema import Schema
from thatch.model.values import is_text

__all__ = ["LANGUAGES", "FilterSource", "expression_of", "parse"]

FilterSource = str | Mapping[str, Any] | Expression | Filter


def expression_of(source: str | Mapping[str, Any] | Expression) -> Expression:
    """The expression of a filter text, a JSON pattern (an object, or its JSON text) or a Python expression."""
    if isinstance(source, str):
        return expression_of_source(source) if _is_pattern(source) else expression_of_text(source)
    if isinstance(source, Mapping):
        return expression_of_source(source)
    if isinstance(source, Expression):
        return source
    raise FilterError(
        "filter text, a JSON pattern or a Python expression",
        f"{shown(source)} of type {type(source).__name__}",
    )


def _is_pattern(source: str) -> bool:
    first = source[:1]
    return first == "{" or (first.isspace() and source.lstrip()[:1] == "{")


def parse(
    source: FilterSource,
    schema: Schema | None = None,
    *,
    language: str | None = None,
    pipeline: Any = None,
) -> Filter:
    """The filter of a text, a JSON pattern or a Python expression; a filter is returned as it is.

    Parameters
    ----------
    source : SQL-style text; an EventBridge-style pattern as an object or as JSON text; or a Python expression
    schema : declared types; a filter that already has another schema is refused
    language : the language of the source, one of `LANGUAGES`; None for SQL-style text and patterns
    pipeline : with `language="sigma"`, a processing pipeline of pySigma that the rule passes through first

    Raises
    ------
    FilterError
        If the source is not a filter, can never match or is too large. The subclass says which.

    Examples
    --------
    >>> print(parse("symbol = 'IBM' and price < 150"))
    price < 150 and symbol = 'IBM'
    >>> print(parse({"detail": {"price": [{"numeric": [">", 100]}]}}))
    detail.price > 100
    """
    if schema is not None and not isinstance(schema, Schema):
        raise SchemaError("a thatch.Schema", shown(schema))
    if isinstance(source, Filter):
        if source.schema != schema:
            raise SchemaError(f"a filter with the schema {shown(schema)}", f"one with {shown(source.schema)}")
        return source
    if pipeline is not None and language is None:
        raise FilterError("the language that the `pipeline` is for", "none", "language")
    if language is not None and isinstance(source, (str, Mapping)):
        return Filter.of(language_called(language).read(source, pipeline), schema)
    if isinstance(source, str) and len(source) <= MAX_LENGTH and is_text(source) and not _is_pattern(source):
        tokens = tokens_of(source)
        conjunction = quick_conjunction(tokens) if schema is None and " or " not in source else None
        if conjunction is not None:
            return Filter((conjunction,), None, ())
        return Filter.of(expression_of_text(source, tokens), schema)
    if schema is None and type(source) is dict:
        conjunction = quick_pattern(source)
        if conjunction is not None:
            return Filter((conjunction,), None, ())
    return Filter.of(expression_of(source), schema)
