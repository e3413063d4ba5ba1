"""Brokers that join and leave: the network stays a tree, and every name in it belongs to one broker.

When a link comes up, each side tells the other which brokers it reaches without it. If both reach the same one, the link
would close a cycle, or two brokers have one name: the link is closed, and the reason names the existing path to that
broker. Until the other side is known to be separate, nothing else is sent. Later changes are passed on from link to
link. If two links close a cycle at the same moment, that is found when the news of both sides meet; each broker that
sees it closes the later one of its two links in the cycle.
"""

from __future__ import annotations

from collections.abc import Iterable

from thatch.broker.advertising import end_advertisement
from thatch.broker.channel import Channel
from thatch.broker.completeness import grant, persist_link, revoke
from thatch.broker.effects import CloseLink
from thatch.broker.forwarding import rebuild
from thatch.broker.messages import Joined, Left, Publish
from thatch.broker.resync import send_digest
from thatch.broker.step import BrokerStep
from thatch.broker.subscribing import end_all_of, settle_without
from thatch.broker.tables import BrokerLink, RoutingTables

__all__ = ["begin_anew", "link_up", "lose_link", "on_joined", "on_left"]

Routes = tuple[tuple[str, str], ...]


def link_up(tables: RoutingTables, step: BrokerStep, neighbour: str) -> None:
    """Use a link; if it is new, tell the neighbour which brokers are on this side."""
    if neighbour == tables.name:
        tables.ignore(step, neighbour, "a link to itself")
        return
    link = tables.links.get(neighbour)
    if link is None:
        channel = Channel(neighbour, tables.timing, tables.new_session(step))
        link = tables.links[neighbour] = BrokerLink(neighbour, channel, tables.next_order())
        channel.open(step)
        persist_link(step, link)
        channel.send(step, Joined(_routes(tables, link)))
    link.channel.up(step)


def begin_anew(tables: RoutingTables, step: BrokerStep, link: BrokerLink, *, is_restarted: bool) -> None:
    """Start over with a neighbour that has lost its memory; what it said before holds until it says otherwise.

    If `is_restarted`, this side began a new session as well. Else its messages will still arrive, except events: the
    neighbour may have had them before, and losing an event is better than sending it twice.
    """
    link.awaits_routes = True
    link.gives_subscriptions = link.gives_advertisements = True
    if is_restarted:
        settle_without(tables, step, link.name)
        link.said_complete = (True, True)
        link.channel.send(step, Joined(_routes(tables, link)))
        if link.is_joined:
            send_digest(step, link)
    else:
        for number, message in link.channel.outbox.items():
            if isinstance(message, Publish):
                link.channel.replace(step, number, Left(()))  # an empty message
    persist_link(step, link)
    if link.is_joined:
        revoke(tables, step)
        rebuild(tables, step, link)
        grant(tables, step)


def on_joined(tables: RoutingTables, step: BrokerStep, link: BrokerLink, message: Joined) -> None:
    """Note brokers that are reached over a link: all of its side if it is new, else some more."""
    routes = _read_routes(link, message.routes)
    if routes is None:
        tables.ignore(step, link.name, "malformed routes")
        if link.awaits_routes:
            lose_link(tables, step, link, "malformed routes")
        return
    if tables.trusts_topology:
        routes = ()
    for broker, _ in routes:
        other = _route_to(tables, broker)
        if other is not None and other is not link:
            _refuse_route(tables, step, link, other, broker, dict(routes))
            return
    known = set(link.members)
    if link.awaits_routes:
        _forget_members(tables, step, link, known.difference(broker for broker, _ in routes))
    news = tuple(each for each in routes if each[0] not in known)
    for broker, before in routes:
        if link.members.get(broker) != before:
            link.members[broker] = before
            step.persist(("member", link.name, broker), before)
    if news:
        _tell_others(tables, step, link, Joined(_from_here(tables, link, news)))
    if link.awaits_routes:
        link.awaits_routes = False
        persist_link(step, link)
    if not link.is_joined:
        link.is_joined = True
        persist_link(step, link)
        send_digest(step, link)
        # What was complete on other links stays complete: what comes over this one is passed on to all.
        revoke(tables, step, [link])
        rebuild(tables, step, link)
        grant(tables, step, [link])


def on_left(tables: RoutingTables, step: BrokerStep, link: BrokerLink, message: Left) -> None:
    """Note brokers that are no longer reached."""
    brokers = message.brokers
    if not isinstance(brokers, tuple) or not all(isinstance(each, str) for each in brokers):
        tables.ignore(step, link.name, "malformed routes")
        return
    _forget_members(tables, step, link, {each for each in brokers if each != link.name})


def lose_link(tables: RoutingTables, step: BrokerStep, link: BrokerLink, reason: str = "") -> None:
    """Forget a neighbour and all that came from it; `reason` says why the link must be closed, if it is not yet."""
    del tables.links[link.name]
    link.is_joined = False
    link.channel.down()
    link.channel.close(step)
    step.persist(("link", link.name), None)
    for sent in link.sent:
        sent.forget(step)
    _forget_members(tables, step, link, set(link.members))
    revoke(tables, step)
    end_all_of(tables, step, link)
    settle_without(tables, step, link.name)
    for advertisement in list(link.advertisements.values()):
        end_advertisement(tables, step, advertisement)
    grant(tables, step)
    if reason:
        step.effects.append(CloseLink(cause=step.cause, neighbour=link.name, reason=reason))


# --- routes ------------------------------------------------------------------------------------------


def _routes(tables: RoutingTables, link: BrokerLink) -> Routes:
    """All brokers on this side of a link, each with the one before it on the way."""
    others = [
        each
        for other in tables.joined_links()
        if other is not link
        for each in _from_here(tables, other, other.members.items())
    ]
    return ((tables.name, tables.name), *others)


def _from_here(tables: RoutingTables, link: BrokerLink, routes: Iterable[tuple[str, str]]) -> Routes:
    """Routes of a neighbour's side as a broker on another link sees them: through this broker."""
    return tuple((broker, tables.name if broker == link.name else before) for broker, before in routes)


def _read_routes(link: BrokerLink, routes: object) -> Routes | None:
    """The routes if they are well formed: pairs of names; the first message of a neighbour begins with itself."""
    if not isinstance(routes, tuple) or not all(
        isinstance(each, tuple) and len(each) == 2 and all(isinstance(name, str) for name in each)
        for each in routes
    ):
        return None
    if link.awaits_routes and (not routes or routes[0] != (link.name, link.name)):
        return None
    return routes


def _route_to(tables: RoutingTables, broker: str) -> BrokerLink | str | None:
    """The link over which a broker is reached, or its name if it is this broker."""
    if broker == tables.name:
        return broker
    return next((link for link in tables.links.values() if broker in link.members), None)


def _refuse_route(
    tables: RoutingTables,
    step: BrokerStep,
    link: BrokerLink,
    other: BrokerLink | str,
    broker: str,
    routes: dict[str, str],
) -> None:
    there = " - ".join(_path({**link.members, **routes}, broker, tables.name))
    if isinstance(other, str):
        lose_link(tables, step, link, f"a cycle, or two brokers with one name: {there} is {broker} itself")
        return
    here = " - ".join(_path(other.members, broker, tables.name))
    later = link if link.order > other.order or not link.is_joined else other
    lose_link(tables, step, later, f"a cycle, or two brokers with one name: {there}, and already {here}")


def _path(members: dict[str, str], broker: str, start: str) -> list[str]:
    """The brokers on the path to one, as far as they are known."""
    path = [broker]
    before = members.get(broker, broker)
    while before not in path:
        path.append(before)
        before = members.get(before, before)
    return [start, *reversed(path)]


def _forget_members(tables: RoutingTables, step: BrokerStep, link: BrokerLink, brokers: set[str]) -> None:
    gone = tuple(each for each in link.members if each in brokers)
    for broker in gone:
        del link.members[broker]
        step.persist(("member", link.name, broker), None)
    if gone:
        _tell_others(tables, step, link, Left(gone))


def _tell_others(tables: RoutingTables, step: BrokerStep, link: BrokerLink, message: Joined | Left) -> None:
    for other in tables.links.values():
        if other is not link:
            other.channel.send(step, message)
