"""Queries of Elasticsearch and OpenSearch to an expression, as those that percolators keep.

    query  = {"term" | "terms" | "range" | "prefix" | "wildcard" | "regexp" | "match_phrase": {field: …}}
           | {"exists": {"field": field}} | {"ids": {"values": […]}} | {"match_all": {}} | {"match_none": {}}
           | {"bool": {"must" | "filter" | "should" | "must_not": query or [query, …], "minimum_should_match": …}}
           | {"constant_score": {"filter": query}} | {"dis_max": {"queries": [query, …]}}
           | {"nested": {"path": field, "query": query}}

All of `must` and `filter` and none of `must_not` hold, and as many of `should` as are asked: by default one where there
is neither `must` nor `filter`. Values compare as their JSON types say; text is compared as a whole, as in a `keyword`
field. `must_not` also holds where the field is missing. Every other query is refused, with the path to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from thatch.errors import FilterError, PatternError, ThatchError, shown
from thatch.model.derived import canonical_literal, fold
from thatch.model.expressions import Distinct, Expression, In
from thatch.model.grouping import MAX_LEAVES
from thatch.model.language.json_places import told_places
from thatch.model.language.lucene import re2_of_lucene
from thatch.model.language.minimum import at_least, least_of
from thatch.model.language.patterns import pattern_of_json
from thatch.model.language.truths import Truth, is_form, is_value, only_present, or_missing, order_or_missing
from thatch.model.lines import Literal
from thatch.model.names import derived_key, key_of
from thatch.model.regexes import regex
from thatch.model.values import is_text, read_scalar
from thatch.model.wildcards import escape_wildcard, wildcard

__all__ = ["expression_of_query"]

_MAX_NESTING = 64
_ORDERS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_UNSAID = ("boost", "_name")  # say nothing about what matches
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_PIECE = re.compile(r"\\(.)|([*?])|([^\\*?]+|\\)", re.DOTALL)


def expression_of_query(query: str | Mapping[str, Any]) -> Expression:
    """The expression of a query, given as an object or as JSON text; `{"query": …}` around it is allowed.

    Raises `PatternError` if it is none that can be read; `where` is the path into it.
    """
    if not isinstance(query, str):
        return _whole(query)
    with told_places(query):
        return _whole(pattern_of_json(query))


def _whole(query: Any) -> Expression:
    if isinstance(query, Mapping) and [*query] == ["query"]:
        return _query(query["query"], "query", 0).yes
    return _query(query, "", 0).yes


def _query(query: Any, where: str, depth: int) -> Truth:
    if depth > _MAX_NESTING:
        raise PatternError(f"The query has more than {_MAX_NESTING} levels of nesting", where=where[:80])
    name, body = _single(_object(query, where), "a query with one name", where)
    place = f"{where}.{name}" if where else name
    if name in _COMPOUND:
        return _COMPOUND[name](_object(body, place), place, depth)
    if name not in _QUERIES:
        raise PatternError(f"one of {', '.join((*_COMPOUND, *_QUERIES))}", f"the query {shown(name)}", where)
    return _QUERIES[name](_object(body, place), place)


# --- queries of queries --------------------------------------------------------------------------------------------------------


def _bool(body: Mapping[str, Any], where: str, depth: int) -> Truth:
    parts: dict[str, list[Truth]] = {"must": [], "filter": [], "must_not": [], "should": []}
    for name, value in body.items():
        if name in parts:
            parts[name] = _clauses(value, f"{where}.{name}", depth)
        elif name != "minimum_should_match" and name not in _UNSAID:
            expected = ", ".join((*parts, "minimum_should_match"))
            raise PatternError(f"one of {expected}", shown(name), where)
    needed = [*parts["must"], *parts["filter"], *(each.negated() for each in parts["must_not"])]
    asked = body.get("minimum_should_match")
    place = f"{where}.minimum_should_match"
    least = 0 if asked is None else least_of(asked, len(parts["should"]), place)
    if parts["should"] and not parts["must"] and not parts["filter"]:
        least = max(least, 1)  # where nothing else finds a document, one of these must
    if least:
        needed.append(at_least(parts["should"], least, place))
    return Truth.all_of(needed) if needed else Truth.of(value=True)


def _constant_score(body: Mapping[str, Any], where: str, depth: int) -> Truth:
    return _query(_options(body, where, "filter")["filter"], f"{where}.filter", depth + 1)


def _dis_max(body: Mapping[str, Any], where: str, depth: int) -> Truth:
    parts = _clauses(_options(body, where, "queries", "tie_breaker")["queries"], f"{where}.queries", depth)
    return Truth.any_of(parts) if parts else Truth.of(value=False)


def _nested(body: Mapping[str, Any], where: str, depth: int) -> Truth:
    """A query on the objects of a list: those are chosen as a whole anyway."""
    options = _options(body, where, "query", "path", "score_mode", "ignore_unmapped")
    _name(options.get("path"), f"{where}.path")
    return _query(options["query"], f"{where}.query", depth + 1)


def _options(body: Mapping[str, Any], where: str, *names: str) -> Mapping[str, Any]:
    """The options of a query, of which the first must be given."""
    for each in body:
        if each not in (*names, *_UNSAID):
            raise PatternError(f"one of {', '.join(names)}", shown(each), where)
    if names[0] not in body:
        raise PatternError(f"`{names[0]}`", shown(body), where)
    return body


def _clauses(value: Any, where: str, depth: int) -> list[Truth]:
    """The queries of one clause: an array, or a single one."""
    if not isinstance(value, (list, tuple)):
        return [_query(value, where, depth + 1)]
    if len(value) > MAX_LEAVES:
        raise PatternError(f"at most {MAX_LEAVES:,} queries", f"{len(value):,}", where)
    return [_query(each, f"{where}[{index}]", depth + 1) for index, each in enumerate(value)]


# --- queries on one field ----------------------------------------------------------------------------------------


def _term(body: Mapping[str, Any], where: str) -> Truth:
    key, options, where = _field(body, where, "value")
    value = _literal(key, options["value"], where)
    if _ignores_case(options, where) and isinstance(value, str):
        key, value = derived_key(("lower",), key), fold(value)
    return or_missing(key, is_value(key, value))


def _terms(body: Mapping[str, Any], where: str) -> Truth:
    name, values = _single(
        {key: each for key, each in body.items() if key not in _UNSAID}, "one field", where
    )
    place = f"{where}.{name}"
    if not isinstance(values, (list, tuple)):
        raise PatternError("an array of values", shown(values), place)
    key = key_of(_name(name, where))
    if len(values) > MAX_LEAVES:
        raise PatternError(f"at most {MAX_LEAVES:,} values", f"{len(values):,}", place)
    literals = tuple(_literal(key, each, f"{place}[{index}]") for index, each in enumerate(values))
    if not literals:
        return Truth.of(value=False)
    others = Truth.all_of(Truth(Distinct(key, each), In(key, (each,))) for each in literals)
    return or_missing(key, Truth(In(key, literals), others.yes))


def _range(body: Mapping[str, Any], where: str) -> Truth:
    name, options = _single(body, "one field", where)
    place = f"{where}.{name}"
    key, parts = key_of(_name(name, where)), []
    for each, value in _object(options, place).items():
        if each in _ORDERS and value is None:
            continue  # no bound
        if each in _ORDERS:
            parts.append(_order(key, _ORDERS[each], value, f"{place}.{each}"))
        elif each not in _UNSAID:
            raise PatternError(f"one of {', '.join(_ORDERS)}", shown(each), place)
    return Truth.all_of(parts) if parts else only_present(key)


def _ids(body: Mapping[str, Any], where: str) -> Truth:
    return _terms({"_id": _options(body, where, "values")["values"]}, where)


def _match_phrase(body: Mapping[str, Any], where: str) -> Truth:
    key, options, where = _field(body, where, "query", also=("analyzer", "slop", "zero_terms_query"))
    return or_missing(key, is_value(key, _literal(key, options["query"], where)))


def _regexp(body: Mapping[str, Any], where: str) -> Truth:
    more = ("flags", "case_insensitive", "max_determinized_states", "rewrite")
    key, options, where = _field(body, where, "value", also=more)
    text, flags = options["value"], options.get("flags", "ALL")
    if not isinstance(text, str) or not is_text(text):
        raise PatternError("text", shown(text), where)
    if flags not in ("ALL", "NONE", ""):
        raise PatternError("ALL or NONE", shown(flags), f"{where}.flags")
    try:
        ignores_case = _ignores_case(options, where)
        pattern = regex(re2_of_lucene(text, has_options=flags != "NONE", ignores_case=ignores_case))
    except PatternError:
        raise
    except FilterError as error:
        raise PatternError(error.expected, error.got, where) from None
    except ValueError as error:
        raise PatternError(str(error), shown(text), where) from None
    return or_missing(key, is_form(key, pattern))


def _order(key: str, operator: str, value: Any, where: str) -> Truth:
    literal = _literal(key, value, where)
    if isinstance(literal, bool):
        raise PatternError("a number or text", shown(value), where)
    if isinstance(literal, str) and (
        literal == "now" or literal[:4] in ("now-", "now+", "now/") or "||" in literal
    ):
        raise PatternError("a fixed time: one that moves with the clock is no filter", shown(value), where)
    if isinstance(literal, str) and _MOMENT.match(literal):
        key = derived_key(("time",), key)
        literal = _literal(key, literal, where)
    return order_or_missing(key, operator, literal)


def _prefix(body: Mapping[str, Any], where: str) -> Truth:
    return _like(body, where, ("value",), lambda text: escape_wildcard(text) + "%")


def _wildcard(body: Mapping[str, Any], where: str) -> Truth:
    return _like(body, where, ("value", "wildcard"), _form_of)


def _like(body: Mapping[str, Any], where: str, names: tuple[str, ...], form: Callable[[str], str]) -> Truth:
    key, options, where = _field(body, where, *names)
    text = next(options[name] for name in names if name in options)
    if not isinstance(text, str) or not is_text(text):
        raise PatternError("text", shown(text), where)
    if _ignores_case(options, where):
        key, text = derived_key(("lower",), key), fold(text)
    return or_missing(key, is_form(key, wildcard(form(text))))


def _form_of(text: str) -> str:
    """A pattern with `*` and `?` as one of Thatch."""
    return "".join(
        {"*": "%", "?": "_"}[sign] if sign else escape_wildcard(escaped or plain)
        for escaped, sign, plain in _PIECE.findall(text)
    )


def _exists(body: Mapping[str, Any], where: str) -> Truth:
    name, value = _single({key: each for key, each in body.items() if key not in _UNSAID}, "a field", where)
    if name != "field":
        raise PatternError("`field`", shown(name), where)
    return only_present(key_of(_name(value, f"{where}.field")))


def _always(body: Mapping[str, Any], where: str) -> Truth:
    return _nothing_in(body, where, Truth.of(value=True))


def _never(body: Mapping[str, Any], where: str) -> Truth:
    return _nothing_in(body, where, Truth.of(value=False))


def _nothing_in(body: Mapping[str, Any], where: str, truth: Truth) -> Truth:
    for name in body:
        if name not in _UNSAID:
            raise PatternError("an empty object", shown(name), where)
    return truth


_QUERIES: dict[str, Callable[[Mapping[str, Any], str], Truth]] = {
    "term": _term,
    "terms": _terms,
    "range": _range,
    "prefix": _prefix,
    "wildcard": _wildcard,
    "regexp": _regexp,
    "match_phrase": _match_phrase,
    "ids": _ids,
    "exists": _exists,
    "match_all": _always,
    "match_none": _never,
}
_COMPOUND: dict[str, Callable[[Mapping[str, Any], str, int], Truth]] = {
    "bool": _bool,
    "constant_score": _constant_score,
    "dis_max": _dis_max,
    "nested": _nested,
}


# --- parts of queries --------------------------------------------------------------------------------------------


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise PatternError("an object", shown(value), where)
    return value


def _single(body: Mapping[str, Any], expected: str, where: str) -> tuple[str, Any]:
    if len(body) != 1:
        raise PatternError(expected, "an empty object" if not body else f"{len(body)} names", where)
    ((name, value),) = body.items()
    if not isinstance(name, str):
        raise PatternError("names as text", shown(name), where)
    return name, value


def _name(name: Any, where: str) -> str:
    """The name of one field."""
    if not isinstance(name, str) or not name or not is_text(name) or "*" in name:
        raise PatternError("the name of one field", shown(name), where)
    return name


def _field(
    body: Mapping[str, Any], where: str, *names: str, also: tuple[str, ...] = ("case_insensitive", "rewrite")
) -> tuple[str, Mapping[str, Any], str]:
    """The key of the only field, its options, of which one of `names` is given, and the path to them."""
    name, options = _single(body, "one field", where)
    place = f"{where}.{name}"
    if not isinstance(options, Mapping):
        options = {names[0]: options}
    for each in options:
        if each not in (*names, *_UNSAID, *also):
            raise PatternError(f"one of {', '.join((*names, *also))}", shown(each), place)
    if sum(each in options for each in names) != 1:
        raise PatternError(f"one `{names[0]}`", shown(options), place)
    return key_of(_name(name, where)), options, place


def _ignores_case(options: Mapping[str, Any], where: str) -> bool:
    value = options.get("case_insensitive", False)
    if not isinstance(value, bool):
        raise PatternError("true or false", shown(value), f"{where}.case_insensitive")
    return value


def _literal(key: str, value: Any, where: str) -> Literal:
    try:
        literal = canonical_literal(key, read_scalar(value, where))
    except ThatchError as error:
        raise PatternError("text, a number, true or false", shown(value), where) from error
    if literal is None or literal in (float("inf"), float("-inf")):
        raise PatternError("text, a number, true or false", shown(value), where)
    return literal
