"""Bring a neighbour up to date that may know less, or more, than it was told: only what differs is sent again.

Entries are put into buckets by a hash of their id. A digest has the hash of each bucket; the receiver asks for the
buckets that differ from what it knows, and gets all that is in them. Messages of a link keep their order, so a digest or
an answer is true at the moment when it is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import TypeVar

from thatch.broker.advertising import end_advertisement, on_advertise
from thatch.broker.link_entries import LinkEntries, LinkEntry, Offer
from thatch.broker.messages import (
    Advertise,
    Bucket,
    BucketRequest,
    Digest,
    Entries,
    Message,
    Subscribe,
    message_id,
)
from thatch.broker.step import BrokerStep
from thatch.broker.subscribing import end_subscription, on_subscribe
from thatch.broker.tables import BrokerLink, KnownSubscription, RoutingTables
from thatch.model.filters import Filter

__all__ = ["BUCKETS", "ask_again", "on_bucket_request", "on_digest", "on_entries", "send_digest"]

Entry = TypeVar("Entry", bound=LinkEntry)

BUCKETS = 4_096  # a link with 100,000 entries has 25 in each; only those that are not empty are sent


def send_digest(step: BrokerStep, link: BrokerLink) -> None:
    """Send a neighbour a digest of what it should know from here."""
    subscriptions, advertisements = (_hash_buckets(sent.entries()) for sent in link.sent)
    link.channel.send(step, Digest(subscriptions, advertisements))


def on_digest(tables: RoutingTables, step: BrokerStep, link: BrokerLink, message: Digest) -> None:
    """Ask for the buckets that differ from what is known."""
    if not (_are_buckets(message.subscriptions) and _are_buckets(message.advertisements)):
        tables.ignore(step, link.name, "a malformed digest")
        return
    subscriptions = _differing(message.subscriptions, _live(link))
    advertisements = _differing(message.advertisements, link.advertisements.values())
    if subscriptions or advertisements:
        link.channel.send(step, BucketRequest(subscriptions, advertisements))


def on_bucket_request(
    tables: RoutingTables, step: BrokerStep, link: BrokerLink, message: BucketRequest
) -> None:
    """Send the contents of some buckets."""
    if not (_are_numbers(message.subscriptions) and _are_numbers(message.advertisements)):
        tables.ignore(step, link.name, "malformed buckets")
        return
    subscriptions = _offers_in(link.sent_subscriptions, message.subscriptions)
    advertisements = _offers_in(link.sent_advertisements, message.advertisements)
    link.channel.send(step, Entries(message, subscriptions, advertisements))


def on_entries(tables: RoutingTables, step: BrokerStep, link: BrokerLink, message: Entries) -> None:
    """Take over the contents of some buckets: first add what is new, then end what is gone."""
    if not _is_answer(message):
        tables.ignore(step, link.name, "malformed entries")
        return
    for advertise in message.advertisements:
        on_advertise(tables, step, link, advertise)
    for subscribe in message.subscriptions:
        on_subscribe(tables, step, link, subscribe)
    for subscription in _gone(_live(link), message.subscriptions, message.buckets.subscriptions):
        end_subscription(tables, step, subscription, [])
    advertisements = link.advertisements.values()
    for advertisement in _gone(advertisements, message.advertisements, message.buckets.advertisements):
        end_advertisement(tables, step, advertisement)


def ask_again(tables: RoutingTables, step: BrokerStep) -> None:
    """Ask neighbours for the entries that were refused because their ids were taken, and are free now."""
    freed, tables.freed = tables.freed, []
    for kind, about in freed:
        if about in (tables.subscriptions if kind == "subscription" else tables.advertisements):
            continue
        buckets = (_bucket(about),)
        for name in sorted(tables.contested.pop((kind, about), ())):
            step.persist(("contested", kind, about, name), None)
            link = tables.links.get(name)
            if link is not None and link.is_joined:
                asked = (buckets, ()) if kind == "subscription" else ((), buckets)
                link.channel.send(step, BucketRequest(*asked))


def _live(link: BrokerLink) -> list[KnownSubscription]:
    return [each for each in link.subscriptions.values() if each.leaving is None]


def _offers_in(sent: LinkEntries[Offer], buckets: Iterable[int]) -> tuple[Offer, ...]:
    wanted = set(buckets)
    return tuple(each for each in sent.offers() if _bucket(message_id(each)) in wanted)


def _gone(known: Iterable[Entry], kept: Iterable[Message], buckets: Iterable[int]) -> list[Entry]:
    """The entries in some buckets that are not kept."""
    ids, emptied = {message_id(each) for each in kept}, set(buckets)
    return [each for each in known if each.id not in ids and _bucket(each.id) in emptied]


def _hash_buckets(entries: Iterable[tuple[str, Filter, bool]]) -> tuple[Bucket, ...]:
    """The buckets that are not empty, each with a hash of its entries that does not depend on their order."""
    hashes: dict[int, int] = {}
    for about, filter, closed in entries:
        text = f"{len(about)} {about} {int(closed)} {filter}"
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        bucket = _bucket(about)
        hashes[bucket] = (hashes.get(bucket, 0) + int.from_bytes(digest, "big")) % 2**63
    return tuple(sorted(hashes.items()))


def _bucket(about: str) -> int:
    digest = blake2b(about.encode("utf-8", "surrogatepass"), digest_size=8, person=b"bucket").digest()
    return int.from_bytes(digest, "big") % BUCKETS


def _differing(theirs: tuple[Bucket, ...], known: Iterable[LinkEntry]) -> tuple[int, ...]:
    ours = _hash_buckets((each.id, each.filter, each.closed) for each in known)
    return tuple(sorted({bucket for bucket, _ in set(theirs) ^ set(ours)}))


def _are_buckets(buckets: object) -> bool:
    return isinstance(buckets, tuple) and all(
        isinstance(each, tuple) and len(each) == 2 and all(type(number) is int for number in each)
        for each in buckets
    )


def _are_numbers(numbers: object) -> bool:
    return isinstance(numbers, tuple) and all(type(each) is int for each in numbers)


def _is_answer(message: Entries) -> bool:
    return (
        isinstance(message.buckets, BucketRequest)
        and _are_numbers(message.buckets.subscriptions)
        and _are_numbers(message.buckets.advertisements)
        and isinstance(message.subscriptions, tuple)
        and isinstance(message.advertisements, tuple)
        and all(isinstance(each, Subscribe) for each in message.subscriptions)
        and all(isinstance(each, Advertise) for each in message.advertisements)
    )
