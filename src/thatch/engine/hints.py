"""A profile as hints for an index: where on an attribute's line events lie."""

from __future__ import annotations

from thatch.errors import ParameterError, shown
from thatch.matching.problem import AccessHints, Spread
from thatch.model.profile import Profile
from thatch.model.selectivity import Selectivity

__all__ = ["chosen_hints", "hints_of"]


def chosen_hints(profile: Profile | None, hints: AccessHints | None) -> AccessHints | None:
    """The hints of an engine that is given a profile, or hints, or neither."""
    if profile is None:
        if hints is not None and not isinstance(hints, AccessHints):
            raise ParameterError("hints of thatch.planning.access_hints", shown(hints), "hints")
        return hints
    if not isinstance(profile, Profile):
        raise ParameterError("a profile", shown(profile), "profile")
    if hints is not None:
        raise ParameterError("Pass a profile or hints, not both", where="hints")
    return hints_of(profile)


def hints_of(profile: Profile) -> AccessHints:
    """The hints that a profile gives without any filters: where events lie, of each attribute that it knows."""
    selectivity = Selectivity(profile)
    return AccessHints({each.key: Spread(selectivity.stand_ins(each.key)) for each in profile.attributes})
