"""A whole run: clients at random brokers subscribe, then events are published; and what that cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from thatch.broker.messages import Subscribe, Unsubscribe
from thatch.broker.settings import Routing, Timing
from thatch.errors import ParameterError, ThatchError, shown
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.schema import Schema
from thatch.model.topology import Topology
from thatch.runtime.simulated.clients import SimulatedClient
from thatch.runtime.simulated.network import SimulatedNetwork
from thatch.runtime.simulated.records import Records
from thatch.runtime.simulated.wires import NO_FAULTS, Faults

__all__ = ["GrowthStage", "Interest", "Played", "Scenario", "play"]


class Interest(NamedTuple):
    """A subscription that is yet to be made."""

    subscription: str
    subscriber: str
    filter: Filter


class GrowthStage(NamedTuple):
    """The state of the network after some subscriptions."""

    subscriptions: int
    messages: int  # about subscriptions, so far
    largest_table: int
    mean_table: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What happens in a run.

    Parameters
    ----------
    interests : subscriptions, in order; a subscriber is one client at one broker
    events : in the order of publication, `rate` a second
    publishers : how many clients publish, each at a random broker; where advertisements guide, they advertise anything
    stages : how often the growth of tables is recorded
    seed : of the brokers of clients, the publishers of events, and faults
    """

    topology: Topology
    interests: Sequence[Interest]
    events: Sequence[Mapping[str, Any]]
    routing: Routing = field(default_factory=Routing)
    timing: Timing = field(default_factory=Timing)
    schema: Schema | None = None
    faults: Faults = NO_FAULTS
    publishers: int = 1
    rate: float = 100.0
    stages: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("publishers", "stages"):
            if getattr(self, name) < 1:
                raise ParameterError("at least 1", shown(getattr(self, name)), name)
        if not self.rate > 0:
            raise ParameterError("a rate above 0", shown(self.rate), "rate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """The result of a run."""

    scenario: Scenario
    network: SimulatedNetwork
    growth: tuple[GrowthStage, ...]
    refused: int  # subscriptions and events that a broker refused

    @property
    def records(self) -> Records:
        """All that was recorded."""
        return self.network.records

    @property
    def missed(self) -> int:
        """Deliveries that were wanted and did not happen."""
        return self.records.wanted - len(self.records.deliveries)


def play(scenario: Scenario, report: Callable[[int], None] = lambda _: None) -> Played:
    """Run a scenario; `report` is called with the number of subscriptions and events done since the last call."""
    rng = np.random.default_rng(scenario.seed)
    network = SimulatedNetwork(
        scenario.topology,
        routing=scenario.routing,
        timing=scenario.timing,
        schema=scenario.schema,
        faults=scenario.faults,
        seed=scenario.seed,
        trusts_topology=True,
    )
    network.run_until_quiet()
    publishers = _publishers(network, scenario, rng)
    network.run_until_quiet()
    growth, refused = _subscribe(network, scenario, rng, report)
    refused += _publish(network, scenario, publishers, rng, report)
    return Played(scenario=scenario, network=network, growth=growth, refused=refused)


def _publishers(
    network: SimulatedNetwork, scenario: Scenario, rng: np.random.Generator
) -> list[SimulatedClient]:
    anything = parse("true", schema=scenario.schema)
    publishers = []
    for number in range(scenario.publishers):
        client = network.connect(_draw(network.brokers, rng), f"publisher-{number + 1}")
        if scenario.routing.way == "advertisements":
            client.advertise(anything)
        publishers.append(client)
    return publishers


def _subscribe(
    network: SimulatedNetwork,
    scenario: Scenario,
    rng: np.random.Generator,
    report: Callable[[int], None],
) -> tuple[tuple[GrowthStage, ...], int]:
    clients: dict[str, SimulatedClient] = {}
    growth = []
    refused = 0
    for part in _parts(scenario.interests, scenario.stages):
        for each in part:
            client = clients.get(each.subscriber)
            if client is None:
                # A subscriber may have the name of a publisher.
                name = f"subscriber {each.subscriber}"
                client = clients[each.subscriber] = network.connect(_draw(network.brokers, rng), name)
            refused += not _is_accepted(client.subscribe, each.filter, each.subscription)
            report(1)
        network.run_until_quiet()
        network.sample()
        growth.append(_growth(network))
    return tuple(growth), refused


def _publish(
    network: SimulatedNetwork,
    scenario: Scenario,
    publishers: list[SimulatedClient],
    rng: np.random.Generator,
    report: Callable[[int], None],
) -> int:
    refused = 0

    def publish(client: SimulatedClient, event: Mapping[str, Any]) -> None:
        nonlocal refused
        refused += not _is_accepted(client.publish, event)
        report(1)

    for part in _parts(scenario.events, scenario.stages):
        start = network.now
        for number, event in enumerate(part):
            client = publishers[int(rng.integers(len(publishers)))]
            network.at(start + number / scenario.rate, partial(publish, client, event))
        network.run_until_quiet()
    return refused


def _is_accepted(action: Callable[..., Any], *arguments: Any) -> bool:
    try:
        action(*arguments)
    except ThatchError:
        return False
    return True


def _growth(network: SimulatedNetwork) -> GrowthStage:
    tables = [each.subscriptions for each in network.records.samples[-len(network.brokers) :]]
    return GrowthStage(
        len(network.oracle),
        network.records.messages(Subscribe, Unsubscribe),
        max(tables, default=0),
        sum(tables) / max(len(tables), 1),
    )


def _draw(names: Sequence[str], rng: np.random.Generator) -> str:
    return names[int(rng.integers(len(names)))]


def _parts(whole: Sequence[Any], count: int) -> list[Sequence[Any]]:
    """Split a sequence into parts of about the same size, none of them empty."""
    size = max(1, -(-len(whole) // count))
    return [whole[start : start + size] for start in range(0, len(whole), size)]
