"""Every error that Thatch raises on purpose.

    ThatchError
    ├── FilterError (ValueError)          a filter that cannot be accepted
    │   ├── FilterSyntaxError             text that does not parse: line, column, caret
    │   ├── PatternError                  a JSON pattern that is not one: path, line, column
    │   ├── NeverMatchesError             well formed, but no event can ever match
    │   └── FilterTooLargeError           over a limit; says the count and the limit
    ├── SchemaError (ValueError)          an invalid schema, or filters of two schemas mixed
    ├── EventError (ValueError)           an event that is not a JSON-like object: path into the event
    ├── TableError (ValueError)           a table or file of subscriptions or events that cannot be read
    ├── OutputError (ValueError)          a file or folder that may not or cannot be written
    ├── SubscriptionError (ValueError)    an id, subscriber or expiry that cannot be accepted
    │   └── UnknownSubscriptionError (KeyError)
    ├── IndexFileError (ValueError)       a saved engine that is damaged, foreign or too new
    │   └── ReadOnlyError                 a change to an engine opened with mode="r"
    ├── BoxError (ValueError)             arrays that are not boxes: which one, which axis
    ├── ParameterError (ValueError)       a number that an algorithm cannot work with
    ├── MissingPackageError (ImportError) a package that an extra brings is not installed
    ├── SparkError (RuntimeError)         Spark cannot be started, or cannot do what is asked
    └── StoreError (RuntimeError)         a database that is unreachable, full, of another version, or in use by others

The message of each is built from its fields: what was expected, what came, where. Where there is no value worth
showing, the first field alone is the message, a sentence that says what is wrong and what to do.
A call that raises one of them has changed nothing.
"""

from __future__ import annotations

__all__ = [
    "BoxError",
    "EventError",
    "FilterError",
    "FilterSyntaxError",
    "FilterTooLargeError",
    "IndexFileError",
    "MissingPackageError",
    "NeverMatchesError",
    "OutputError",
    "ParameterError",
    "PatternError",
    "ReadOnlyError",
    "SchemaError",
    "SparkError",
    "StoreError",
    "SubscriptionError",
    "TableError",
    "ThatchError",
    "UnknownSubscriptionError",
    "shown",
]


def shown(value: object) -> str:
    """A value for an error message: short, printable, in bounded time, and never raising."""
    from thatch.shown import brief  # loads what only errors need

    return brief(value)


class ThatchError(Exception):
    """Base of all errors raised on purpose by Thatch."""


class _Located(ThatchError):
    """An error whose message is built from three fields.

    Parameters
    ----------
    expected : what would have been accepted; the whole message if `got` is empty
    got : what came, empty if there is no value worth showing
    where : the position in the input, empty if there is only one
    """

    def __init__(self, expected: str, got: str = "", where: str = "") -> None:
        super().__init__(expected, got, where)  # keep the arguments, so that the error can be pickled
        self.expected = expected
        self.got = got
        self.where = where

    def __str__(self) -> str:
        place = f" - at {self.where}" if self.where else ""
        return f"Expected {self.expected}, got {self.got}{place}" if self.got else f"{self.expected}{place}"


class FilterError(_Located, ValueError):
    """A filter that cannot be accepted."""


class FilterSyntaxError(FilterError):
    """Filter text that does not parse.

    Parameters
    ----------
    text : the whole filter text
    position : offset of the first character that does not fit
    suggestion : what the writer may have meant, empty if unknown
    """

    def __init__(self, expected: str, got: str, text: str, position: int, suggestion: str = "") -> None:
        self.line = text.count("\n", 0, position) + 1
        self.column = position - (text.rfind("\n", 0, position) + 1) + 1
        super().__init__(expected, got, f"line {self.line}, column {self.column}")
        self.args = (expected, got, text, position, suggestion)
        self.text = text
        self.position = position
        self.suggestion = suggestion

    def __str__(self) -> str:
        hint = f"\n{self.suggestion}" if self.suggestion else ""
        return f"{super().__str__()}\n{self._picture()}{hint}"

    def _picture(self) -> str:
        """The line around the position, cut to a readable width, with a caret under it."""
        start = self.text.rfind("\n", 0, self.position) + 1
        end = self.text.find("\n", self.position)
        end = len(self.text) if end < 0 else end
        left = max(start, self.position - 40)
        right = min(end, self.position + 40)
        cut_left, cut_right = "..." if left > start else "", "..." if right < end else ""
        line = cut_left + self.text[left:right].replace("\t", " ") + cut_right
        caret = " " * (len(cut_left) + self.position - left) + "^"
        return f"  {line}\n  {caret}".encode("utf-8", "backslashreplace").decode("utf-8")


class PatternError(FilterError):
    """A JSON pattern that is not one.

    Parameters
    ----------
    where : the path into the pattern
    line, column : the place in the JSON text, None if there was none
    """

    def __init__(
        self,
        expected: str,
        got: str = "",
        where: str = "",
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(expected, got, where)
        self.args = (expected, got, where, line, column)
        self.line = line
        self.column = column

    def __str__(self) -> str:
        if self.line is None:
            return super().__str__()
        place = f"line {self.line}, column {self.column}"
        return f"{super().__str__()}, {place}" if self.where else f"{super().__str__()} - at {place}"


class NeverMatchesError(FilterError):
    """A well-formed filter that no event can match; `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"No event can match this filter: {reason}")
        self.args = (reason,)
        self.reason = reason


class FilterTooLargeError(FilterError):
    """A filter over one of the limits; `count` is what it has, `limit` what is allowed."""

    def __init__(self, what: str, count: int, limit: int, where: str = "") -> None:
        super().__init__(f"at most {limit:,} {what}", f"{count:,}", where)
        self.args = (what, count, limit, where)
        self.what = what
        self.count = count
        self.limit = limit


class SchemaError(_Located, ValueError):
    """An invalid schema, or filters of two schemas mixed."""


class EventError(_Located, ValueError):
    """An event that is not a JSON-like object; `where` is the path into it."""


class TableError(_Located, ValueError):
    """A table or file that cannot be read as subscriptions or events."""


class OutputError(_Located, ValueError):
    """A file or folder that may not be written, since it exists or is read, or cannot be."""


class SubscriptionError(_Located, ValueError):
    """A subscription's id, subscriber or expiry that cannot be accepted."""


class UnknownSubscriptionError(SubscriptionError, KeyError):
    """An id that no subscription has."""

    def __init__(self, subscription: object) -> None:
        super().__init__(f"No subscription has the id {shown(subscription)}")
        self.args = (subscription,)
        self.subscription = subscription


class IndexFileError(_Located, ValueError):
    """A saved engine that is damaged, foreign or of a newer version."""


class ReadOnlyError(IndexFileError):
    """A change to an engine that was opened read-only."""


class BoxError(_Located, ValueError):
    """Arrays that are not boxes; `where` names the box and the axis."""


class ParameterError(_Located, ValueError):
    """A parameter that an algorithm cannot work with; `where` names it."""


class MissingPackageError(ThatchError, ImportError):
    """A package that comes with an extra of Thatch is not installed."""

    def __init__(self, package: str, extra: str, what: str) -> None:
        super().__init__(package, extra, what)
        self.package = package
        self.extra = extra
        self.what = what

    def __str__(self) -> str:
        return f"The package {self.package} is needed for {self.what}: pip install 'thatch[{self.extra}]'"


class SparkError(_Located, RuntimeError):
    """Spark cannot be started, or cannot do what is asked."""


class StoreError(_Located, RuntimeError):
    """A database that is unreachable, full, of another version, or in use by others; `where` names it."""
