"""Sigma rules and collections of them: YAML in, expressions and what else is known of each rule out.

The documents of a file are one collection: `action: global`, `reset` and `repeat` mean what they do to pySigma, and
filters apply to the rules of all files that are read together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from sigma.collection import deep_dict_update
from sigma.filters import SigmaFilter
from sigma.rule import SigmaRule

from thatch.errors import FilterError, FilterTooLargeError, shown
from thatch.model.expressions import Expression
from thatch.model.language.found import FoundRule
from thatch.model.language.sigma.documents import Document, documents_of, exact
from thatch.model.language.sigma.reading import check_pipeline, expression_of_rule, filter_of, rule_of
from thatch.model.language.sigma.refusing import where_in
from thatch.model.values import is_text

__all__ = ["expression_of_sigma", "rules_of_sigma"]

_MOST_MERGED = 300_000  # values in all the rules of a text that actions put together
_CORRELATION = (
    "A correlation of several events is no filter: match its rules, and count the matches with thatch.Window "
    "(docs/how-to/windows.md)"
)


class _Read(NamedTuple):
    """A document of a collection, the value it has come to stand for, and the rule, filter or error that this is."""

    document: Document
    value: Mapping[str, Any]
    found: SigmaRule | SigmaFilter | FilterError


def expression_of_sigma(source: str | Mapping[str, Any], pipeline: Any = None) -> Expression:
    """The expression of one rule, as YAML text or as an object.

    Raises
    ------
    FilterError
        If it is no rule that can be read; the subclass says more, and `where` names the rule and the place in it.
    """
    check_pipeline(pipeline)
    if isinstance(source, str):
        if not is_text(source):
            raise FilterError("YAML text without lone surrogates", shown(source))
        found = [*_collection(source)]
    elif isinstance(source, Mapping):
        found = [_read(_plain(source), Document(source))]
    else:
        raise FilterError(
            "a Sigma rule as text or as an object", f"{shown(source)} of type {type(source).__name__}"
        )
    rules = [each for each in found if not isinstance(each.found, SigmaFilter)]
    if len(rules) != 1:
        raise FilterError("one Sigma rule", f"{len(rules):,}" if rules else "none")
    return _expression(rules[0], _filters(found), pipeline)


def rules_of_sigma(texts: Iterable[tuple[str, str]], pipeline: Any = None) -> Iterator[FoundRule]:
    """All rules of some files, of which names and YAML texts are given; where a text is no YAML, there is one bad rule."""
    check_pipeline(pipeline)
    given = [*texts]
    filters: list[SigmaFilter] = []
    found = [*_rules_of(given, (), pipeline, filters)]
    if filters:  # known only now: rules are read again, for reading changes them
        found = [*_rules_of(given, tuple(filters), pipeline, [])]
    return iter(found)


def _rules_of(
    texts: Sequence[tuple[str, str]], filters: Sequence[SigmaFilter], pipeline: Any, more: list[SigmaFilter]
) -> Iterator[FoundRule]:
    """The rules with filters applied; more filters are added to a list as they are found."""
    for name, text in texts:
        try:
            for each in _collection(text):
                if isinstance(each.found, SigmaFilter):
                    more.append(each.found)
                else:
                    yield _found_rule(name, each, filters, pipeline)
        except FilterError as error:
            yield FoundRule(
                where=name, identity="", found=FilterError(error.expected, error.got, error.where)
            )


def _found_rule(name: str, read: _Read, filters: Sequence[SigmaFilter], pipeline: Any) -> FoundRule:
    try:
        expression = _expression(read, filters, pipeline)
    except FilterError as error:
        identity = next(
            (each for each in (read.value.get("id"), read.value.get("title")) if isinstance(each, str)), ""
        )
        return FoundRule(where=name, identity=identity, found=error)
    rule = read.found
    assert isinstance(rule, SigmaRule), "there is an expression of it"
    identity = str(rule.id) if rule.id is not None else rule.name or rule.title
    return FoundRule(
        where=name, identity=identity, found=expression, payload=_payload(rule), tags=_tags(rule)
    )


def _expression(read: _Read, filters: Sequence[SigmaFilter], pipeline: Any) -> Expression:
    if isinstance(read.found, FilterError):
        raise read.found
    assert isinstance(read.found, SigmaRule), "filters are not asked for"
    return expression_of_rule(read.found, read.value, read.document, filters, pipeline)


def _filters(found: list[_Read]) -> list[SigmaFilter]:
    return [each.found for each in found if isinstance(each.found, SigmaFilter)]


# --- collections -----------------------------------------------------------------------------------------------------


def _collection(text: str) -> Iterator[_Read]:
    """The rules and filters of a text, with its actions carried out."""
    shared: dict[str, Any] = {}
    last: dict[str, Any] = {}
    merged = 0
    for document in documents_of(text):
        value = document.value
        if not isinstance(value, dict):
            error = FilterError("a Sigma rule as an object", shown(value), document.place(()))
            yield _Read(document, {}, error)
            continue
        action = value.get("action")
        if action == "global":
            shared = last = {name: each for name, each in value.items() if name != "action"}
            continue
        if action == "reset":
            shared = {}
            continue
        if action == "repeat":
            value = last = deep_dict_update(deepcopy(last), value)
        elif action is not None:
            where = where_in(value, document, ValueError())
            yield _Read(
                document, value, FilterError("global, reset or repeat as `action`", shown(action), where)
            )
            continue
        elif shared and "correlation" not in value and "filter" not in value:
            value = last = deep_dict_update(deepcopy(value), shared)
        else:
            last = value
        if action or shared:
            merged += _count(value)
            if merged > _MOST_MERGED:
                raise FilterTooLargeError("values in rules that actions put together", merged, _MOST_MERGED)
        yield _read(value, document)


def _plain(value: Any) -> Any:
    """An object as YAML would give it, for pySigma to read and to change."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return exact(value) if type(value) is int else value


def _read(value: dict[str, Any], document: Document) -> _Read:
    if "correlation" in value:
        where = where_in(value, document, ValueError())
        return _Read(document, value, FilterError(_CORRELATION, where=where))
    try:
        if "filter" in value:
            return _Read(document, value, filter_of(value, document))
        return _Read(document, value, rule_of(value, document))
    except FilterError as error:
        return _Read(document, value, error)


def _count(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(_count, value.values()))
    return 1 + sum(map(_count, value)) if isinstance(value, list) else 1


# --- what else is known ----------------------------------------------------------------------------------------------


def _payload(rule: SigmaRule) -> dict[str, Any]:
    """Title, level, status, description and log source, as far as they are given."""
    source = rule.logsource
    logsource = {name: getattr(source, name) for name in ("category", "product", "service")}
    known = {
        "title": rule.title,
        "name": rule.name,
        "level": None if rule.level is None else rule.level.name.lower(),
        "status": None if rule.status is None else rule.status.name.lower(),
        "logsource": {name: each for name, each in logsource.items() if each is not None},
    }
    return {name: each for name, each in known.items() if each is not None}


def _tags(rule: SigmaRule) -> tuple[str, ...]:
    """Its own tags, then level, status and log source as `level.high`."""
    source = rule.logsource
    more = {
        "level": None if rule.level is None else rule.level.name.lower(),
        "status": None if rule.status is None else rule.status.name.lower(),
        "product": source.product,
        "category": source.category,
        "service": source.service,
    }
    own = [str(each) for each in rule.tags]
    return tuple(
        dict.fromkeys([*own, *(f"{name}.{each}" for name, each in more.items() if each is not None)])
    )
