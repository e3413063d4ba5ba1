"""The languages of filters: the function that reads each, what it reads, and the files that hold nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from thatch.errors import FilterError, shown
from thatch.model.expressions import Expression
from thatch.model.language.found import FoundRule

__all__ = ["LANGUAGES", "Language", "language_called", "language_of_suffix"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A language of filters.

    Parameters
    ----------
    reader : a module of this package and its function from a rule to an expression; imported when first asked for
    what : what it reads, in words; where that is an object too, JSON or YAML gives it
    takes_pipeline : whether rules may pass through a processing pipeline, which the function gets after the rule
    suffixes : endings of files that are rules of this language as a whole, not tables with a column of them
    rules : a module of this package and its function from such files (names and texts) and a pipeline to their rules
    """

    reader: str
    what: str
    takes_pipeline: bool = False
    suffixes: tuple[str, ...] = ()
    rules: str = ""

    def read(self, source: str | Mapping[str, Any], pipeline: Any = None) -> Expression:
        """The expression of a rule."""
        found: Callable[..., Expression] = _function(self.reader)
        if self.takes_pipeline:
            return found(source, pipeline)
        if pipeline is not None:
            raise FilterError("a language whose rules pass through pipelines", self.what, "pipeline")
        return found(source)

    def rules_of(self, files: Iterable[tuple[str, str]], pipeline: Any = None) -> Iterator[FoundRule]:
        """The rules of files that are rules as a whole, given as names and texts."""
        found: Callable[..., Iterator[FoundRule]] = _function(self.rules)
        return found(files, pipeline)


def _function(path: str) -> Callable[..., Any]:
    module, name = path.rsplit(".", 1)
    found: Callable[..., Any] = getattr(import_module(f"thatch.model.language.{module}"), name)
    return found


LANGUAGES: Mapping[str, Language] = {
    "text": Language(reader="text.expression_of_text", what="SQL-style text, as `str(filter)` gives it"),
    "eventbridge": Language(
        reader="patterns.expression_of_source",
        what="AWS EventBridge event patterns, as an object or as JSON text",
        rules="event_rules.rules_of_lists",
    ),
    "sns": Language(
        reader="sns.expression_of_policy", what="filter policies of Amazon SNS, as an object or as JSON text"
    ),
    "labels": Language(
        reader="labels.expression_of_labels", what="Kubernetes label selectors and Alertmanager matchers"
    ),
    "alertmanager": Language(reader="alertmanager.expression_of_matchers", what="Alertmanager matchers"),
    "jms": Language(reader="jms.expression_of_selector", what="JMS selectors and AMQP SQL filters"),
    "kql": Language(reader="kql.expression_of_kql", what="the query language of Kibana"),
    "elasticsearch": Language(
        reader="elasticsearch.expression_of_query",
        what="queries of Elasticsearch, as an object or as JSON text",
    ),
    "mqtt": Language(reader="mqtt.expression_of_topics", what="MQTT topic filters"),
    "sigma": Language(
        reader="sigma.expression_of_sigma",
        what="Sigma rules, as YAML text or as an object",
        takes_pipeline=True,
        suffixes=(".yml", ".yaml"),
        rules="sigma.rules_of_sigma",
    ),
}


def language_called(name: str) -> Language:
    """The language of a name."""
    if name not in LANGUAGES:
        raise FilterError(f"one of the languages {', '.join(LANGUAGES)}", shown(name), "language")
    return LANGUAGES[name]


def language_of_suffix(suffix: str) -> str | None:
    """The name of the language whose rules are files with this ending, in any case; None if there is none."""
    return next((name for name, each in LANGUAGES.items() if suffix.lower() in each.suffixes), None)
