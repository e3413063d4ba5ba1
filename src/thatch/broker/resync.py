"""A neighbour that may know less, or more, than it was told: only what differs is sent again.

Entries are spread over buckets by a hash of their id. A digest has the hash of what is in each bucket; the receiver asks
for the buckets in which it knows something else, and gets all that is in them. Messages of a link keep their order, so
what a digest or an answer says holds at the moment when it is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from thatch.broker.advertising import end_advertisement, on_advertise
from thatch.broker.messages import Advertise, Bucket, Digest, Entries, Subscribe, Wanted
from thatch.broker.outgoing import Entry
from thatch.broker.refusals import ignore
from thatch.broker.step import Step
from thatch.broker.subscribing import on_subscribe
from thatch.broker.tables import Link, Subscription, Tables
from thatch.broker.unsubscribing import end_subscription

__all__ = ["BUCKETS", "on_digest", "on_entries", "on_wanted", "send_digest"]

BUCKETS = 4_096  # a link with 100,000 entries has 25 in each; only those that are not empty are sent


def send_digest(step: Step, link: Link, tables: Tables) -> None:
    """Tell a neighbour in short what it should know from here."""
    subscriptions = ((each.subscription, each.filter, False) for each in _forwarded(link))
    advertisements = ((each.advertisement, each.filter, each.closed) for each in _announced(tables, link))
    link.channel.send(step, Digest(_hashed(subscriptions), _hashed(advertisements)))


def on_digest(tables: Tables, step: Step, link: Link, message: Digest) -> None:
    """Ask for the buckets that differ from what is known."""
    if not (_are_buckets(message.subscriptions) and _are_buckets(message.advertisements)):
        ignore(tables, step, link.name, "a digest that is none")
        return
    live = ((each.id, each.filter, False) for each in _live(link))
    offered = ((each.id, each.filter, each.closed) for each in link.advertisements.values())
    subscriptions = _differing(message.subscriptions, _hashed(live))
    advertisements = _differing(message.advertisements, _hashed(offered))
    if subscriptions or advertisements:
        link.channel.send(step, Wanted(subscriptions, advertisements))


def on_wanted(tables: Tables, step: Step, link: Link, message: Wanted) -> None:
    """Send all that is in some buckets."""
    if not (_are_numbers(message.subscriptions) and _are_numbers(message.advertisements)):
        ignore(tables, step, link.name, "buckets that are none")
        return
    subscriptions, advertisements = set(message.subscriptions), set(message.advertisements)
    entries = Entries(
        message,
        tuple(each for each in _forwarded(link) if _bucket(each.subscription) in subscriptions),
        tuple(each for each in _announced(tables, link) if _bucket(each.advertisement) in advertisements),
    )
    link.channel.send(step, entries)


def on_entries(tables: Tables, step: Step, link: Link, message: Entries) -> None:
    """Take over what a neighbour says is in some buckets: first what is new, then forget what is gone."""
    if not _is_answer(message):
        ignore(tables, step, link.name, "entries that are none")
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


def _forwarded(link: Link) -> list[Subscribe]:
    """What was told, mergers too, of which the tables know nothing."""
    told = {} if link.forwarded is None else link.forwarded.active()
    return [Subscribe(subscription=about, filter=filter) for about, filter in told.items()]


def _announced(tables: Tables, link: Link) -> list[Advertise]:
    told = {} if link.announced is None else link.announced.active()
    return [
        Advertise(advertisement=about, filter=filter, closed=_is_closed(tables, about))
        for about, filter in told.items()
    ]


def _is_closed(tables: Tables, about: str) -> bool:
    return about in tables.advertisements and tables.advertisements[about].closed


def _live(link: Link) -> list[Subscription]:
    return [each for each in link.subscriptions.values() if each.leaving is None]


def _hashed(entries: Iterable[Entry]) -> tuple[Bucket, ...]:
    """The buckets that are not empty, each with the hash of its entries in whatever order."""
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
        isinstance(message.buckets, Wanted)
        and _are_numbers(message.buckets.subscriptions)
        and _are_numbers(message.buckets.advertisements)
        and isinstance(message.subscriptions, tuple)
        and isinstance(message.advertisements, tuple)
        and all(isinstance(each, Subscribe) for each in message.subscriptions)
        and all(isinstance(each, Advertise) for each in message.advertisements)
    )
