"""Where selectivities come from: a profile, a sample of events, or domains over which values are spread evenly."""

from __future__ import annotations

from thatch.planning.selectivities.chances import Chances, Independent, Paired
from thatch.planning.selectivities.profiles import ProfileSource, paired_chances
from thatch.planning.selectivities.samples import Sample
from thatch.planning.selectivities.sources import Source
from thatch.planning.selectivities.uniform import uniform_domains

__all__ = [
    "Chances",
    "Independent",
    "Paired",
    "ProfileSource",
    "Sample",
    "Source",
    "paired_chances",
    "uniform_domains",
]
