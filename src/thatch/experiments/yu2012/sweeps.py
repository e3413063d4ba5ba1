"""Figures 11 to 14: running time, load and bandwidth over one parameter."""

from __future__ import annotations

from itertools import product

from thatch.experiments.experiment import Comparison, Comparisons, Experiment, Plot
from thatch.experiments.results import Results, join, number, percent
from thatch.experiments.yu2012.levels import LEVEL_NAMES, LEVELS, bandwidth_by, one_and_two
from thatch.experiments.yu2012.placements import (
    GREEDY,
    SETTING,
    SIMULATION,
    SMALL,
    WITH_SLP,
    bandwidths,
    placements,
    quick_placements,
)
from thatch.reports import PlotAxis

__all__ = ["FIG11A", "FIG11B", "FIG12", "FIG13", "FIG14"]

_SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
_PAPER_HOURS = {(1, 1_000_000): "23 h", (2, 1_000_000): "4 h"}
_COMPLEXITIES = (1, 2, 3, 4, 6, 8)


def _compare_time(results: Results) -> Comparisons:
    for levels, name in LEVEL_NAMES.items():
        for size in results.choices("subscribers", levels=levels):
            seconds = results.mean("processor_time", algorithm="SLP", levels=levels, subscribers=size)
            what = f"processor seconds of SLP, {size:,} subscribers, {name}"
            paper = _PAPER_HOURS.get((levels, int(size)), "grows with subscribers; read off no figure")
            yield Comparison(what, paper, number(None if seconds is None else round(seconds, 1)))


FIG11A = Experiment(
    name="yu2012/fig11a",
    title="running time of SLP",
    statement="A million subscribers take 23 hours on one level of 100 brokers and 4 hours on two levels of 200, on a desktop "
    "of 2009 with CPLEX 10.",
    setting=LEVELS
    + "One level: 100 brokers, (IS:H, BI:H). Two levels: loose, 200 brokers. Processor time, the certificate "
    "included, after kernels are compiled. Three seeds.",
    simulation=SIMULATION,
    full=one_and_two(3, subscribers=_SIZES),
    quick=one_and_two(1, is_quick=True, subscribers=(200, SMALL)),
    compare=_compare_time,
    plots=(
        Plot(
            "Processor time of SLP",
            "subscribers",
            "processor_time",
            by=("levels",),
            x=PlotAxis("subscribers", log=True),
            y=PlotAxis("processor time", log=True, format="seconds"),
            paper={"levels 1": ([1_000_000], [82_800]), "levels 2": ([1_000_000], [14_400])},
        ),
    ),
)


def _compare_complexity(results: Results) -> Comparisons:
    names = ("SLP", "Gr*", "Gr")
    for complexity in results.choices("complexity"):
        yield Comparison(
            f"bandwidth with {complexity} boxes a filter: {' / '.join(names)}",
            "SLP1 weaker than Gr and Gr*" if int(complexity) <= 2 else "falls with α, little beyond 3",
            bandwidths(results, names, complexity=complexity),
        )
    gains = join(_gain(results, name) for name in names[:2])
    yield Comparison("bandwidth at α = 8 beside α = 3: SLP / Gr*", "diminishing", gains)


def _gain(results: Results, name: str) -> str | None:
    three, eight = (results.mean("bandwidth", algorithm=name, complexity=each) for each in (3, 8))
    return None if not three or eight is None else number(round(eight / three, 2))


FIG11B = Experiment(
    name="yu2012/fig11b",
    title="bandwidth by filter complexity",
    statement="Bandwidth falls as α grows, for SLP1, Gr and Gr* alike; 3 is the knee. At 1 and 2 SLP1 is more vulnerable.",
    setting=SETTING
    + "Set #1 (IS:H, BI:H), 100,000 subscribers, 100 brokers, α of 1, 2, 3, 4, 6 and 8, five seeds.",
    simulation=SIMULATION,
    full=placements(5, complexity=_COMPLEXITIES, algorithms=(GREEDY, WITH_SLP)),
    quick=quick_placements(complexity=(1, 3), algorithms=(GREEDY, WITH_SLP)),
    compare=_compare_complexity,
    plots=(bandwidth_by("complexity", "boxes a filter"),),
)


_DELAYS = (0.1, 0.2, 0.3, 0.5, 1.0)


def _compare_delays(results: Results) -> Comparisons:
    for delay in results.choices("delay"):
        yield Comparison(
            f"brokers in a candidate set, maximum delay {delay}",
            "about 17 %" if delay == 0.3 else "grows with the delay",
            percent(results.mean("candidates", delay=delay)),
        )
        yield Comparison(
            f"bandwidth, maximum delay {delay}: SLP / Gr* / Gr",
            "falls with the delay",
            bandwidths(results, ("SLP", "Gr*", "Gr"), delay=delay),
        )


FIG12 = Experiment(
    name="yu2012/fig12",
    title="candidate sets and bandwidth by maximum delay",
    statement="A larger maximum delay gives larger candidate sets, about 17 % of the brokers at 0.3, and less bandwidth.",
    setting=SETTING
    + "Set #1 (IS:H, BI:H), 100,000 subscribers, 100 brokers, five seeds. Networks are screened at 0.3: below that, "
    "load limits may be unreachable (bandwidths in brackets).",
    simulation=SIMULATION,
    full=placements(5, delay=_DELAYS, algorithms=(GREEDY, WITH_SLP)),
    quick=quick_placements(delay=(0.3, 1.0), algorithms=(GREEDY, WITH_SLP)),
    compare=_compare_delays,
    plots=(
        Plot("Candidate sets", "delay", "candidates", y=PlotAxis("of all brokers", format="percent")),
        bandwidth_by("delay", "maximum delay"),
    ),
)


_SAMPLED = (2, 5, 10, 20, 40)
_PAPER_SAMPLES = {1: "10 suffice for β = 1.5 to β_max = 1.8", 2: "20 suffice for β = 1.3 to β_max = 1.5"}


def _compare_samples(results: Results) -> Comparisons:
    for levels, sampled in product(LEVEL_NAMES, results.choices("sampled")):
        factor = results.mean("load_factor", levels=levels, sampled=sampled)
        yield Comparison(
            f"load factor, {sampled} sampled a {'broker' if levels == 1 else 'child'}, {LEVEL_NAMES[levels]}",
            _PAPER_SAMPLES[levels],
            number(None if factor is None else round(factor, 3)),
        )


FIG13 = Experiment(
    name="yu2012/fig13",
    title="load factor by sample size",
    statement="Sampling about 10 subscribers a broker is enough to keep loads on one level, 20 a child on two.",
    setting=LEVELS
    + "Set #1 (IS:H, BI:H); samples of 2, 5, 10, 20 and 40 a broker or child; two levels loose; five seeds. Ours "
    "repairs loads after rounding, whatever the sample.",
    simulation=SIMULATION,
    full=one_and_two(5, sampled=_SAMPLED),
    quick=one_and_two(1, is_quick=True, sampled=(2, 10)),
    compare=_compare_samples,
    plots=tuple(
        Plot(title, "sampled", up, by=("levels",), x="sampled a broker or child")
        for up, title in (("load_factor", "Load factor"), ("bandwidth", "Bandwidth"))
    ),
)


_CLUSTERS = (1, 2, 5, 10)  # super-interests a broker
_PAPER_CLUSTERS = {1: "falls gradually", 2: "only slightly better with more"}


def _compare_clusters(results: Results) -> Comparisons:
    for levels, clusters in product(LEVEL_NAMES, results.choices("clusters")):
        yield Comparison(
            f"bandwidth, {clusters} super-interests a broker, {LEVEL_NAMES[levels]}",
            _PAPER_CLUSTERS[levels],
            bandwidths(results, ("SLP",), levels=levels, clusters=clusters),
        )


FIG14 = Experiment(
    name="yu2012/fig14",
    title="bandwidth by super-interests",
    statement="More super-interests lower bandwidth gradually on one level and hardly on several.",
    setting=LEVELS
    + "Set #1 (IS:H, BI:H); 1, 2, 5 and 10 super-interests a broker or child; two levels loose; five seeds.",
    simulation=SIMULATION,
    full=one_and_two(5, clusters=_CLUSTERS),
    quick=one_and_two(1, is_quick=True, clusters=(1, 5)),
    compare=_compare_clusters,
    plots=(
        Plot("Bandwidth", "clusters", "bandwidth", by=("levels",), x="super-interests a broker or child"),
    ),
)
