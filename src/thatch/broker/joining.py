"""Brokers that join and leave: the network stays a tree, and every name in it is one broker.

When a link comes up, each side tells the other which brokers it reaches without it. If they have one in common, the link
would close a cycle, or two brokers have one name: the link is closed, with the way on which that broker is reached
already. Until the other side is known to be apart, nothing else is sent. Later changes are told from link to link. Two
links that close a cycle at the same moment are found out when both sides' news meet; each broker that sees it closes the
later one of its two links in the cycle.
"""

from __future__ import annotations

from collections.abc import Iterable

from thatch.broker.advertising import end_advertisement
from thatch.broker.channel import Channel
from thatch.broker.completing import grant, persist_link, revoke
from thatch.broker.effects import CloseLink
from thatch.broker.forwarding import rebuild
from thatch.broker.messages import Joined, Left, Publish
from thatch.broker.outgoing import MERGER
from thatch.broker.refusals import ignore
from thatch.broker.resync import send_digest
from thatch.broker.step import Step
from thatch.broker.tables import Link, Tables
from thatch.broker.unsubscribing import end_all_of, settle_without

__all__ = ["begin_anew", "link_up", "lose_link", "on_joined", "on_left"]

Routes = tuple[tuple[str, str], ...]


def link_up(tables: Tables, step: Step, neighbour: str) -> None:
    """A link can be used; if it is new, tell the neighbour who is here."""
    link = tables.links.get(neighbour)
    if link is None:
        channel = Channel(neighbour, tables.timing, tables.new_session(step))
        link = tables.links[neighbour] = Link(neighbour, channel, tables.next_order())
        channel.open(step)
        persist_link(step, link)
        channel.send(step, Joined(_routes(tables, link)))
    link.channel.up(step)


def begin_anew(tables: Tables, step: Step, link: Link, *, is_restarted: bool) -> None:
    """The neighbour at a link has lost its memory; what it told before holds until it tells otherwise.

    Parameters
    ----------
    is_restarted : whether this side's session was begun anew as well; else all it has said will still arrive, except
        events: the neighbour may have had them before, and losing them is better than sending them twice
    """
    link.awaits_routes = True
    link.gives_subscriptions = link.gives_advertisements = True
    if is_restarted:
        settle_without(tables, step, link.name)
        link.told = (True, True)
        link.channel.send(step, Joined(_routes(tables, link)))
        if link.is_joined:
            send_digest(step, link, tables)
    else:
        for number, message in link.channel.outbox.items():
            if isinstance(message, Publish):
                link.channel.replace(step, number, Left(()))  # which says nothing
    persist_link(step, link)
    if link.is_joined:
        revoke(tables, step)
        rebuild(tables, step, link)
        grant(tables, step)


def on_joined(tables: Tables, step: Step, link: Link, message: Joined) -> None:
    """Brokers are reached over a link: all there are, if it is new, else some more."""
    routes = _checked(link, message.routes)
    if routes is None:
        ignore(tables, step, link.name, "routes that are none")
        if link.awaits_routes:
            lose_link(tables, step, link, "routes that are none")
        return
    if tables.trusts_topology:
        routes = ()
    for broker, _ in routes:
        other = _holder(tables, broker)
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
        send_digest(step, link, tables)
        # What is complete on the other links stays so: what is new beyond this one is news for everybody.
        revoke(tables, step, [link])
        rebuild(tables, step, link)
        grant(tables, step, [link])


def on_left(tables: Tables, step: Step, link: Link, message: Left) -> None:
    """Brokers are reached no more."""
    brokers = message.brokers
    if not isinstance(brokers, tuple) or not all(isinstance(each, str) for each in brokers):
        ignore(tables, step, link.name, "routes that are none")
        return
    _forget_members(tables, step, link, {each for each in brokers if each != link.name})


def lose_link(tables: Tables, step: Step, link: Link, reason: str = "") -> None:
    """Forget a neighbour and all that came from it.

    Parameters
    ----------
    reason : why the link must not be; empty if it is down already
    """
    del tables.links[link.name]
    link.is_joined = False
    link.channel.down()
    link.channel.close(step)
    step.persist(("link", link.name), None)
    for kind, outgoing in (("forwarded", link.forwarded), ("announced", link.announced)):
        for each in outgoing.told if outgoing is not None else ():
            step.persist((kind, link.name, each), None)
            if each.startswith(MERGER):
                step.persist(("merger", link.name, each), None)
    link.forwarded = link.announced = None
    _forget_members(tables, step, link, set(link.members))
    revoke(tables, step)
    end_all_of(tables, step, link)
    settle_without(tables, step, link.name)
    for advertisement in list(link.advertisements.values()):
        end_advertisement(tables, step, advertisement)
    grant(tables, step)
    if reason:
        step.effects.append(CloseLink(cause=step.cause, neighbour=link.name, reason=reason))


# --- who is reached how ------------------------------------------------------------------------------------------


def _routes(tables: Tables, link: Link) -> Routes:
    """All brokers on this side of a link, each with the one before it on the way."""
    others = [
        each
        for other in tables.joined_links()
        if other is not link
        for each in _from_here(tables, other, other.members.items())
    ]
    return ((tables.name, tables.name), *others)


def _from_here(tables: Tables, link: Link, routes: Iterable[tuple[str, str]]) -> Routes:
    """Routes of a neighbour's side as a broker on another link sees them: the way goes through here."""
    return tuple((broker, tables.name if broker == link.name else before) for broker, before in routes)


def _checked(link: Link, routes: object) -> Routes | None:
    """Routes as they should be: pairs of names, and in the first news of a neighbour itself first."""
    if not isinstance(routes, tuple) or not all(
        isinstance(each, tuple) and len(each) == 2 and all(isinstance(name, str) for name in each)
        for each in routes
    ):
        return None
    if link.awaits_routes and (not routes or routes[0] != (link.name, link.name)):
        return None
    return routes


def _holder(tables: Tables, broker: str) -> Link | str | None:
    """Over which link a broker is reached; the name of this one if it is this one."""
    if broker == tables.name:
        return broker
    return next((link for link in tables.links.values() if broker in link.members), None)


def _refuse_route(
    tables: Tables, step: Step, link: Link, other: Link | str, broker: str, routes: dict[str, str]
) -> None:
    there = " - ".join(_way({**link.members, **routes}, broker, tables.name))
    if isinstance(other, str):
        lose_link(tables, step, link, f"a cycle, or two brokers of one name: {there} is {broker} itself")
        return
    here = " - ".join(_way(other.members, broker, tables.name))
    later = link if link.order > other.order or not link.is_joined else other
    lose_link(tables, step, later, f"a cycle, or two brokers of one name: {there}, and already {here}")


def _way(members: dict[str, str], broker: str, start: str) -> list[str]:
    """The brokers on the way to one, as far as it is known."""
    way = [broker]
    before = members.get(broker, broker)
    while before not in way:
        way.append(before)
        before = members.get(before, before)
    return [start, *reversed(way)]


def _forget_members(tables: Tables, step: Step, link: Link, brokers: set[str]) -> None:
    gone = tuple(each for each in link.members if each in brokers)
    for broker in gone:
        del link.members[broker]
        step.persist(("member", link.name, broker), None)
    if gone:
        _tell_others(tables, step, link, Left(gone))


def _tell_others(tables: Tables, step: Step, link: Link, message: Joined | Left) -> None:
    for other in tables.links.values():
        if other is not link:
            other.channel.send(step, message)
