"""The page of a profile: what events look like, and what subscriptions ask of them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from thatch.model.lines import below
from thatch.model.profile import AttributeProfile, ErrorBounds, MatchCounts, Predicate, Profile
from thatch.model.selectivity import Selectivity
from thatch.reports import Report
from thatch.reports.figures import PlotAxis

__all__ = ["profile_report"]

_DRAWN = 12  # attributes whose distribution is drawn
_PAIRED = 20  # attributes of the heat map
_BINS = 40
_TOP = 15  # frequent values of an attribute that are drawn
_FEW = 20  # different numbers that are drawn one by one
_SHOWN = 3  # frequent values that the table names
_DECADES = 7  # of selectivities, in the histogram


def profile_report(profile: Profile, events: str, subscriptions: str | None, command: str) -> Report:
    """The page; events and subscriptions are named by the paths that were given."""
    report = Report(f"Profile of {events}", command=command)
    _add_facts(report, profile)
    _add_bounds(report, profile)
    if profile.rejected:
        _add_rejects(report, profile)
    if profile.attributes:
        _add_attributes(report, profile)
        _add_distributions(report, profile)
        _add_together(report, profile)
    if profile.matches is not None and subscriptions is not None:
        _add_predicates(report, profile)
        _add_matches(report, profile, profile.matches, subscriptions)
    return report


def _add_facts(report: Report, profile: Profile) -> None:
    matches = profile.matches
    facts: dict[str, object] = {
        "events": profile.events,
        "rejected rows": profile.rejected,
        "attributes": profile.attribute_count,
        "sets of attributes": profile.set_count,
    }
    if profile.misfits:
        facts["values outside their type"] = profile.misfits
    if matches is not None:
        facts["subscriptions"] = matches.subscriptions
        facts["distinct predicates"] = len(profile.predicates)
        facts["matches"] = matches.total
        facts["never matched"] = matches.never / matches.subscriptions if matches.subscriptions else None
    report.facts(facts, formats={"never matched": "percent"})


def _add_bounds(report: Report, profile: Profile) -> None:
    bounds = profile.bounds
    if bounds == ErrorBounds(fraction=bounds.fraction):
        text = "All counts, numbers of distinct values and quantiles are exact."
    else:
        text = _bounds_of_sketches(bounds)
    if bounds.fraction < 1:
        text += (
            f" All of it is of a sample of {bounds.fraction:.3g} of the events, so a share is off by at most "
            f"{profile.sampling_error():.2%} in 95 of 100 cases."
        )
    report.note(text)


def _bounds_of_sketches(bounds: ErrorBounds) -> str:
    return (
        "Counts of events, types, sets and pairs of attributes, predicates and matches are exact. Numbers of distinct "
        f"values have a relative standard error of {bounds.distinct:.2%}. Quantiles of numbers are off by at most "
        f"{bounds.quantiles:.3%} of them in rank; those of texts by at most {bounds.text_quantiles:.1%} in 95 of 100 "
        f"cases. Counts of frequent values are off by at most {bounds.heavy:.3%} of an attribute's values; texts are "
        f"cut after {bounds.text_length} characters."
    )


def _add_rejects(report: Report, profile: Profile) -> None:
    report.section("Rejected rows", f"{profile.rejected:,} rows are not events and were left out.")
    report.table(
        [{"rows": count, "reason": reason} for reason, count in profile.reasons], caption="Some reasons"
    )


# --- attributes --------------------------------------------------------------------------------------------------


def _add_attributes(report: Report, profile: Profile) -> None:
    report.section(
        "Attributes",
        "A list counts by its elements, but an event has the attribute if one of them has. Null is a value.",
    )
    names = [each.key for each in profile.attributes]
    report.bars(
        names,
        [each.events / profile.events for each in profile.attributes],
        title="Events that have an attribute",
        label="attribute",
        value=PlotAxis("share of the events", format="percent"),
        most=30,
    )
    shares = {"present": "percent", "null": "percent"}
    report.table(
        [_attribute_row(each, profile.events) for each in profile.attributes],
        caption="Attributes",
        total=profile.attribute_count,
        formats=shares,  # type: ignore[arg-type]  # tables take any mapping of formats
    )


def _attribute_row(each: AttributeProfile, events: int) -> dict[str, object]:
    numbers, texts = each.quantiles, each.text_quantiles

    def at(share: float) -> object:
        ordered = numbers or texts
        return ordered[round(share * (len(ordered) - 1))] if ordered else None

    return {
        "attribute": each.key,
        "present": each.events / events,
        "types": _types(each),
        "null": each.nulls / each.values if each.values else None,
        "values": each.values,
        "distinct (about)": each.distinct,
        "least": at(0),
        "quarter": at(0.25),
        "median": at(0.5),
        "three quarters": at(0.75),
        "greatest": at(1),
        "most frequent": ", ".join(
            f"{value} ({count / each.values:.1%})" for value, count in each.heavy[:_SHOWN]
        ),
    }


def _types(each: AttributeProfile) -> str:
    counts = {
        "number": each.numbers,
        "text": each.texts,
        "boolean": each.falses + each.trues,
        "NaN": each.nans,
        "null": each.nulls,
    }
    found = [f"{name} {count / each.values:.1%}" for name, count in counts.items() if count]
    return found[0].split()[0] if len(found) == 1 else ", ".join(found)


def _add_distributions(report: Report, profile: Profile) -> None:
    report.section("Values", "The distribution of the values of the most frequent attributes.")
    for each in profile.attributes[:_DRAWN]:
        if each.numbers > each.values / 2 and each.distinct > _FEW:
            _add_histogram(report, profile, each)
        else:
            _add_frequent(report, each)


def _add_histogram(report: Report, profile: Profile, each: AttributeProfile) -> None:
    """Draw the values between the first and the last percentile, so that a few outliers do not hide the others."""
    last = len(each.quantiles) - 1
    low, high = each.quantiles[round(0.01 * last)], each.quantiles[round(0.99 * last)]
    width = (high - low) / _BINS
    if not 0 < width < float("inf") or low + width == low:
        _add_frequent(report, each)
        return
    edges = [low + step * width for step in range(_BINS)] + [high]
    lower = Selectivity(profile).below(each.key, map(below, edges))
    shares = [(right - left) / profile.present(each.key) for left, right in pairwise(lower)]
    report.histogram(
        edges,
        shares,
        title=f"{each.key}: from the first to the last hundredth",
        x=each.key,
        y=PlotAxis("share of the values", format="percent"),
    )


def _add_frequent(report: Report, each: AttributeProfile) -> None:
    others = {"null": each.nulls, "false": each.falses, "true": each.trues, "NaN": each.nans}
    found: list[tuple[object, int]] = [(name, count) for name, count in others.items() if count]
    found += [(repr(value) if isinstance(value, str) else value, count) for value, count in each.heavy]
    found.sort(key=lambda value: -value[1])
    shown = found[:_TOP]
    if not shown:
        report.note(f"`{each.key}`: no value comes often enough to be named.")
        return
    together = sum(count for _, count in shown) / each.values
    report.bars(
        [value for value, _ in shown],
        [count / each.values for _, count in shown],
        title=f"{each.key}: the most frequent values, {together:.1%} of all",
        label=each.key,
        value=PlotAxis("share of the values", format="percent"),
    )


def _add_together(report: Report, profile: Profile) -> None:
    report.section("Attributes that occur together", "Events by the exact set of attributes that they have.")
    report.table(
        [
            {
                "events": each.events,
                "of all": each.events / profile.events,
                "attributes": len(each.keys),
                "which": ", ".join(each.keys),
            }
            for each in profile.sets
        ],
        caption="Sets of attributes",
        most=20,
        total=profile.set_count,
        formats={"of all": "percent"},
    )
    kept = list(profile.attributes[:_PAIRED])
    if len(kept) < 2 or profile.set_count == 1:  # then all come together always
        return
    both = {(each.first, each.second): each.events for each in profile.pairs}
    keys = [each.key for each in kept]
    shares = [
        [
            1.0 if row.key == key else both.get((min(row.key, key), max(row.key, key)), 0) / row.events
            for key in keys
        ]
        for row in kept
    ]
    report.heatmap(
        keys,
        keys,
        shares,
        title="Of the events that have one attribute, those that also have another",
        x="also have",
        y="have",
        value=PlotAxis("share", format="percent"),
    )


# --- subscriptions -----------------------------------------------------------------------------------------------


def _add_predicates(report: Report, profile: Profile) -> None:
    report.section(
        "Predicates",
        "A predicate is what one conjunction of a filter demands of one attribute; each was measured on every event.",
    )
    if not profile.predicates or not profile.events:
        report.note("There is none to measure.")
        return
    edges, counts = _histogram_of_selectivity(profile.predicates, profile.events)
    never = sum(1 for each in profile.predicates if not each.events)
    report.histogram(
        edges,
        counts,
        title="Selectivity of distinct predicates",
        x=PlotAxis("share of the events that satisfy it", log=True),
        y="predicates",
    )
    report.note(f"{never:,} of {len(profile.predicates):,} distinct predicates hold on no event.")
    rows = [
        {
            "predicate": each.text,
            "used in": each.uses,
            "events": each.events,
            "selectivity": each.events / profile.events,
        }
        for each in profile.predicates
    ]
    report.table(rows, caption="Predicates, the most used first", most=50, formats={"selectivity": "percent"})
    if profile.predicate_pairs:
        report.table(
            _pair_rows(profile),
            caption="Pairs that stand together most often, beside what independence would give",
            most=50,
            formats={"both": "percent", "if independent": "percent"},
        )


def _histogram_of_selectivity(
    predicates: tuple[Predicate, ...], events: int
) -> tuple[list[float], list[int]]:
    """Count predicates by selectivity, two bins to a power of ten; those that never hold are left out."""
    edges = [10 ** (-step / 2) for step in range(2 * _DECADES, -1, -1)]
    counts = [0] * (len(edges) - 1)
    for each in predicates:
        if each.events:
            share = each.events / events
            at = sum(1 for edge in edges[1:-1] if share >= edge)
            counts[at] += 1
    first = next((at for at, count in enumerate(counts) if count), 0)
    return edges[first:], counts[first:]


def _pair_rows(profile: Profile) -> list[dict[str, object]]:
    alone = {each.text: each.events / profile.events for each in profile.predicates}
    return [
        {
            "first": each.first,
            "second": each.second,
            "used in": each.uses,
            "both": each.events / profile.events,
            "if independent": alone[each.first] * alone[each.second],
        }
        for each in profile.predicate_pairs
    ]


def _add_matches(report: Report, profile: Profile, matches: MatchCounts, subscriptions: str) -> None:
    share = matches.never / matches.subscriptions if matches.subscriptions else 0.0
    refused = (
        f" {matches.rejected:,} rows are not subscriptions and were left out." if matches.rejected else ""
    )
    report.section(
        "Matches",
        f"Of {matches.subscriptions:,} subscriptions of `{subscriptions}` {matches.never:,} ({share:.1%}) never matched."
        + refused,
    )
    points = _survival_curve(matches)
    if points[0]:
        report.lines(
            {"subscriptions": points},
            title="Subscriptions that want at least so many events",
            x=PlotAxis("events", log=True),
            y=PlotAxis("subscriptions", log=True),
        )
    rows: list[dict[str, Any]] = [
        {"subscription": identity, "events": events, "of all": events / profile.events}
        for identity, events in matches.heaviest
    ]
    report.table(rows, caption="The heaviest subscriptions", most=50, formats={"of all": "percent"})


def _survival_curve(matches: MatchCounts) -> tuple[list[int], list[int]]:
    """For each number of events, how many subscriptions want at least that many."""
    xs, ys, total = [], [], 0
    for events, count in reversed(matches.distribution):
        total += count
        if events:
            xs.append(events)
            ys.append(total)
    return xs[::-1], ys[::-1]
