"""What must be true of a broker between two steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thatch.broker.completeness import complete_on, count_lacking
from thatch.broker.forwarding import advertisements_on, subscriptions_on
from thatch.broker.tables import BrokerLink, Hop, LocalClient, RoutingTables

if TYPE_CHECKING:
    from thatch.broker.broker import Broker

__all__ = ["check"]


def check(broker: Broker) -> None:
    """Raise an AssertionError that says which invariant is broken."""
    tables = broker.tables
    _check_hops(tables)
    _check_index(tables)
    _check_pending(tables)
    for client in tables.clients.values():
        _check_client(client)
    for known, kind in ((tables.partial, "subscriptions"), (tables.unguided, "advertisements")):
        lacking = {name for name, link in tables.links.items() if not getattr(link, f"gives_{kind}")}
        assert known.keys() == lacking, f"all {kind} are given except by {lacking}, not {set(known)}"
    if not tables.trusts_topology and tables.name in tables.map.reports:
        said = dict(tables.map.reports[tables.name][2])
        links = {link.name: link.began for link in tables.joined_links()}
        assert said == links, f"the others were told of {said}, not of {links}"
    for link in tables.links.values():
        _check_link(tables, link)


def _check_hops(tables: RoutingTables) -> None:
    """Every entry is known by its hop, and every hop is here."""
    hops: list[Hop] = [*tables.links.values(), *tables.clients.values()]
    for kind in ("subscriptions", "advertisements"):
        entries = getattr(tables, kind)
        by_hop = {about: entry for hop in hops for about, entry in getattr(hop, kind).items()}
        assert entries.keys() == by_hop.keys(), f"{kind} and those of the hops differ"
        for about, entry in by_hop.items():
            assert entries[about] is entry, f"{about} is not what its hop knows"
            assert about in getattr(entry.hop, kind), f"{about} is at another hop"


def _check_index(tables: RoutingTables) -> None:
    """The index has all subscriptions of links, and those of clients that are not leaving."""
    for link in tables.links.values():
        found = {each.id for each in tables.index.subscriptions_of(link=link)}
        assert found == link.subscriptions.keys(), f"the index does not have the subscriptions of {link.name}"
    for client in tables.clients.values():
        found = {each.id for each in tables.index.subscriptions_of(client=client)}
        wanted = {each.id for each in client.subscriptions.values() if each.leaving is None}
        assert found == wanted, f"the index does not have the subscriptions of {client.name}"
    indexed = sum(each.slot >= 0 for each in tables.subscriptions.values())
    assert len(tables.index) == indexed, "the index has subscriptions that nobody knows"


def _check_pending(tables: RoutingTables) -> None:
    """A subscription that is leaving waits for a neighbour that is here."""
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
            here = tables.clients if isinstance(hop, LocalClient) else tables.links
            assert here.get(hop.name) is hop, f"{request} is owed to {hop.name}, who is gone"


def _check_client(client: LocalClient) -> None:
    """It is known which of its subscriptions are durable, and what is kept has no gaps."""
    durable = {each.id for each in client.subscriptions.values() if each.durable and each.leaving is None}
    assert client.durable == durable, f"the durable subscriptions of {client.name} differ"
    if client.kept is not None:
        kept = client.kept
        assert list(kept.waiting) == list(range(kept.acknowledged + 1, kept.last + 1)), "deliveries have gaps"
        assert kept.acknowledged <= kept.sent <= kept.last, f"{kept.sent} is no delivery"
        assert kept.sent - kept.acknowledged <= kept.keeping.window, f"too many for {client.name} at a time"


def _check_link(tables: RoutingTables, link: BrokerLink) -> None:
    """A link keeps all messages not acknowledged, represents what belongs there, and has sent what must be sent."""
    numbers = list(range(link.channel.acknowledged + 1, link.channel.number + 1))
    assert list(link.channel.outbox) == numbers, f"the outbox of {link.name} has gaps"
    for kind, sent, entries in (
        ("subscriptions", link.sent_subscriptions, subscriptions_on(tables, link)),
        ("advertisements", link.sent_advertisements, advertisements_on(tables, link)),
    ):
        ids = {each.id for each in entries}
        assert set(sent) == ids, f"the {kind} on {link.name} are {set(sent)}, not {ids}"
        assert sent.told.keys() == sent.active().keys(), f"{kind} were not sent to {link.name}"
    if link.is_joined:
        is_complete = complete_on(tables, link, count_lacking(tables))
        assert link.said_complete == is_complete, f"{link.name} was told a false completeness"
