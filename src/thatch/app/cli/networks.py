"""What commands about networks of brokers read: topologies, policies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from thatch.errors import ParameterError, TableError, shown

if TYPE_CHECKING:
    from thatch.model.topology import Topology
    from thatch.reduction.forwarding.policies import Policy

__all__ = ["POLICIES", "TOPOLOGY_HELP", "load_topology", "policy_of"]

TOPOLOGY_HELP = "File .yaml, .yml or .json, or a shape: line:5, star:5, tree:7, random:20, regions:4x5."
POLICIES = (
    "exact",
    "pairwise",
    "flooding",
    "negative-space",
    "approximate:K",
    "probabilistic:DELTA",
    "merging",
    "merging:THRESHOLD",
)
_SHAPE = re.compile(r"(line|star|tree|random):([0-9]{1,6})|(regions):([0-9]{1,4})x([0-9]{1,6})")


def load_topology(text: str, seed: int = 0) -> Topology:
    """The topology that a file holds, or a shape describes."""
    from thatch.formats.topology import SHAPES, generated, read_topology

    found = _SHAPE.fullmatch(text)
    if found is None:
        if text.partition(":")[0] in SHAPES:
            raise TableError("line:5, star:5, tree:7, random:20, regions:4x5 or the like", shown(text))
        return read_topology(text)
    if found[3]:
        return generated("regions", regions=int(found[4]), brokers=int(found[5]), seed=seed)
    return generated(found[1], count=int(found[2]), seed=seed)


def policy_of(text: str) -> Policy:
    """The policy that a name stands for, such as `exact` or `merging:0.01`."""
    from thatch.reduction.forwarding import policies

    name, _, told = text.partition(":")
    try:
        match name, told:
            case "exact", "":
                return policies.Exact()
            case "pairwise", "":
                return policies.Pairwise()
            case "flooding", "":
                return policies.Flooding()
            case "negative-space", "":
                return policies.NegativeSpace()
            case "approximate", _:
                return policies.ApproximateNegativeSpace(int(told))
            case "probabilistic", _:
                return policies.Probabilistic(float(told))
            case "merging", "":
                return policies.Merging()
            case "merging", _:
                return policies.Merging(threshold=float(told))
    except ParameterError:
        raise
    except ValueError as error:
        raise ParameterError(f"a number after `{name}:`", shown(text), "policy") from error
    raise ParameterError(", ".join(POLICIES), shown(text), "policy")
