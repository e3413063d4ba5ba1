"""Bring a neighbour up to date that may know less, or more, than it was told: only what differs is sent again.

Entries are put into buckets by a hash of their id. A digest has the hash of each bucket; the receiver asks for the
buckets that differ from what it knows, and gets all that is in them. Messages of a link keep their order, so a digest or
an answer is true at the moment when it is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from thatch.broker.advertising import end_advertisement, on_advertise
from thatch.broker.messages import Advertise, Bucket, BucketRequest, Digest, Entries, Subscribe
from thatch.broker.step import BrokerStep
from thatch.broker.subscribing import end_subscription, on_subscribe
from thatch.broker.tables import BrokerLink, KnownSubscription, RoutingTables
from thatch.model.filters import Filter

__all__ = ["BUCKETS", "on_bucket_request", "on_digest", "on_entries", "send_digest"]

BUCKETS = 4_096  # a link with 100,000 entries has 25 in each; only those that are not empty are sent


def send_digest(step: BrokerStep, link: BrokerLink) -> None:
    """Send a neighbour a digest of what it should know from here."""
    subscriptions = ((each.subscription, each.filter, False) for each in link.sent_subscriptions.offers())
    advertisements = (
        (each.advertisement, each.filter, each.closed) for each in link.sent_advertisements.offers()
    )
    link.channel.send(step, Digest(_hashed(subscriptions), _hashed(advertisements)))


def on_digest(tables: RoutingTables, step: BrokerStep, link: BrokerLink, message: Digest) -> None:
    """Ask for the buckets that differ from what is known."""
    if not (_are_buckets(message.subscriptions) and _are_buckets(message.advertisements)):
        tables.ignore(step, link.name, "a malformed digest")
        return
    live = ((each.id, each.filter, False) for each in _live(link))
    offered = ((each.id, each.filter, each.closed) for each in link.advertisements.values())
    subscriptions = _differing(message.subscriptions, _hashed(live))
    advertisements = _differing(message.advertisements, _hashed(offered))
    if subscriptions or advertisements:
        link.channel.send(step, BucketRequest(subscriptions, advertisements))


def on_bucket_request(
    tables: RoutingTables, step: BrokerStep, link: BrokerLink, message: BucketRequest
) -> None:
    """Send the contents of some buckets."""
    if not (_are_numbers(message.subscriptions) and _are_numbers(message.advertisements)):
        tables.ignore(step, link.name, "malformed buckets")
        return
    subscriptions, advertisements = set(message.subscriptions), set(message.advertisements)
    sent, announced = link.sent_subscriptions.offers(), link.sent_advertisements.offers()
    entries = Entries(
        message,
        tuple(each for each in sent if _bucket(each.subscription) in subscriptions),
        tuple(each for each in announced if _bucket(each.advertisement) in advertisements),
    )
    link.channel.send(step, entries)


def on_entries(tables: RoutingTables, step: BrokerStep, link: BrokerLink, message: Entries) -> None:
    """Take over the contents of some buckets: first add what is new, then end what is gone."""
    if not _is_answer(message):
        tables.ignore(step, link.name, "malformed entries")
        return
    for advertise in message.advertisements:
        on_advertise(tables, step, link, advertise)
    for subscribe in message.subscriptions:
        on_subscribe(tables, step, link, subscribe)
    kept = {each.subscription for each in message.subscriptions}
    buckets = set(message.buckets.subscriptions)
    for subscription in _live(link):
        if subscription.id not in kept and _bucket(subscription.id) in buckets:
            end_subscription(tables, step, subscription, [])
    kept = {each.advertisement for each in message.advertisements}
    buckets = set(message.buckets.advertisements)
    for advertisement in list(link.advertisements.values()):
        if advertisement.id not in kept and _bucket(advertisement.id) in buckets:
            end_advertisement(tables, step, advertisement)


def _live(link: BrokerLink) -> list[KnownSubscription]:
    return [each for each in link.subscriptions.values() if each.leaving is None]


def _hashed(entries: Iterable[tuple[str, Filter, bool]]) -> tuple[Bucket, ...]:
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


def _differing(theirs: tuple[Bucket, ...], ours: tuple[Bucket, ...]) -> tuple[int, ...]:
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
