"""Sigma rules to expressions, through pySigma: it reads rules and applies pipelines, this package says what they mean."""

from __future__ import annotations

from thatch.errors import MissingPackageError

try:
    import sigma.rule  # noqa: F401 - asked for before anything begins
except ImportError as error:
    raise MissingPackageError("pySigma", "sigma", "Sigma rules") from error

from thatch.model.language.sigma.rules import expression_of_sigma, rules_of_sigma

__all__ = ["expression_of_sigma", "rules_of_sigma"]
