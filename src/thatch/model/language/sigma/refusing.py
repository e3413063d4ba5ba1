"""Errors of Sigma rules: one sentence, with the title of the rule and the place in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sigma.exceptions import SigmaConditionError, SigmaError
from sigma.rule import SigmaDetection, SigmaDetectionItem

from thatch.errors import FilterError, FilterTooLargeError, shown
from thatch.model.language.sigma.documents import Document
from thatch.model.language.sigma.policy import POLICY
from thatch.model.language.sigma.texts import RefusedValueError

__all__ = ["refusing", "where_in"]

# What pySigma raises of input that it does not foresee, besides its own errors.
_UNFORESEEN = (
    ArithmeticError, AttributeError, LookupError, NotImplementedError, RecursionError, TypeError, ValueError,
)  # fmt: skip
_LONGEST = 500  # characters of a message


@contextmanager
def refusing(value: Mapping[str, Any], document: Document) -> Iterator[None]:
    """Turn every error of a rule into one that names the rule, and the place in it."""
    try:
        yield
    except FilterTooLargeError as error:
        where = where_in(value, document, error)
        raise FilterTooLargeError(error.what, error.count, error.limit, where) from None
    except FilterError as error:
        raise FilterError(error.expected, error.got, where_in(value, document, error)) from None
    except (SigmaError, RefusedValueError) as error:
        raise FilterError(_sentence(error), where=where_in(value, document, error)) from None
    except _UNFORESEEN as error:
        reason = f"{type(error).__name__}, {error}" if str(error) else type(error).__name__
        raise FilterError(
            "a Sigma rule",
            f"one that pySigma cannot read ({shown(reason)[1:-1]})",
            where_in(value, document, error),
        ) from None


def where_in(value: Mapping[str, Any], document: Document, error: Exception) -> str:
    """The title of a rule, and the place of what is wrong in it."""
    title = value.get("title")
    name = f"rule {shown(title)}" if isinstance(title, str) else "a rule without a title"
    place = document.place(_path_to(value, error))
    return f"{name}, {place}" if place else name


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split())[:_LONGEST].rstrip(".")


def _path_to(value: Mapping[str, Any], error: Exception) -> list[str | int]:
    """The path to what is wrong in a rule, as far as that can be told."""
    if isinstance(error, SigmaConditionError):
        return ["detection", "condition"]
    kind = type(error).__name__.removeprefix("Sigma").removesuffix("Error").lower()
    named = [name for name in (kind, f"{kind}s") if name in value]
    if named:
        return [*named[:1]]
    detections = value.get("detection")
    if not isinstance(detections, Mapping):
        return []
    for name, definition in detections.items():
        if name != "condition":
            found = _path_in(definition, error)
            if found is not None:
                return ["detection", name, *found]
    return ["detection"]


def _path_in(definition: Any, error: Exception) -> list[str | int] | None:
    """The path in a detection, None if nothing is wrong in it."""
    if isinstance(definition, list):
        for number, each in enumerate(definition):
            found = _path_in(each, error)
            if found is not None:
                return [number, *found]
        return None
    if not isinstance(definition, Mapping):
        return (
            None if _can_be_read(lambda: SigmaDetection.from_definition([definition], policy=POLICY)) else []
        )
    for key, values in definition.items():
        field = getattr(error, "field", None)
        if field is not None:
            is_wrong = str(key).partition("|")[0] == field
        else:
            is_wrong = not _can_be_read(
                lambda key=key, values=values: SigmaDetectionItem.from_mapping(key, values, policy=POLICY)
            )
        if is_wrong:
            return [key]
    return None


def _can_be_read(read: Any) -> bool:
    try:
        read()
    except (SigmaError, *_UNFORESEEN):
        return False
    return True
