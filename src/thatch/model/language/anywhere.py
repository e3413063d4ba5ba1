"""Read what filter text says of all texts of an event, behind `anywhere()`."""

from __future__ import annotations

from thatch.model.expressions import Expression, Matches, Not, Or
from thatch.model.language.reading import Reader
from thatch.model.regexes import regex
from thatch.model.wildcards import escape_wildcard, wildcard

__all__ = ["read_texts"]


def read_texts(reader: Reader, key: str) -> Expression:
    """What is said of all texts of an event."""
    words = [each.lower() for each in reader.tokens[reader.index : reader.index + 2]]
    if words[0] not in ("=", "like", "~", "!~", "in") and words not in (["not", "in"], ["not", "like"]):
        reader.refuse(
            "`like`, `~`, `=` or `in` and text", f"For none of the texts, write `not ({key} = 'a')`."
        )
    negated = words[0] in ("not", "!~")
    reader.index += 1 + (words[0] == "not")
    word = words[words[0] == "not"]
    if word == "like":
        found: Expression = Matches(key, reader.pattern())
    elif word in ("~", "!~"):
        found = Matches(key, reader.pattern(regex))
    elif word == "=":
        found = Matches(key, wildcard(escape_wildcard(reader.quoted_text("text in single quotes"))))
    else:
        found = Or(_listed_texts(reader, key))
    return Not(found) if negated else found


def _listed_texts(reader: Reader, key: str) -> tuple[Expression, ...]:
    reader.take("(", "`(`")
    found: list[Expression] = []
    while not found or reader.tokens[reader.index] == ",":
        reader.index += bool(found)
        found.append(Matches(key, wildcard(escape_wildcard(reader.quoted_text("text in single quotes")))))
    reader.take(")", "`,` or `)`")
    return tuple(found)
