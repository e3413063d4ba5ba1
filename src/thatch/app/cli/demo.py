"""`thatch demo`: match quotes live, explain one, route them through brokers, and match a log of them on Spark."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from thatch import Engine
from thatch.app.cli.demo_network import alerts_at_brokers
from thatch.app.cli.demo_spark import check_demo, log_on_spark
from thatch.app.cli.options import Overwrite
from thatch.app.cli.output import note, progress, require_spark, say

__all__ = ["demo"]

_SYMBOLS = 500
_VENUES = ("NYSE", "NASDAQ", "LSE", "XETRA")
# As many as seven brokers in one process accept in a few seconds; few symbols, so that alerts overlap.
_AT_BROKERS = 4_000
_SYMBOLS_AT_BROKERS = 25
_SECONDS_AT_BROKERS = 3.0


def demo(
    subscriptions: Annotated[
        int, typer.Option(help="Number of alerts; brokers get at most 4,000.", min=0)
    ] = 20_000,
    seconds: Annotated[
        float, typer.Option(help="How long to stream quotes; to brokers at most 3.", min=0)
    ] = 5.0,
    seed: Annotated[int, typer.Option(help="Seed of the generated market.", min=0)] = 7,
    spark: Annotated[
        Path | None, typer.Option(help="Also profile and match a log of quotes on Spark, in this folder.")
    ] = None,
    events: Annotated[int, typer.Option(help="Number of quotes in that log.", min=1)] = 30_000,
    overwrite: Overwrite = False,
) -> None:
    """Match generated quotes with generated alerts, live; then route some through seven brokers.

    With --spark, also profiles and matches a log of quotes on Spark.

    \b
    Examples:
      $ thatch demo --subscriptions 500 --seconds 0.2
      $ thatch demo --subscriptions 500 --seconds 0.2 --spark demo --events 2000
    """
    if spark is not None:
        require_spark()
        check_demo(spark, overwrite=overwrite)
    rng = np.random.default_rng(seed)
    names = [f"S{number:03d}" for number in range(_SYMBOLS)]
    prices = rng.uniform(5, 500, _SYMBOLS).round(2)
    engine = Engine()
    with progress("compiling or loading kernels"):
        _prepare()
    note(f"Subscribing {subscriptions:,} alerts such as:")
    started = time.perf_counter()
    with progress("subscribing", subscriptions) as meter:
        for number, text in enumerate(itertools.islice(_alerts(rng, names, prices), subscriptions)):
            if number < 3:
                note(f"    {text}")
            engine.subscribe(f"alert-{number}", text, subscriber=f"desk-{number % 100}")
            meter.step()
    took = time.perf_counter() - started
    note(f"... {len(engine) / took:,.0f} per second. Streaming quotes for {seconds:g} seconds.")
    event = _stream(engine, _quotes(rng, names, prices), seconds)
    if event is not None:
        _explain(engine, event)
    few = names[:_SYMBOLS_AT_BROKERS]
    alerts_at_brokers(
        _alerts(rng, few, prices),
        _quotes(rng, few, prices),
        _VENUES,
        subscriptions=min(subscriptions, _AT_BROKERS),
        seconds=min(seconds, _SECONDS_AT_BROKERS),
    )
    if spark is not None:
        alerts, quotes = _alerts(rng, names, prices), _quotes(rng, names, prices)
        log_on_spark(alerts, quotes, spark, events=events, subscriptions=subscriptions, overwrite=overwrite)


def _prepare() -> None:
    """Load the kernels, so that the rates below are those of a running system."""
    started = time.perf_counter()
    warm = Engine()
    for number in range(300):
        warm.subscribe(str(number), f"symbol = 'S{number}' and price < {number}")
    warm.match({"symbol": "S1", "price": 0.5})
    note(f"Kernels ready in {time.perf_counter() - started:.1f} s (compiled once, then cached).")


def _alerts(rng: np.random.Generator, names: list[str], prices: np.ndarray[Any, Any]) -> Iterator[str]:
    """Typical alerts: a price band of a symbol, a busy venue, a family of symbols."""
    while True:
        symbol = int(rng.integers(len(names)))
        low = float(prices[symbol] * rng.uniform(0.7, 1.2))
        kind = rng.random()
        if kind < 0.7:
            yield f"symbol = '{names[symbol]}' and price between {low:.2f} and {low * 1.1:.2f}"
        elif kind < 0.9:
            venue = _VENUES[int(rng.integers(4))]
            yield f"symbol = '{names[symbol]}' and venue = '{venue}' and volume > {int(rng.integers(1, 10)) * 1000}"
        else:
            yield f"symbol like '{names[symbol][:3]}%' and change < {-rng.uniform(2, 5):.2f} and volume > 5000"


def _quotes(
    rng: np.random.Generator, names: list[str], prices: np.ndarray[Any, Any]
) -> Iterator[dict[str, Any]]:
    """Random walks of all prices."""
    while True:
        symbol = int(rng.integers(len(names)))
        change = float(rng.normal(0, 1.5))
        prices[symbol] = max(1.0, prices[symbol] * (1 + change / 100))
        yield {
            "symbol": names[symbol],
            "price": round(float(prices[symbol]), 2),
            "change": round(change, 2),
            "volume": int(rng.integers(1, 10_000)),
            "venue": _VENUES[int(rng.integers(4))],
        }


def _stream(engine: Engine, quotes: Iterator[dict[str, Any]], seconds: float) -> dict[str, Any] | None:
    """Match quotes for some seconds and print the rates; returns the last quote, if any."""
    started = last = time.perf_counter()
    events = matched = deliveries = 0
    spent = 0.0
    event: dict[str, Any] | None = None
    while (now := time.perf_counter()) < started + seconds:
        event = next(quotes)
        before = time.perf_counter()
        found = engine.match(event)
        spent += time.perf_counter() - before
        events += 1
        matched += bool(found)
        deliveries += len(found)
        if now - last >= 1:
            note(
                f"    {events:>9,} quotes  {events / spent:>9,.0f} matched per second  {deliveries:>9,} alerts sent"
            )
            last = now
    say(
        f"{events:,} quotes against {len(engine):,} alerts: {deliveries:,} alerts sent for {matched:,} quotes,"
        f" {spent / max(events, 1) * 1e6:.1f} microseconds per match"
    )
    return event


def _explain(engine: Engine, event: dict[str, Any]) -> None:
    wanted = set(engine.match(event))
    near = [name for name in engine if name not in wanted and event["symbol"] in str(engine.filter(name))]
    if not near:
        return
    say(f"\nWhy does {near[0]} not match {event}?")
    say(str(engine.explain(near[0], event)))
