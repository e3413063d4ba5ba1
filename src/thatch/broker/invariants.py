"""What must always be true of a broker between two steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thatch.broker.completing import complete_on
from thatch.broker.forwarding import belonging_advertisements, belonging_subscriptions
from thatch.broker.outgoing import Outgoing
from thatch.broker.tables import Client, Hop, Link, Tables

if TYPE_CHECKING:
    from thatch.broker.broker import Broker

__all__ = ["check"]


def check(broker: Broker) -> None:
    """Raise an AssertionError that names the fact if something is not as it must be."""
    tables = broker.tables
    _check_hops(tables)
    _check_wishes(tables)
    _check_pending(tables)
    _check_members(tables)
    for link in tables.links.values():
        _check_channel(link)
        _check_link(tables, link)


def _check_hops(tables: Tables) -> None:
    """Every entry is known by its hop, and every hop is here."""
    hops: list[Hop] = [*tables.links.values(), *tables.clients.values()]
    for kind in ("subscriptions", "advertisements"):
        entries = getattr(tables, kind)
        by_hop = {about: entry for hop in hops for about, entry in getattr(hop, kind).items()}
        assert entries.keys() == by_hop.keys(), f"{kind} and those of the hops differ"
        for about, entry in by_hop.items():
            assert entries[about] is entry, f"{about} is not what its hop knows"
            assert about in getattr(entry.hop, kind), f"{about} is at another hop"


def _check_wishes(tables: Tables) -> None:
    """What can be matched is what there is: for links all, for clients what is not leaving."""
    for link in tables.links.values():
        matched = {each.id for each in link.wishes.by_place.values()}
        assert matched == link.subscriptions.keys(), f"what {link.name} wants is not what is matched"
    matched = {each.id for each in tables.wishes.by_place.values()}
    wanted = {
        each.id
        for each in tables.subscriptions.values()
        if isinstance(each.hop, Client) and each.leaving is None
    }
    assert matched == wanted, "what clients want is not what is matched"


def _check_pending(tables: Tables) -> None:
    """Whoever is leaving waits for somebody who is here."""
    for subscription in tables.subscriptions.values():
        if subscription.leaving is not None:
            assert subscription.leaving.waiting, f"{subscription.id} is leaving and waits for nobody"
            assert subscription.leaving.subscription == subscription.id, (
                f"{subscription.id} waits for another"
            )
            for request in subscription.leaving.waiting:
                assert tables.awaited.get(request) is subscription.leaving, f"{request} is not awaited"
    for request, pending in tables.awaited.items():
        assert pending.waiting.get(request) in tables.links, f"{request} waits for a neighbour that is gone"
        for hop, _ in pending.owed:
            here = tables.clients if isinstance(hop, Client) else tables.links
            assert here.get(hop.name) is hop, f"{request} is owed to {hop.name}, who is gone"


def _check_members(tables: Tables) -> None:
    """Every broker is reached on one way."""
    names = [tables.name, *(each for link in tables.links.values() for each in link.members)]
    assert len(names) == len(set(names)), f"brokers that are reached twice: {sorted(names)}"


def _check_channel(link: Link) -> None:
    """What is not acknowledged is all there, in order."""
    channel = link.channel
    numbers = list(range(channel.acknowledged + 1, channel.number + 1))
    assert list(channel.outbox) == numbers, f"what is kept for {link.name} has gaps"


def _check_link(tables: Tables, link: Link) -> None:
    """What is represented on a link is what belongs there, and what must be told was told."""
    for kind, outgoing, entries in (
        ("subscriptions", link.forwarded, belonging_subscriptions(tables, link)),
        ("advertisements", link.announced, belonging_advertisements(tables, link)),
    ):
        ids = {each.id for each in entries}
        present: Outgoing | tuple[()] = outgoing if outgoing is not None else ()
        assert set(present) == ids, f"the {kind} on {link.name} are {set(present)}, not {ids}"
        if outgoing is not None:
            assert outgoing.told.keys() == outgoing.active().keys(), f"{kind} that {link.name} was not told"
    if link.is_joined:
        assert link.told == complete_on(tables, link), f"{link.name} was told what is not so"
