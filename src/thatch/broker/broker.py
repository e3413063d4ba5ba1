"""The core of a broker: stimuli go in, effects come out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thatch.broker import messages, stimuli
from thatch.broker.advertising import end_advertisement, on_advertise, on_unadvertise
from thatch.broker.completeness import on_complete, switch
from thatch.broker.deliveries import AGE_TIMER
from thatch.broker.effects import Effect, Published
from thatch.broker.expiry import EXPIRY_TIMER, pop_expired, set_expiry_timer
from thatch.broker.explanation import LocalRoute, explain, route
from thatch.broker.forwarding import merge_if_due
from thatch.broker.membership import begin_anew, link_up, lose_link, on_joined, on_linked
from thatch.broker.publishing import on_acknowledge, on_publish
from thatch.broker.resync import ask_again, on_bucket_request, on_digest, on_entries
from thatch.broker.settings import Limits, Routing, Timing
from thatch.broker.snapshot import Items, load, resume
from thatch.broker.step import BrokerStep
from thatch.broker.stimuli import Stimulus, check_stimulus
from thatch.broker.subscribing import (
    end_all_of,
    end_subscription,
    on_subscribe,
    on_unsubscribe,
    on_unsubscribed,
)
from thatch.broker.tables import BrokerLink, KnownSubscription, RoutingTables
from thatch.errors import ParameterError, shown
from thatch.model.schema import Schema
from thatch.model.values import is_id

__all__ = ["Broker"]

# What clients and neighbours may send; and what only clients, or only neighbours, may.
_FROM_ANYBODY: Mapping[type, Any] = {
    messages.Advertise: on_advertise,
    messages.Unadvertise: on_unadvertise,
    messages.Subscribe: on_subscribe,
    messages.Unsubscribe: on_unsubscribe,
    messages.Publish: on_publish,
}
_FROM_CLIENTS: Mapping[type, Any] = {**_FROM_ANYBODY, messages.Acknowledge: on_acknowledge}
_FROM_NEIGHBOURS: Mapping[type, Any] = {
    **_FROM_ANYBODY,
    messages.Unsubscribed: on_unsubscribed,
    messages.Linked: on_linked,
    messages.Complete: on_complete,
    messages.Digest: on_digest,
    messages.BucketRequest: on_bucket_request,
    messages.Entries: on_entries,
}


class Broker:
    """One broker's routing state, changed only by `handle`.

    Parameters
    ----------
    name : what it is called in the network
    routing : how messages are routed, and what links leave out
    timing : how long it waits
    schema : declared types of attributes, the same for all filters
    limits : what it accepts and remembers
    trusts_topology : believe the driver that links form a tree of brokers with different names; then brokers do not tell
        each other who is where, which saves a message for each pair of brokers
    items : what the `Persist` effects of a broker of this name have left, to continue where it ended; None for a new one

    Examples
    --------
    >>> import thatch
    >>> from thatch.broker.event_frames import encode_frame
    >>> from thatch.broker.messages import Publish, Subscribe
    >>> from thatch.broker.settings import Routing
    >>> from thatch.broker.stimuli import ClientConnected, MessageReceived
    >>> broker = Broker("b1", Routing(way="subscriptions"))
    >>> broker.handle(ClientConnected(now=0, client="desk-7"))
    []
    >>> subscribe = Subscribe(subscription="cheap", filter=thatch.parse("price < 150"))
    >>> persisted = broker.handle(MessageReceived(now=1, client="desk-7", message=subscribe))
    >>> frame, _ = encode_frame("desk-7", 1, [{"price": 120}, {"price": 180}])
    >>> _, delivery, answer = broker.handle(MessageReceived(now=2, client="desk-7", message=Publish(frame)))
    >>> delivery.client, delivery.frame.events(), delivery.subscriptions, delivery.cause
    ('desk-7', [{'price': 120}], (('cheap',),), 3)
    >>> answer.through, answer.refused
    (2, ())
    >>> broker.explain("desk-7#1")
    ['Step 3: came from desk-7, was sent on to nobody and delivered to desk-7.']
    """

    def __init__(
        self,
        name: str,
        routing: Routing | None = None,
        timing: Timing | None = None,
        schema: Schema | None = None,
        limits: Limits | None = None,
        *,
        trusts_topology: bool = False,
        items: Items | None = None,
    ) -> None:
        if not is_id(name):
            raise ParameterError("a name that is text, not empty, without NUL", shown(name), "name")
        self.tables = RoutingTables(
            name,
            Routing() if routing is None else routing,
            Timing() if timing is None else timing,
            schema,
            Limits() if limits is None else limits,
            trusts_topology,
        )
        self._cause = 0
        self._must_resume = items is not None
        if items is not None:
            load(self.tables, items)

    @property
    def name(self) -> str:
        """What it is called in the network."""
        return self.tables.name

    @property
    def routing(self) -> Routing:
        """How messages are routed now."""
        return self.tables.routing

    def handle(self, stimulus: Stimulus) -> list[Effect]:
        """Handle a stimulus; returns what to do, in order.

        Never raises for what others send. A mistake of the driver, such as a time that is no number, is a TypeError or
        a ParameterError, and nothing has happened.
        """
        check_stimulus(stimulus)
        self._cause += 1
        step = BrokerStep(self._cause, stimulus.now)
        if self._must_resume:
            self._must_resume = False
            resume(self.tables, step)
        match stimulus:
            case stimuli.PacketReceived():
                self._on_packet(step, stimulus)
            case stimuli.MessageReceived():
                self._on_client_message(step, stimulus)
            case stimuli.TimerFired():
                self._on_timer(step, stimulus)
            case stimuli.LinkUp():
                link_up(self.tables, step, stimulus.neighbour)
            case stimuli.LinkDown():
                self._on_link_down(step, stimulus)
            case stimuli.ClientConnected():
                self._on_client_connected(step, stimulus)
            case stimuli.ClientDisconnected():
                self._on_client_disconnected(step, stimulus)
            case stimuli.RoutingSwitched():
                switch(self.tables, step, stimulus.routing)
        if self.tables.freed:
            ask_again(self.tables, step)
        return step.effects

    # --- questions ---------------------------------------------------------------------------------------------------

    def explain(self, about: str) -> list[str]:
        """Why a subscription, an advertisement or an event was or was not sent on, in sentences."""
        return explain(self.tables, about)

    def route(self, event: Mapping[str, Any], source: str | None = None) -> LocalRoute:
        """Where an event from a neighbour, or from a client if `source` is None, would go."""
        return route(self.tables, event, source)

    def stats(self) -> dict[str, int]:
        """Sizes of the tables by name, and how often something was ignored or refused."""
        links = self.tables.links.values()
        return {
            "subscriptions": len(self.tables.subscriptions),
            "advertisements": len(self.tables.advertisements),
            "forwarded": sum(len(link.sent_subscriptions.told) for link in links),
            "announced": sum(len(link.sent_advertisements.told) for link in links),
            "links": len(links),
            "clients": len(self.tables.clients),
            "unacknowledged": sum(len(link.channel.outbox) for link in links),
            "ignored": self.tables.ignored.total(),
        }

    def count_ignored(self) -> dict[str, int]:
        """How often something was ignored or refused, by reason."""
        return dict(self.tables.ignored)

    # --- neighbours --------------------------------------------------------------------------------------------------

    def _on_packet(self, step: BrokerStep, stimulus: stimuli.PacketReceived) -> None:
        tables, packet = self.tables, stimulus.packet
        link = tables.links.get(stimulus.neighbour)
        if link is None:
            tables.ignore(step, stimulus.neighbour, "a packet from an unknown neighbour")
            return
        channel = link.channel
        verdict = channel.judge(packet)
        if verdict == "new":
            is_restarted = channel.is_paired
            if is_restarted:
                channel.restart(step, tables.new_session(step))
            channel.adopt(step, packet.session)
            begin_anew(tables, step, link, is_restarted=is_restarted)
        elif verdict == "again":
            tables.ignore(step, stimulus.neighbour, "a packet that came before")
        elif verdict != "same":
            tables.ignore(step, stimulus.neighbour, verdict)
            return
        for message in channel.take(step, packet):
            self._on_message(step, link, message)
            if tables.links.get(link.name) is not link:  # it was closed
                return
        channel.settle(step)

    def _on_message(self, step: BrokerStep, link: BrokerLink, message: Any) -> None:
        if isinstance(message, messages.Joined):
            on_joined(self.tables, step, link, message)
        elif not link.is_joined:
            self.tables.ignore(step, link.name, "a message before the neighbour has joined")
        else:
            handler = _FROM_NEIGHBOURS.get(type(message))
            if handler is None:
                self.tables.ignore(step, link.name, "a message of an unknown kind")
            else:
                handler(self.tables, step, link, message)

    def _on_link_down(self, step: BrokerStep, stimulus: stimuli.LinkDown) -> None:
        link = self.tables.links.get(stimulus.neighbour)
        if link is None:
            self.tables.ignore(step, stimulus.neighbour, "the end of an unknown link")
        elif stimulus.for_good:
            lose_link(self.tables, step, link)
        else:
            link.channel.down()

    # --- clients -----------------------------------------------------------------------------------------------------

    def _on_client_connected(self, step: BrokerStep, stimulus: stimuli.ClientConnected) -> None:
        """A client that has published before is told how far it had come; what is kept for it is delivered."""
        name = stimulus.client
        client = self.tables.client(name)
        client.is_connected = True
        self.tables.publishers.touch(step, name)
        last = self.tables.publishers.last(name)
        if last:
            step.effects.append(Published(cause=step.cause, client=name, through=last))
        if client.kept is not None:
            client.kept.connect(step)

    def _on_client_message(self, step: BrokerStep, stimulus: stimuli.MessageReceived) -> None:
        client = self.tables.clients.get(stimulus.client)
        if client is None or not client.is_connected:
            self.tables.ignore(step, stimulus.client, "a message from a client that is not connected")
            return
        handler = _FROM_CLIENTS.get(type(stimulus.message))
        if handler is None:
            self.tables.ignore(step, stimulus.client, "a message of an unknown kind")
            return
        handler(self.tables, step, client, stimulus.message)

    def _on_client_disconnected(self, step: BrokerStep, stimulus: stimuli.ClientDisconnected) -> None:
        client = self.tables.clients.get(stimulus.client)
        if client is None:
            self.tables.ignore(step, stimulus.client, "the end of an unknown client")
            return
        client.is_connected = False
        if not stimulus.for_good:
            self.tables.publishers.touch(step, client.name)
            return
        self.tables.publishers.forget(step, client.name)
        if client.kept is not None:
            client.kept.forget(step)
        end_all_of(self.tables, step, client)
        for advertisement in list(client.advertisements.values()):
            end_advertisement(self.tables, step, advertisement)
        del self.tables.clients[stimulus.client]

    # --- timers ----------------------------------------------------------------------------------------------

    def _on_timer(self, step: BrokerStep, stimulus: stimuli.TimerFired) -> None:
        if stimulus.timer == EXPIRY_TIMER:
            for each in pop_expired(self.tables, step.now):
                if isinstance(each, KnownSubscription):
                    end_subscription(self.tables, step, each, [])
                else:
                    end_advertisement(self.tables, step, each)
            set_expiry_timer(self.tables, step)
            return
        kind, _, neighbour = stimulus.timer.partition(" ")
        if kind == AGE_TIMER:
            client = self.tables.clients.get(neighbour)
            if client is not None and client.kept is not None:
                client.kept.on_timer(step, is_connected=client.is_connected)
            return
        link = self.tables.links.get(neighbour)
        if link is None:
            return  # of a link that is gone
        if kind == "resend":
            link.channel.on_resend_timer(step)
        elif kind == "acknowledge":
            link.channel.on_acknowledge_timer(step)
        elif kind == "merge":
            merge_if_due(self.tables, step, link, link.merge_timer.fire(step.now))
