"""The columns of what the pipeline reads and gives."""

from __future__ import annotations

__all__ = [
    "EVENT",
    "EVENTS",
    "EXPIRES",
    "FILTER",
    "HOUR",
    "PLACE",
    "PLACES",
    "REASON",
    "ROW",
    "SUBSCRIBER",
    "SUBSCRIPTION",
]

EVENT = "event"  # what names an event: a number of ours, or a column of the user's
SUBSCRIPTION = "subscription"
SUBSCRIBER = "subscriber"
FILTER = "filter"
EXPIRES = "expires"
PLACE = "slot"  # the number of a subscription in its index
PLACES = "places"
EVENTS = "events"  # how many
HOUR = "hour"  # its beginning, in UTC
ROW = "row"  # the number of a row in its file or files
REASON = "reason"  # why a row was refused
