"""Long runs on strictly complementary and on degenerate data, and their laws of decay.

Problem (3) is strictly complementary when some multipliers are positive on every tight
constraint; decided exactly, by a graph test on the flow that certifies the solution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from theorems.huang2024.data.dataset import Dataset
from theorems.huang2024.data.generate import random_datasets
from theorems.huang2024.dynamics.compact import Solution, log, solve
from verify import Cause, Figure, Holds, Inconclusive, Outcome, Refuted, Series
from verify.fit.power_law import Law, against, local_slopes, resolution
from verify.numerics import table

Floats = NDArray[np.float64]

POINTS = 5
EARLY = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 100_000)
LATE = tuple(round(10 ** (6 + k / (POINTS - 1))) for k in range(POINTS))
TIMES = (*EARLY, *LATE)

ALIGNED = 1e-22
"""1 - cos below this after 1e6 steps is rounding: W has W*'s direction from the start
(1 - cos = c/t^2 with c of the order of the data's logarithms, squared, otherwise)."""

STRICT, DEGENERATE = "strict", "degenerate"
MAX_MARGIN, FIRST_GRADIENT = "max-margin", "first gradient"
MEAN_DIFFERENCE, CLOSED_FORM = "mean difference", "closed form"
DIRECTIONS = (MAX_MARGIN, FIRST_GRADIENT, MEAN_DIFFERENCE, CLOSED_FORM)

SHAPES: tuple[Mapping[str, object], ...] = (
    {"size": (2, 4)},
    {"size": (3, 6), "skew": 2.0},
    {"size": (3, 6), "skew": 1.0, "kind": "prefixes"},
    {"size": (5, 10), "skew": 1.0, "max_length": 10},
)
WIDE = {"size": 20, "per_query": 4, "max_length": 11}


@dataclass(frozen=True, eq=False)
class Decays:
    """Runs, first axis datasets.

    Attributes:
        strict: Whether (3) is strictly complementary, ``(n,)``.
        aligned: Whether W has the direction of W* from the start, ``(n,)``.
        gaps: 1 - cos(W, direction) by direction, each ``(n, times)``; NaN where the
            closed form of Proposition 2 is no other direction than W*.
        log_excess: log(L - L_min), ``(n, times)``.
        speed: eta / ||W*||, ``(n,)``.
        discards: Datasets that are not judged, by reason.
    """

    strict: NDArray[np.bool_]
    aligned: NDArray[np.bool_]
    gaps: Mapping[str, Floats]
    log_excess: Floats
    speed: Floats
    discards: Mapping[str, int]

    def of(self, kind: str, direction: str = MAX_MARGIN) -> Floats:
        """The gaps of one kind of data at the late times, ``(m, POINTS)``."""
        chosen = self.strict if kind == STRICT else ~self.strict
        gaps = self.gaps[direction][chosen & ~self.aligned]
        return gaps[np.isfinite(gaps).all(axis=1)][:, -POINTS:]


FIVE = Dataset(
    5, (1, 2, 3, 4, 0), ((0, 2, 3, 4), (1, 4)), (1, 2), (Fraction(1, 3), Fraction(2, 3))
)
"""Smallest data whose W* is not Proposition 2's closed form; strictly complementary."""

OTHER_FIVE = Dataset(
    5,
    (1, 2, 3, 4, 0),
    ((0, 3, 4), (1, 4), (2, 4)),
    (1, 2, 3),
    (Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)),
)
"""Another, with three optimal tokens."""


def drawn(seed: int, strict: int, degenerate: int, wide: int) -> list[Dataset]:
    """Datasets of both kinds: the first so many of each that come.

    Args:
        seed: Of the draws.
        strict: How many strictly complementary ones.
        degenerate: How many others.
        wide: How many with 20 tokens, of whichever kind.

    Returns:
        The datasets, and two pinned ones.
    """
    left = {True: strict, False: degenerate}
    kept = [FIVE, OTHER_FIVE]
    while any(left.values()):
        for shape in SHAPES:
            for dataset in random_datasets(seed, 40, **shape):
                kind = is_strict(solve(dataset))
                if left[kind]:
                    left[kind] -= 1
                    kept.append(dataset)
            seed += 1
    return kept + random_datasets(seed, wide, **WIDE)


def is_strict(solution: Solution) -> bool:
    """Whether problem (3) is strictly complementary for every query."""
    return all(column.strictly_complementary for column in solution.values())


def observe(
    data: Sequence[Dataset], seed: int, progress: Callable[[int, int], None]
) -> Decays:
    """Train on every dataset to 1e7 steps, with step sizes and margins of all sizes."""
    from theorems.huang2024.dynamics.engine import run

    rng = np.random.default_rng(seed)
    solutions = [solve(dataset) for dataset in data]
    norms = np.array([
        math.sqrt(sum(float(c.norm_squared) for c in s.values())) for s in solutions
    ])
    eta = np.minimum(10 ** rng.uniform(-1.5, 0.3, len(data)), norms / math.e)
    delta = 10 ** rng.uniform(-1, 2, len(data))
    tracks = []
    for i, dataset in enumerate(data):
        progress(i, len(data))
        tracks += run(
            [dataset], delta=delta[i], eta=eta[i], at=TIMES, solutions=[solutions[i]]
        )
    gaps = {name: np.full((len(data), len(TIMES)), np.nan) for name in DIRECTIONS}
    for i, track in enumerate(tracks):
        gaps[MAX_MARGIN][i] = track.gap
        for name, other in others(data[i], track.pairs).items():
            if not parallel(other, track.direction):
                gaps[name][i] = [gap_to(other, W) for W in track.weights]
    strict = np.array([is_strict(solution) for solution in solutions])
    aligned = gaps[MAX_MARGIN][:, -POINTS] < ALIGNED
    discards = {"aligned from the start": int(aligned.sum())}
    excess = np.array([track.log_excess for track in tracks])
    return Decays(strict, aligned, gaps, excess, eta / norms, discards)


def others(dataset: Dataset, pairs: Sequence[tuple[int, int]]) -> dict[str, Floats]:
    """Directions that someone might guess, on the (token, query) pairs.

    First gradient: of uniform attention, Lemma 4 in the limit of small margins. Mean
    difference: mean of the optimal less mean of the non-optimal tokens, per query.
    Closed form: Proposition 2.
    """
    place = {pair: k for k, pair in enumerate(pairs)}
    found = {name: np.zeros(len(pairs)) for name in DIRECTIONS[1:]}
    for i, sentence in enumerate(dataset.sentences):
        carriers, length = set(dataset.carriers(i)), len(sentence)
        if len(carriers) == length:
            continue
        weight = math.exp(log(dataset.frequencies[i]))
        share = len(carriers) / length
        for p, token in enumerate(sentence):
            centred = (p in carriers) - share
            found[FIRST_GRADIENT][place[token, sentence[-1]]] += (
                weight * centred / length
            )
    for query in dataset.queries:
        types = dataset.types(query)
        k, m = len(types.optimal), len(types.non_optimal)
        for tokens, mean, closed in (
            (types.optimal, 1 / max(k, 1), m / max(k + m, 1)),
            (types.non_optimal, -1 / max(m, 1), -k / max(k + m, 1)),
        ):
            for token in tokens:
                found[MEAN_DIFFERENCE][place[token, query]] = mean
                found[CLOSED_FORM][place[token, query]] = closed
    return found


def parallel(a: Floats, b: Floats) -> bool:
    """Whether two directions agree to rounding."""
    return gap_to(a, b) < 1e-12


def gap_to(direction: Floats, W: Floats) -> float:
    """1 - cos without cancellation; 1 where one of both is 0."""
    norms = float(np.linalg.norm(direction)), float(np.linalg.norm(W))
    if not all(norms):
        return 1.0
    return float(0.5 * np.sum((direction / norms[0] - W / norms[1]) ** 2))


# ---------------------------------------------------------------- verdicts


def decide(law: Law, gaps: Floats, discards: Mapping[str, int]) -> Outcome:
    """Hold a law against every series.

    Args:
        law: What is claimed.
        gaps: ``(n, POINTS)`` at ``LATE``.
        discards: What was not judged.

    Returns:
        HOLDS, or REFUTED with the series that contradict most clearly as a table.
    """
    if not len(gaps):
        return Inconclusive("no series to judge", cause=Cause.BUDGET, n=0)
    allowed = resolution(LATE)
    bends, leads, rises = law.differences(LATE, gaps)
    bend, lead, rise = np.abs(bends).max(axis=1), leads.min(axis=1), rises.min(axis=1)
    # Of each series and relation; above 1 the relation fails.
    over = np.array([bend / allowed, 2 - lead / allowed, -rise / allowed])
    worst = over.max(axis=0)
    slopes = local_slopes([LATE[0], LATE[-1]], gaps[:, [0, -1]])[:, 0]
    found = {
        "n": len(gaps),
        "discards": dict(discards),
        "measured": float(np.median(slopes)),
        "interval": (float(slopes.min()), float(slopes.max())),
        "searched": "steps 1e6 to 1e7; slopes d log(1 - cos)/d log t, all of them",
    }
    if worst.max() <= 1:
        return Holds(
            f"{law} fits all {len(gaps)} series; slopes {slopes.min():.4f} to "
            f"{slopes.max():.4f}",
            margin=float(1 - worst.max()),
            **found,
        )
    which = next(k for k in range(len(over)) if (over[k] > 1).any())
    failing = over[which] > 1
    order = np.argsort(-np.where(failing, worst, 0))[: min(5, int(failing.sum()))]
    scaled = gaps[order] * np.array(LATE, dtype=float) ** law.power
    scaled /= scaled.max(axis=1, keepdims=True)
    witness = table(
        {f"u{k}": scaled[:, k] for k in range(POINTS)},
        relation=against(law, allowed, POINTS)[which],
        aggregate="all",
        says=(
            f"u_k = (1 - cos) t^{law.power:g} at equal steps of log t from 1e6 to 1e7, "
            f"over its largest value: {law} has vanishing differences of order "
            f"{law.logs + 1}, positive ones of order {law.logs}, and no fall"
        ),
    )
    reason = f"{law} fails on {int((worst > 1).sum())} of {len(gaps)} series"
    return Refuted(reason, witness=witness, **found)


def gap_figure(decays: Decays) -> Figure:
    """1 - cos(W, W*) against t for both kinds of data, with the guessed directions."""
    series = []
    for kind, chosen in ((STRICT, decays.strict), (DEGENERATE, ~decays.strict)):
        rows = decays.gaps[MAX_MARGIN][chosen & ~decays.aligned]
        low, mid, high = np.quantile(rows, [0.1, 0.5, 0.9], axis=0)
        label = f"W*, {kind} data (median, 10 to 90 %)"
        series.append(Series(label, TIMES, mid.tolist(), low.tolist(), high.tolist()))
    for name in DIRECTIONS[1:]:
        rows = decays.gaps[name]
        rows = rows[np.isfinite(rows).all(axis=1)]
        if len(rows):
            series.append(Series(name, TIMES, np.median(rows, axis=0).tolist()))
    return Figure(
        "direction",
        "Direction of the key-query matrix",
        "step t",
        "1 - cos",
        tuple(series),
        x_log=True,
        y_log=True,
        caption=(
            "Distance of the direction of W from that of the max-margin solution W*, "
            "and from three directions that are not its limit."
        ),
    )


def slope_figure(law: Law, decays: Decays, kind: str) -> Figure:
    """Local exponents of 1 - cos(W, W*) against t, with those of a law."""
    rows = decays.gaps[MAX_MARGIN][
        (decays.strict if kind == STRICT else ~decays.strict) & ~decays.aligned
    ]
    later = TIMES.index(100)  # before, nearly every slope occurs
    times = np.array(TIMES[later:], dtype=float)
    slopes = local_slopes(times, rows[:, later:])
    low, middle, high = np.quantile(slopes, [0.05, 0.5, 0.95], axis=0)
    centres = np.sqrt(times[1:] * times[:-1])
    exact = local_slopes(times, times**-law.power * np.log(times) ** law.logs)
    return Figure(
        "slopes",
        f"Local exponents of 1 - cos(W, W*), {kind} data",
        "step t",
        "d log(1 - cos) / d log t",
        (
            Series(
                f"{len(rows)} datasets (median, 5 to 95 %)",
                centres.tolist(),
                middle.tolist(),
                low.tolist(),
                high.tolist(),
            ),
            Series(f"claimed: {law}", centres.tolist(), exact.tolist()),
        ),
        x_log=True,
        bands={"limit of the claimed law": (-law.power, -law.power)},
        caption=(
            "Slopes between recorded steps. Logarithms bend them long after: what is "
            "decided are differences at steps from 1e6 to 1e7, where a law is exact."
        ),
    )


def rate_figure(decays: Decays, low: float, high: float) -> Figure:
    """Local rates of the excess loss in units of η/‖W*‖, with the claimed range."""
    later = TIMES.index(300)  # before, nearly every rate occurs
    times = np.array(TIMES[later:], dtype=float)
    units = np.diff(times) * decays.speed[:, None]
    rates = -np.diff(decays.log_excess[:, later:], axis=1) / units
    bottom, middle, top = np.quantile(rates, [0.05, 0.5, 0.95], axis=0)
    return Figure(
        "rates",
        "Local rate of decay of L - L_min, in units of η/‖W*‖",
        "step t",
        "-d log(L - L_min) / d(tη/‖W*‖)",
        (
            Series(
                f"{len(rates)} datasets (median, 5 to 95 %)",
                np.sqrt(times[1:] * times[:-1]).tolist(),
                middle.tolist(),
                bottom.tolist(),
                top.tolist(),
            ),
        ),
        x_log=True,
        bands={"claimed, with tolerance": (low, high)},
        caption=(
            "Between recorded steps. What is decided is the rate from 1e6 to 1e7 "
            "steps, of every dataset."
        ),
    )


def excess_figure(decays: Decays) -> Figure:
    """Excess loss against the time in units of its claimed decay."""
    rows = decays.log_excess / math.log(10)
    scaled = np.array(TIMES) * decays.speed[:, None] / math.log(10)
    chosen = np.linspace(0, len(rows) - 1, 8).astype(int)
    return Figure(
        "excess loss",
        "Excess loss against t η/‖W*‖",
        "t η/‖W*‖, in powers of ten",
        "log10 of L - L_min, less its value at step 1",
        tuple(
            Series(
                f"dataset {i}",
                scaled[i, :9].tolist(),
                (rows[i, :9] - rows[i, 0]).tolist(),
            )
            for i in chosen
        ),
        caption="Every curve approaches slope -1: L - L_min decays like e^{-tη/‖W*‖}.",
    )
