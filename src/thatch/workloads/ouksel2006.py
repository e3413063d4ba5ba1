"""The scenarios of ouksel2006, section 6: a new box, and rows that may or may not cover it.

The paper describes each generator in a sentence. Where several readings fit and MCS answers differently, all are here, by
the name of their `form`:

    anchored    a row reaches over one end of the new box on every attribute, never inside at both ends
    two-sided   a row begins and ends inside the new box on most attributes
    wide        a row spans the new box on four attributes of five and is two-sided on the others

Values are whole numbers. The new box has the same sides on all attributes, well inside the range of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from thatch.errors import ParameterError, shown
from thatch.workloads.sampling import draws, zipf_weights

__all__ = [
    "COMPARISON_TOP",
    "FORMS",
    "GAP_FORMS",
    "CoverCase",
    "comparison",
    "disjoint",
    "extreme_non_cover",
    "non_cover",
    "pairwise_cover",
    "redundant_cover",
]

FORMS = ("anchored", "two-sided", "wide")
GAP_FORMS = ("slabs", "tiling")

LOW, HIGH = 200_000, 800_000  # the new box, on every attribute
WIDTH = HIGH - LOW
BEYOND = 200_000  # how far rows reach over it
COVER = 0.2  # share of rows that are the cover in scenario 1.b (section 6.1)
COMPARISON_TOP = 1_000 << 20  # scenario 1-2: real values of [0, 1000] in steps of 2**-20

Ints = npt.NDArray[np.int64]
Boxes = tuple[Ints, Ints]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CoverCase:
    """A new box and the rows it is checked against.

    Parameters
    ----------
    low, high : the new box, closed, a number for each attribute
    lows, highs : a row for each box, a column for each attribute
    is_cover : the rows that cover the new box together; no other row is needed
    """

    low: Ints
    high: Ints
    lows: Ints
    highs: Ints
    is_cover: npt.NDArray[np.bool_]


def pairwise_cover(rng: np.random.Generator, rows: int, attributes: int) -> CoverCase:
    """Scenario 1.a: one row contains the new box, the others overlap it."""
    _check(rows, attributes)
    lows, highs = _partial(rng, rows, attributes, width=0.6, whole=0.3)
    cover = int(rng.integers(rows))
    lows[cover], highs[cover] = LOW - 1, HIGH + 1
    return _case(lows, highs, np.arange(rows) == cover)


def redundant_cover(
    rng: np.random.Generator, rows: int, attributes: int, form: str = "anchored"
) -> CoverCase:
    """Scenario 1.b: a fifth of the rows covers the new box, no single one does, and the others are redundant.

    Notes
    -----
    The cover of `anchored` is slabs along the first attribute that overlap their neighbours; of the other forms, boxes
    made by splitting the new box repeatedly along random attributes.
    """
    _check(rows, attributes, least=2)
    count = max(2, round(COVER * rows))
    if _known(form, FORMS) == "anchored":
        cover = _slabs(rng, count, attributes)
        rest = _anchored(rng, rows - count, attributes)
    else:
        cover = _tiling(rng, count, *_new(attributes))
        whole = 0.8 if form == "wide" else 0.0
        rest = _partial(rng, rows - count, attributes, width=0.3, whole=whole)
    return _shuffled(rng, [cover, rest], count)


def disjoint(rng: np.random.Generator, rows: int, attributes: int) -> CoverCase:
    """Scenario 2.a: no row meets the new box; each lies above it on one attribute."""
    _check(rows, attributes)
    lows, highs = _partial(rng, rows, attributes, width=0.6, whole=0.3)
    where = np.arange(rows), rng.integers(0, attributes, rows)
    lows[where] = HIGH + 1 + rng.integers(0, 1_000, rows)
    highs[where] = lows[where] + 500
    return _case(lows, highs, np.zeros(rows, bool))


def non_cover(rng: np.random.Generator, rows: int, attributes: int, form: str = "anchored") -> CoverCase:
    """Scenario 2.b: the rows overlap the new box but leave a random small range of the first attribute free."""
    _check(rows, attributes)
    if _known(form, FORMS) == "anchored":
        lows, highs = _anchored(rng, rows, attributes)
    else:
        lows, highs = _partial(rng, rows, attributes, width=0.6, whole=0.8 if form == "wide" else 0.3)
    gap = rng.uniform(0.005, 0.1)
    first = int(LOW + WIDTH * rng.uniform(0.1, 0.9 - gap))
    last = int(first + WIDTH * gap)
    is_left = rng.random(rows) < 0.5
    if form == "anchored":
        near = rng.uniform(0.01, 1.0, rows)  # of the way from the side of the new box to the gap
        lows[:, 0] = np.where(is_left, lows[:, 0].clip(max=LOW), HIGH - (HIGH - last - 1) * near)
        highs[:, 0] = np.where(is_left, LOW + (first - 1 - LOW) * near, highs[:, 0].clip(min=HIGH))
    else:
        ends = np.sort(rng.random((2, rows)), axis=0)
        start, length = np.where(is_left, LOW, last + 1), np.where(is_left, first - 1 - LOW, HIGH - last - 1)
        lows[:, 0], highs[:, 0] = start + length * ends[0], start + length * ends[1]
    return _case(lows, highs, np.zeros(rows, bool))


def extreme_non_cover(
    rng: np.random.Generator, rows: int, attributes: int, gap: float, form: str = "slabs"
) -> CoverCase:
    """Scenario 2.c: the new box is covered but for a slice of the first attribute.

    Parameters
    ----------
    gap : width of the slice as a share of the new box's, above 0 and below 0.5
    form : `slabs` are equal slices of the first attribute, with the gap between two of them; `tiling` splits both sides
        of the gap along random attributes. The gap is not in the outermost tenths of the new box
    """
    _check(rows, attributes, least=2)
    if not 0 < gap < 0.5:
        raise ParameterError("a share above 0 and below 0.5", shown(gap), "gap")
    wide = max(1, round(gap * WIDTH))
    if _known(form, GAP_FORMS) == "slabs":
        # Slabs share their ends, as closed real intervals do; those from `split` on are moved by the gap.
        edges = LOW + np.round(np.linspace(0, WIDTH - wide - 1, rows + 1)).astype(np.int64)
        slab, split = np.arange(rows), int(rng.integers(max(1, rows // 10), rows - rows // 10))
        moved = np.where(slab >= split, wide + 1, 0)
        lows, highs = _whole(rng, rows, attributes)
        lows[1:, 0] = (edges[:-1] + moved)[1:]
        highs[:-1, 0] = (edges[1:] + moved)[:-1]
        return _case(lows, highs, np.zeros(rows, bool))
    first = int(LOW + rng.uniform(0.1, 0.9 - gap) * WIDTH)
    below = min(max(1, round(rows * (first - LOW) / WIDTH)), rows - 1)
    (low, high), (low_above, high_below) = _new(attributes), _new(attributes)
    high_below[0], low_above[0] = first - 1, first + wide
    left = _tiling(rng, below, low, high_below)
    right = _tiling(rng, rows - below, low_above, high)
    left[1][:, 0] = left[1][:, 0].clip(max=first - 1)  # sides at the gap must not reach into it
    right[0][:, 0] = right[0][:, 0].clip(min=first + wide)
    return _shuffled(rng, [left, right], 0)


def comparison(
    rng: np.random.Generator,
    subscriptions: int,
    attributes: int,
    *,
    skew: float = 2.0,
    scale: float = 50.0,
    width: tuple[float, float] = (200.0, 100.0),
) -> Boxes:
    """Scenario 1-2: arriving subscriptions with popular attributes and popular values.

    Parameters
    ----------
    skew : of the Zipf distribution of attributes; there are as many draws as attributes, and those drawn at least once
        are constrained
    scale : of the Pareto distribution of centres in [0, 1000]; a centre beyond is drawn again, uniformly
    width : mean and deviation of the normal distribution of widths

    Returns
    -------
    Low and high ends, 0 to `COMPARISON_TOP`, in steps of 2**-20. An unconstrained attribute has both ends.
    """
    _check(subscriptions, attributes)
    shape = (subscriptions, attributes)
    drawn = draws(rng, zipf_weights(attributes, skew), subscriptions * attributes).reshape(shape)
    is_side = np.zeros(shape, bool)
    np.put_along_axis(is_side, drawn.astype(np.int64), values=True, axis=1)
    centre = scale * (1 + rng.pareto(1.0, shape))
    centre = np.where(centre > 1_000, rng.uniform(0, 1_000, shape), centre)
    half = np.abs(rng.normal(*width, shape)) / 2
    low, high = (np.rint((centre + way * half) * 2**20).astype(np.int64) for way in (-1, 1))
    return (
        np.where(is_side, low.clip(0, COMPARISON_TOP), 0),
        np.where(is_side, high.clip(0, COMPARISON_TOP), COMPARISON_TOP),
    )


def _new(attributes: int) -> Boxes:
    return np.full(attributes, LOW, np.int64), np.full(attributes, HIGH, np.int64)


def _case(lows: Ints, highs: Ints, is_cover: npt.NDArray[np.bool_]) -> CoverCase:
    low, high = _new(lows.shape[1])
    return CoverCase(low=low, high=high, lows=lows, highs=highs, is_cover=is_cover)


def _shuffled(rng: np.random.Generator, parts: list[Boxes], cover: int) -> CoverCase:
    """All parts in a random order; the first `cover` rows were the cover."""
    lows, highs = np.vstack([low for low, _ in parts]), np.vstack([high for _, high in parts])
    order = rng.permutation(len(lows))
    return _case(lows[order], highs[order], order < cover)


def _whole(rng: np.random.Generator, rows: int, attributes: int) -> Boxes:
    """Rows that reach over the new box at both ends of every attribute."""
    shape = (rows, attributes)
    return LOW - rng.integers(0, BEYOND, shape), HIGH + rng.integers(0, BEYOND, shape)


def _slabs(rng: np.random.Generator, rows: int, attributes: int) -> Boxes:
    """Slabs along the first attribute that overlap their neighbours by up to two fifths of a slab."""
    edges = LOW + np.linspace(0, WIDTH, rows + 1)
    over = rng.uniform(0, 0.2, (2, rows - 1)) * WIDTH / rows
    lows, highs = _whole(rng, rows, attributes)
    lows[1:, 0] = edges[1:-1] - over[0]
    highs[:-1, 0] = edges[1:-1] + over[1]
    return lows, highs


def _anchored(rng: np.random.Generator, rows: int, attributes: int) -> Boxes:
    """Rows that hold one end of the new box on every attribute, and 1 to 90 % of its width."""
    shape = (rows, attributes)
    held = (rng.uniform(0.01, 0.9, shape) * WIDTH).astype(np.int64)
    is_low = rng.random(shape) < 0.5
    lows, highs = _whole(rng, rows, attributes)
    return np.where(is_low, lows, HIGH - held), np.where(is_low, LOW + held, highs)


def _partial(rng: np.random.Generator, rows: int, attributes: int, *, width: float, whole: float) -> Boxes:
    """Rows with random ranges, up to `width` of the new box; a share `whole` of the ranges spans it."""
    shape = (rows, attributes)
    centre = rng.uniform(LOW, HIGH, shape)
    half = WIDTH * width * rng.uniform(0.2, 1.0, shape) / 2
    is_whole = rng.random(shape) < whole
    is_whole[np.arange(rows), rng.integers(0, attributes, rows)] = False  # no row covers the new box alone
    lows, highs = _whole(rng, rows, attributes)
    return (
        np.where(is_whole, lows, (centre - half).astype(np.int64)),
        np.where(is_whole, highs, (centre + half).astype(np.int64)),
    )


def _tiling(rng: np.random.Generator, rows: int, low: Ints, high: Ints) -> Boxes:
    """Rows that cover a box together: it is split repeatedly, mostly the largest part, with a little overlap."""
    lows, highs = np.repeat(low[None], rows, axis=0), np.repeat(high[None], rows, axis=0)
    sizes = np.full(rows, -np.inf)
    sizes[0] = 0.0
    for made in range(1, rows):
        is_largest = rng.random() < 0.7
        split = int(np.argmax(sizes)) if is_largest else int(rng.integers(made))
        axis = int(rng.integers(len(low)))
        wide = highs[split, axis] - lows[split, axis]
        at = int(lows[split, axis] + wide * rng.uniform(0.3, 0.7))
        over = int(wide * 0.05 * rng.random())
        lows[made], highs[made] = lows[split], highs[split]
        highs[split, axis] = min(highs[split, axis], at + over)
        lows[made, axis] = max(lows[made, axis], at - over)  # the two parts share `at` at least
        for part in (split, made):
            sizes[part] = np.log(highs[part] - lows[part] + 1.0).sum()
    beyond_low, beyond_high = (rng.integers(0, BEYOND, lows.shape) for _ in range(2))
    return np.where(lows == low, lows - beyond_low, lows), np.where(highs == high, highs + beyond_high, highs)


def _known(form: str, forms: tuple[str, ...]) -> str:
    if form not in forms:
        raise ParameterError(f"one of {', '.join(forms)}", shown(form), "form")
    return form


def _check(rows: int, attributes: int, least: int = 1) -> None:
    if rows < least:
        raise ParameterError(f"at least {least} rows", shown(rows), "rows")
    if attributes < 1:
        raise ParameterError("at least 1 attribute", shown(attributes), "attributes")
