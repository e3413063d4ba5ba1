"""Brokers that join and leave: the network stays a tree, and every name in it belongs to one broker.

When a link comes up, each side tells the other which brokers it reaches without it, and how. If both reach the same one,
the link would close a cycle, or two brokers have one name: the link is closed, and the reason names the existing path to
that broker. Until then, nothing else is sent. Later changes are passed on from link to link, so that every broker has a
map of the network. If several links close a cycle at the same moment, the map will show it; of each cycle exactly the
newest link is closed, by the brokers at its ends, whatever the order in which they learn of the others.
"""

from __future__ import annotations

from math import inf

from thatch.broker.advertising import end_advertisement
from thatch.broker.channel import Channel, began, is_session, session_name
from thatch.broker.completeness import grant, persist_link, revoke
from thatch.broker.effects import CloseLink
from thatch.broker.forwarding import rebuild
from thatch.broker.messages import Joined, Linked, Publish, Report
from thatch.broker.network_map import NetworkMap, age, read_reports
from thatch.broker.resync import send_digest
from thatch.broker.step import BrokerStep
from thatch.broker.subscribing import end_all_of, settle_without
from thatch.broker.tables import BrokerLink, RoutingTables

__all__ = ["begin_anew", "link_up", "lose_link", "on_joined", "on_linked"]

_STALE = 64  # brokers that are gone, and remembered until there are more
_PATIENCE = 8  # reports in the name of this broker that it contradicts


def link_up(tables: RoutingTables, step: BrokerStep, neighbour: str) -> None:
    """Use a link; if it is new, tell the neighbour which brokers are on this side."""
    if neighbour == tables.name:
        tables.ignore(step, neighbour, "a link to itself")
        return
    link = tables.links.get(neighbour)
    if link is None:
        session = tables.new_session(step)
        channel = Channel(neighbour, tables.timing, session)
        link = tables.links[neighbour] = BrokerLink(neighbour, channel, tables.next_order(), session)
        channel.open(step)
        persist_link(step, link)
        _tell_all(tables, step, link)
    link.channel.up(step)


def begin_anew(tables: RoutingTables, step: BrokerStep, link: BrokerLink, *, is_restarted: bool) -> None:
    """Start over with a neighbour that has lost its memory; what it said before holds until it says otherwise.

    If `is_restarted`, this side began a new session as well. Else its messages will still arrive, except events: the
    neighbour may have had them before, and losing an event is better than sending it twice.
    """
    link.awaits_reports = True
    tables.note_completeness(link, subscriptions=True, advertisements=True)
    if is_restarted:
        settle_without(tables, step, link.name)
        link.said_complete = (True, True)
        _tell_all(tables, step, link)
        if link.is_joined:
            send_digest(step, link)
    else:
        for number, message in link.channel.outbox.items():
            if isinstance(message, Publish):
                link.channel.replace(step, number, Linked(()))  # an empty message
    persist_link(step, link)
    if link.is_joined:
        revoke(tables, step)
        rebuild(tables, step, link)
        grant(tables, step)


def on_joined(tables: RoutingTables, step: BrokerStep, link: BrokerLink, message: Joined) -> None:
    """Get to know a neighbour that is new, or has lost its memory, and all brokers of its side."""
    reports = read_reports(message.reports)
    if not reports or reports[0][0] != link.name or not is_session(message.began):
        _ignore_reports(tables, step, link)
        return
    if began(message.began) < began(link.began):
        link.began = message.began
    link.awaits_reports = False
    persist_link(step, link)
    reason = "" if link.is_joined or tables.trusts_topology else _reason_to_close(tables, link, reports)
    if reason:
        lose_link(tables, step, link, reason)
        return
    was_joined, link.is_joined = link.is_joined, True
    if not was_joined:
        persist_link(step, link)
    _learn(tables, step, link, reports)
    if was_joined or tables.links.get(link.name) is not link:
        return
    send_digest(step, link)
    # What was complete on other links stays complete: what comes over this one is passed on to all.
    revoke(tables, step, [link])
    rebuild(tables, step, link)
    grant(tables, step, [link])


def on_linked(tables: RoutingTables, step: BrokerStep, link: BrokerLink, message: Linked) -> None:
    """Learn how other brokers are linked now."""
    reports = read_reports(message.reports)
    if reports is None:
        _ignore_reports(tables, step, link)
    else:
        _learn(tables, step, link, reports)


def lose_link(tables: RoutingTables, step: BrokerStep, link: BrokerLink, reason: str = "") -> None:
    """Forget a neighbour and all that came from it; `reason` says why the link must be closed, if it is not yet."""
    del tables.links[link.name]
    tables.partial.pop(link.name, None)
    tables.unguided.pop(link.name, None)
    was_joined, link.is_joined = link.is_joined, False
    link.channel.down()
    link.channel.close(step)
    step.persist(("link", link.name), None)
    tables.stop_contesting(step, link.name)
    for sent in link.sent:
        sent.forget(step)
    if was_joined:
        _report(tables, step)
        _update_disk(tables, step)
    revoke(tables, step)
    end_all_of(tables, step, link)
    settle_without(tables, step, link.name)
    for advertisement in list(link.advertisements.values()):
        end_advertisement(tables, step, advertisement)
    grant(tables, step)
    if reason:
        step.effects.append(CloseLink(cause=step.cause, neighbour=link.name, reason=reason))


# --- the map -----------------------------------------------------------------------------------------


def _tell_all(tables: RoutingTables, step: BrokerStep, link: BrokerLink) -> None:
    """Tell a neighbour which brokers there are."""
    if tables.name not in tables.map.reports:
        _report(tables, step)
        _update_disk(tables, step)
    mine = tables.map.reports[tables.name]
    others = (tables.map.reports.get(each) for each in sorted(tables.mapped - {tables.name}))
    link.channel.send(step, Joined(link.began, (mine, *filter(None, others))))


def _learn(tables: RoutingTables, step: BrokerStep, link: BrokerLink, reports: tuple[Report, ...]) -> None:
    """Take over what a neighbour knows of other brokers, tell the others, and close links that must go."""
    if tables.trusts_topology:
        return
    known = tables.map
    news = tuple(each for each in reports if known.is_news(each))
    foreign = next((each for each in news if each[0] == tables.name), None)
    if foreign is not None and not _contradict(tables, step, foreign):
        path = f"{tables.name} - {link.name}"
        lose_link(tables, step, link, f"two brokers with one name: {path} leads to {tables.name} itself")
        return
    news = tuple(each for each in news if each is not foreign)
    for each in news:
        known.put(each)
        _persist_report(tables, step, each)
    if news:
        _tell_others(tables, step, link, news)
    _agree(tables, step, link, reports)
    if dict(known.reports[tables.name][2]).get(link.name) != link.began:
        _report(tables, step)
    _update_disk(tables, step)
    if news:
        _close_cycles(tables, step)


def _agree(tables: RoutingTables, step: BrokerStep, link: BrokerLink, reports: tuple[Report, ...]) -> None:
    """Take over when a link began if its other end says that it was earlier: one of them may have lost its memory."""
    for broker, _, links in reports:
        since = dict(links).get(tables.name) if broker == link.name else None
        if since is not None and began(since) < began(link.began):
            link.began = since
            persist_link(step, link)


def _contradict(tables: RoutingTables, step: BrokerStep, foreign: Report) -> bool:
    """Report anew after a report of this broker that it does not know; False if that is of no use.

    A broker that has lost its memory, or whose clock went back, meets its own earlier reports. But if another one has
    its name, both would go on forever.
    """
    if tables.contradicted == _PATIENCE:
        return False
    tables.contradicted += 1
    moment, number = began(foreign[1])
    tables.continue_order(number)
    _report(tables, step, moment)
    return True


def _report(tables: RoutingTables, step: BrokerStep, after: float = -inf) -> None:
    """Tell everybody which links there are here."""
    before = tables.map.reports.get(tables.name)
    now = max(step.now, after, -inf if before is None else began(before[1])[0])
    links = tuple((link.name, link.began) for link in tables.joined_links() if not tables.trusts_topology)
    report = (tables.name, session_name(now, tables.next_order()), links)
    tables.map.put(report)
    _persist_report(tables, step, report)
    if before is not None and not tables.trusts_topology:
        _tell_others(tables, step, None, (report,))


def _tell_others(
    tables: RoutingTables, step: BrokerStep, link: BrokerLink | None, news: tuple[Report, ...]
) -> None:
    for other in tables.links.values():
        if other is not link:
            other.channel.send(step, Linked(news))


def _ignore_reports(tables: RoutingTables, step: BrokerStep, link: BrokerLink) -> None:
    tables.ignore(step, link.name, "malformed reports")
    if link.awaits_reports:
        lose_link(tables, step, link, "malformed reports")


def _persist_report(tables: RoutingTables, step: BrokerStep, report: Report) -> None:
    if report[0] in tables.mapped:
        step.persist(("report", report[0]), report[1:])


def _update_disk(tables: RoutingTables, step: BrokerStep) -> None:
    """Keep on disk what brokers reported that are connected with this one.

    What others reported is remembered for a while: if they are linked again, perhaps in another way at the same moment,
    their reports are not news to everybody.
    """
    known = tables.map
    reached = known.reached(tables.name) & known.reports.keys()
    for each in tables.mapped - reached:
        step.persist(("report", each), None)
    for each in reached - tables.mapped:
        step.persist(("report", each), known.reports[each][1:])
    tables.mapped = reached
    if len(known.reports) > 2 * len(reached) + _STALE:
        known.forget(known.reports.keys() - reached)


# --- cycles ------------------------------------------------------------------------------------------


def _close_cycles(tables: RoutingTables, step: BrokerStep) -> None:
    """Close the links here whose ends are connected by older ones."""
    for link in list(tables.joined_links()):
        here = tables.map.path(tables.name, link.name, age(tables.name, link.name, link.began))
        if here is not None:
            lose_link(tables, step, link, _cycle([tables.name, link.name], here))


def _reason_to_close(tables: RoutingTables, link: BrokerLink, reports: tuple[Report, ...]) -> str:
    """Why a new link must not be used, as far as both sides know: its ends are connected, or a name is on both sides."""
    mine, theirs = tables.map, NetworkMap(reports)
    here, there, before = tables.name, link.name, age(tables.name, link.name, link.began)
    newer = (each for each in reports if each[0] != here and mine.is_news(each))
    both = NetworkMap((*mine.reports.values(), *newer))
    path = both.path(here, there, before)
    if path is not None:
        return _cycle([here, there], path)
    for broker, _, _ in reports[1:]:
        beyond = theirs.path(there, broker, before)
        if beyond is None:
            continue
        if broker == here and mine.is_news(theirs.reports[broker]):
            return f"a cycle, or two brokers with one name: {_shown([here, *beyond])} is {broker} itself"
        path = mine.path(here, broker, before)
        # Else it was here, and is there now: the last link on the way was removed.
        if path is not None and len(path) > 1 and both.path(here, path[-2], before) is not None:
            return _cycle([here, *beyond], path)
    return ""


def _cycle(there: list[str], here: list[str]) -> str:
    return f"a cycle, or two brokers with one name: {_shown(there)}, and already {_shown(here)}"


def _shown(path: list[str]) -> str:
    return " - ".join(path)
