"""Events on their way: over every link beyond which somebody may want them, and to the clients here that want them.

Events come in frames, and a frame is one step: it is persisted once for each link, and the rows that a link or a client
wants go there together, as they came. A row that cannot be used is refused alone. A client may send events again if it
does not know whether they have arrived: their numbers tell that they came before.
"""

from __future__ import annotations

from collections import Counter

from thatch.broker.effects import Deliver, Published
from thatch.broker.event_frames import EventFrame, RefusedEvent, event_id, why_malformed
from thatch.broker.facts import PublishedFact
from thatch.broker.forwarding import set_merge_timer
from thatch.broker.frame_routing import FrameRoute, route_frame
from thatch.broker.messages import Acknowledge, Publish, message_id
from thatch.broker.step import BrokerStep
from thatch.broker.tables import BrokerLink, Hop, LocalClient, RoutingTables

__all__ = ["on_acknowledge", "on_publish"]


def on_publish(tables: RoutingTables, step: BrokerStep, hop: Hop, message: Publish) -> None:
    """Send the events of a frame on, and deliver them."""
    reason = why_malformed(message.frame)
    if not reason and isinstance(hop, LocalClient) and message.frame.publisher != hop.name:
        reason = "a frame of another publisher"
    if reason:
        tables.refuse(step, hop, message_id(message), reason)
    elif isinstance(hop, BrokerLink):
        route = _pass_on(tables, step, hop, message.frame)
        for each, count in Counter(each for each, _ in route.refused.values()).items():
            tables.ignore(step, hop.name, each, count)
    else:
        _publish(tables, step, hop, message.frame)


def _publish(tables: RoutingTables, step: BrokerStep, client: LocalClient, frame: EventFrame) -> None:
    """Take the events of a client that have not come before, and tell it which were refused."""
    publishers, refused = tables.publishers, []
    connected = (each.name for each in tables.clients.values() if each.is_connected)
    publishers.forget_idle(step, tables.limits.idle, connected)
    fresh = frame.after(publishers.last(client.name))
    if len(fresh) < len(frame):
        tables.ignore(step, client.name, "an event that came before", len(frame) - len(fresh))
    if fresh.rows:
        publishers.note(step, client.name, fresh.numbers[-1])
        for place, (reason, detail) in _pass_on(tables, step, client, fresh).refused.items():
            tables.ignored[reason] += 1
            text = f"{reason}: {detail}" if detail else reason
            refused.append(RefusedEvent(fresh.numbers[place], text))
    through = publishers.last(client.name)
    step.effects.append(
        Published(cause=step.cause, client=client.name, through=through, refused=tuple(refused))
    )


def _deliver(
    tables: RoutingTables,
    step: BrokerStep,
    client: LocalClient,
    frame: EventFrame,
    wanting: list[tuple[str, ...]],
) -> None:
    """Deliver events to a client: those for its durable subscriptions, which are kept, apart from the others."""
    durable = client.durable
    if durable:
        kept = [tuple(each for each in ids if each in durable) for ids in wanting]
        places = [place for place, ids in enumerate(kept) if ids]
        if places:
            chosen = tuple(kept[place] for place in places)
            deliveries = tables.kept_for(step, client)
            deliveries.put(step, frame.select(places), chosen, is_connected=client.is_connected)
        wanting = [tuple(each for each in ids if each not in durable) for ids in wanting]
        places = [place for place, ids in enumerate(wanting) if ids]
        if not places:
            return
        frame, wanting = frame.select(places), [wanting[place] for place in places]
    step.effects.append(
        Deliver(cause=step.cause, client=client.name, frame=frame, subscriptions=tuple(wanting))
    )


def on_acknowledge(
    tables: RoutingTables, step: BrokerStep, client: LocalClient, message: Acknowledge
) -> None:
    """Forget deliveries that a client has, and make those that wait."""
    if client.kept is None or not client.kept.acknowledge(step, message.session, message.through):
        tables.ignore(step, client.name, "an acknowledgement of what was not delivered")


def _pass_on(tables: RoutingTables, step: BrokerStep, hop: Hop, frame: EventFrame) -> FrameRoute:
    """Send the rows of a frame where they are wanted, and note what became of them."""
    route, whole = route_frame(tables, hop, frame), Publish(frame)
    for name, places in route.links.items():
        link = tables.links[name]
        chosen = frame.select(places)
        link.channel.send(step, whole if chosen is frame else Publish(chosen))
        if link.merge_timer.count_events(step.now, len(places)):
            set_merge_timer(step, link)
    for client, places in route.clients.items():
        _deliver(tables, step, tables.clients[client], frame.select(places), route.subscriptions[client])
    tables.facts.append(PublishedFact.of(frame, route, cause=step.cause, hop=hop.name))
    kind = "refused" if isinstance(hop, LocalClient) else "ignored"
    for place, (reason, detail) in route.refused.items():
        text = f"{reason}: {detail}" if detail and kind == "refused" else reason
        name = event_id(frame.publisher, frame.numbers[place])
        tables.facts.append((step.cause, name, kind, hop.name, text))
    return route
