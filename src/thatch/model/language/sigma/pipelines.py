"""Processing pipelines of pySigma from their YAML: field mappings, conditions on log sources, values of placeholders."""

from __future__ import annotations

from collections.abc import Iterable

from sigma.exceptions import SigmaError
from sigma.processing.pipeline import ProcessingPipeline

from thatch.errors import FilterError, shown
from thatch.model.language.sigma.documents import documents_of

__all__ = ["pipeline_of"]


def pipeline_of(texts: Iterable[tuple[str, str]]) -> ProcessingPipeline:
    """The pipelines of some files, of which names and YAML texts are given, one after the other by their priorities."""
    found = [_pipeline(name, text) for name, text in texts]
    return sum(sorted(found, key=lambda each: each.priority), ProcessingPipeline())


def _pipeline(name: str, text: str) -> ProcessingPipeline:
    try:
        documents = [*documents_of(text)]
    except FilterError as error:
        raise FilterError(f"A pipeline that cannot be read: {error}", where=name) from None
    if len(documents) != 1 or not isinstance(documents[0].value, dict):
        raise FilterError(
            "one processing pipeline of pySigma, an object", f"{len(documents)} documents", name
        )
    try:
        return ProcessingPipeline.from_dict(documents[0].value)
    except (SigmaError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise FilterError("a processing pipeline of pySigma", shown(reason)[1:-1], name) from None
