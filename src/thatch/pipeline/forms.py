"""Normal forms as bytes, so that the tasks of a job parse each filter once and rebuild it in half the time after that.

The conjunctions of most filters are tuples of texts and numbers, which `marshal` writes quickest; residual checks are
objects, for which it takes `pickle`. Only tasks of the same job read what its tasks have written.
"""

from __future__ import annotations

import marshal
import pickle

from thatch.model.conjunctions import Conjunction
from thatch.model.filters import Filter
from thatch.model.schema import Schema

__all__ = ["FORM", "read_form", "write_form"]

FORM = "thatch form"  # the column; with a blank, so that a filter can name such a column only in quotes

_PLAIN, _CHECKED, _FACTORED = b"m", b"p", b"f"


def write_form(filter: Filter) -> bytes:
    """Write the normal form of a filter, or all of one that has too many alternatives for it."""
    if filter.is_factored:
        return _FACTORED + pickle.dumps(filter)
    if any(each.residuals for each in filter.conjunctions):
        return _CHECKED + pickle.dumps(filter.conjunctions)
    return _PLAIN + marshal.dumps([each.constraints for each in filter.conjunctions])


def read_form(form: bytes, schema: Schema | None) -> Filter:
    """The filter of a normal form, without the remarks of its parser."""
    if form[:1] == _FACTORED:
        found: Filter = pickle.loads(form[1:])  # noqa: S301 - a task of ours wrote it
        return found
    if form[:1] == _CHECKED:
        return Filter(pickle.loads(form[1:]), schema, ())  # noqa: S301 - a task of ours wrote it
    return Filter(tuple(map(Conjunction, marshal.loads(form[1:]))), schema, ())  # noqa: S302 - likewise
