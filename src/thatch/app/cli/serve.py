"""`thatch serve --in-process`: try a network of brokers line by line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

import thatch
from thatch.app.cli.options import POLICIES, TopologyArgument, Way
from thatch.app.cli.output import json_line, note, say
from thatch.app.cli.sources import load_policy, load_topology
from thatch.errors import ParameterError, ThatchError, shown
from thatch.formats.files import object_of

if TYPE_CHECKING:
    from thatch.broker.settings import Routing
    from thatch.runtime.blocking import BlockingClient, BlockingNetwork, BlockingSubscription

__all__ = ["serve"]

_WORDS = """subscribe BROKER FILTER     subscribe at a broker; prints the id
unsubscribe ID              end a subscription
advertise BROKER FILTER     advertise events at a broker; prints the id
unadvertise ID              withdraw an advertisement
publish BROKER EVENT        publish a JSON object at a broker; prints the deliveries
explain BROKER EVENT        print where an event would go, and why
help                        print these lines"""


def serve(
    topology: TopologyArgument,
    in_process: Annotated[
        bool,
        typer.Option(
            "--in-process", help="Run all brokers in this process. Required: nothing else is available yet."
        ),
    ] = False,
    policy: Annotated[str, typer.Option(help=f"Reduction on links: {POLICIES}.")] = "exact",
    way: Way = "subscriptions",
    warm: Annotated[
        bool,
        typer.Option("--warm", help="Load or compile all kernels first, so that no command waits for them."),
    ] = False,
) -> None:
    """Run a network of brokers that reads commands from standard input: subscribe, publish, explain; `help` lists all.

    Prints a JSON line with the subscription and the event for every delivery.

    \b
    Examples:
      $ printf 'subscribe b3 price < 150\\npublish b1 {"price": 120}\\n' | thatch serve --in-process line:3
      $ echo 'explain b2 {"price": 120}' | thatch serve --in-process star:4 --policy pairwise
    """
    from thatch.broker.settings import Routing
    from thatch.runtime.blocking import BlockingNetwork

    if not in_process:
        raise ParameterError("Networks of several processes are not available yet: add --in-process")
    routing = Routing(way=way, policy=load_policy(policy))
    if warm:
        warm_brokers(routing)
        note("all kernels are loaded")
    with BlockingNetwork(load_topology(topology), routing=routing) as net:
        note(
            f"{len(net.brokers):,} brokers: {', '.join(net.brokers[:8])}{' ...' if len(net.brokers) > 8 else ''}"
        )
        playground = _Playground(net)
        for line in sys.stdin:
            try:
                playground.do(line.strip())
            except (ThatchError, ValueError) as error:
                note(f"thatch: {error}")
            sys.stdout.flush()


def warm_brokers(routing: Routing) -> None:
    """Load the kernels of engines, and those that decide what links forward."""
    thatch.warm()
    link = thatch.ForwardingSet(routing.policy)
    for number, text in enumerate(
        ("x < 5", "x >= 4 and y < 3", "x >= 4 and y >= 3", "x < 9", "name like '%a'")
    ):
        link.add(str(number), thatch.parse(text))
    link.remove("0")


class _Playground:
    """Executes commands, with one client at each broker that has the broker's name."""

    def __init__(self, net: BlockingNetwork) -> None:
        self._net = net
        self._clients: dict[str, BlockingClient] = {}
        self._subscriptions: dict[str, BlockingSubscription] = {}
        self._advertisements: dict[str, BlockingClient] = {}
        self._commands: dict[str, Callable[[str], None]] = {
            "subscribe": self._subscribe,
            "unsubscribe": self._unsubscribe,
            "advertise": self._advertise,
            "unadvertise": self._unadvertise,
            "publish": self._publish,
            "explain": self._explain,
            "help": lambda _: say(_WORDS),
        }

    def do(self, line: str) -> None:
        """Execute one line and wait until the network is quiet."""
        if not line or line.startswith("#"):
            return
        word, _, rest = line.partition(" ")
        command = self._commands.get(word)
        if command is None:
            raise ParameterError(f"one of the commands {', '.join(self._commands)}", shown(line))
        command(rest.strip())

    def _subscribe(self, rest: str) -> None:
        client, text = self._at(rest, "a filter")
        made = client.subscribe(text)
        self._subscriptions[made.id] = made
        self._net.settle()
        say(made.id)

    def _unsubscribe(self, rest: str) -> None:
        if rest not in self._subscriptions:
            raise ParameterError("the id of a subscription", shown(rest))
        self._subscriptions.pop(rest).close()
        self._net.settle()

    def _advertise(self, rest: str) -> None:
        client, text = self._at(rest, "a filter")
        made = client.advertise(text)
        self._advertisements[made] = client
        self._net.settle()
        say(made)

    def _unadvertise(self, rest: str) -> None:
        if rest not in self._advertisements:
            raise ParameterError("the id of an advertisement", shown(rest))
        self._advertisements.pop(rest).unadvertise(rest)
        self._net.settle()

    def _publish(self, rest: str) -> None:
        client, text = self._at(rest, "an event")
        client.publish(object_of(text))
        self._net.settle()
        for identity, subscription in self._subscriptions.items():
            while subscription.waiting:
                json_line({"subscription": identity, "event": subscription.next()})

    def _explain(self, rest: str) -> None:
        client, text = self._at(rest, "an event")
        say(str(self._net.explain_route(object_of(text), client.broker)))

    def _at(self, rest: str, what: str) -> tuple[BlockingClient, str]:
        """The client at the broker named first in a line, and the rest of the line."""
        broker, _, text = rest.partition(" ")
        if not text.strip():
            raise ParameterError(f"a broker and {what}", shown(rest))
        if broker not in self._clients:
            self._clients[broker] = self._net.connect(broker, broker)
        return self._clients[broker], text.strip()
