"""Stage 2 of many datasets in floating point, and claims judged along the paths."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from theorems.huang2024.data.assumptions import CONFUSED
from theorems.huang2024.data.dataset import Dataset
from theorems.huang2024.data.generate import random_datasets, violating
from theorems.huang2024.descent.notation import Data, has_grouped_counts, pi_min
from theorems.huang2024.dynamics.engine import Track, run
from verify import Outcome, Tightness, slack
from verify.numerics import Tolerance, within
from verify.symbolic import Compiled

Floats = NDArray[np.float64]
Rows = Mapping[str, Floats]
LABELS = ("N", "L", "S", "t", "eta", "Delta")
TIMES = (0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 300)

SLACK = "Slack of the bounds along the paths of stage 2"
ROUNDING = (
    "γ_k relative to the sides, k = 64 (t + 1)(number of scores + 20) operations: each "
    "step rounds every score once, and the proofs need no more of W^(t) than the signs "
    "of scores, so that errors do not grow along the path"
)


@dataclass(frozen=True)
class Setting:
    """One run of stage 2.

    Attributes:
        dataset: The data.
        delta: Margin after stage 1.
        eta: Step size.
    """

    dataset: Dataset
    delta: float
    eta: float


def settings(rng: np.random.Generator, datasets: Sequence[Dataset]) -> list[Setting]:
    """Extreme margins and step sizes: Δ from .05 to 1000, η from .002 to 3."""
    return [
        Setting(
            dataset,
            float(np.exp(rng.uniform(np.log(0.05), np.log(1000)))),
            float(np.exp(rng.uniform(np.log(0.002), np.log(3)))),
        )
        for dataset in datasets
    ]


def random_settings(seed: int, count: int) -> list[Setting]:
    """Random data: half with injective n, frequencies from equal to e^(8 g)."""
    rng = np.random.default_rng(seed)
    datasets: list[Dataset] = []
    for part, (injective, skew) in enumerate(
        (i, s) for i in (True, None) for s in (0.0, 1.0, 8.0)
    ):
        datasets += random_datasets(
            seed + part,
            count // 6,
            size=(3 if injective is None else 2, 7),
            injective=injective,
            skew=skew,
            max_length=12,
            repeats=4,
        )
    return settings(rng, datasets)


def confused_settings(seed: int, count: int) -> list[Setting]:
    """Random data that violate Assumption 1 by confused tokens only, n injective."""
    rng = np.random.default_rng(seed)
    return settings(rng, [violating(rng, CONFUSED, skew=4.0) for _ in range(count)])


def follow(runs: Sequence[Setting], at: Sequence[int] = TIMES, **options: Any) -> Rows:
    """Run stage 2 and write every (run, step) as one row.

    Args:
        runs: What to run.
        at: Steps to record.
        **options: As for ``engine.run``.

    Returns:
        Columns: the symbols of ``notation`` by name, the flags ``injective``,
        ``grouped`` and ``equal``, and ``k``, a count of operations.
    """
    tracks = run(
        [one.dataset for one in runs],
        delta=[one.delta for one in runs],
        eta=[one.eta for one in runs],
        at=at,
        **options,
    )
    parts = [_rows(*each) for each in zip(runs, tracks, strict=True)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _rows(one: Setting, track: Track) -> Rows:
    dataset, times = one.dataset, track.times.astype(float)
    frequencies = dataset.frequencies
    least = min(frequencies)
    constant = {
        "eta": one.eta,
        "Delta": one.delta,
        "N": dataset.N,
        "L": dataset.max_length,
        "S": track.norm_star,
        "log_pi": _log(least.numerator) - _log(least.denominator),
        "injective": dataset.injective,
        "grouped": has_grouped_counts(dataset),
        "equal": least == max(frequencies),
    }
    held = np.array([len(dataset.carriers(i)) for i in range(dataset.N)])
    lengths = np.array([len(sentence) for sentence in dataset.sentences])
    over_share = np.where(held < lengths, track.phi_plus * lengths / held, np.inf)
    tightest = np.argmin(over_share, axis=1)
    norm = np.where(track.norm > 0, track.norm, 1.0)
    return {
        **{name: np.full(times.shape, float(x)) for name, x in constant.items()},
        "t": times,
        "X": track.norm,
        "phi": track.phi_plus_min,
        "share": track.phi_plus[np.arange(len(times)), tightest],
        "carriers": held[tightest].astype(float),
        "length": lengths[tightest].astype(float),
        "cosine": track.descent @ track.direction,
        "cosine_W": np.sum(track.descent * track.weights, axis=1) / norm,
        "k": 64 * (times + 1) * (len(track.pairs) + 20),
    }


def _log(x: int) -> float:
    return float(sp.log(x)) if x > 2**1000 else float(np.log(float(x)))


def joined(*parts: Rows) -> Rows:
    """Rows of several batches."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def of(rows: Rows, data: Data, since: Any = 0) -> Rows:
    """The rows that a claim is about, from step ``ceil(since)`` on."""
    first = np.ceil(value(sp.sympify(since), rows))
    chosen = rows["t"] >= first
    for name in ("injective", "grouped", "equal"):
        if getattr(data, name):
            chosen &= rows[name] > 0
    return {name: column[chosen] for name, column in rows.items()}


def value(expr: sp.Expr, rows: Rows) -> Floats:
    """Evaluate a formula of a claim on every row; π_min enters by its logarithm."""
    result = _compiled(sp.sympify(expr))(rows)
    return np.broadcast_to(np.asarray(result, dtype=float), rows["t"].shape)


@functools.lru_cache(maxsize=256)
def _compiled(expr: sp.Expr) -> Compiled:
    if pi_min in expr.free_symbols:
        log_pi = sp.Symbol("log_pi", real=True)
        expr = sp.expand_log(expr.subs(pi_min, sp.exp(log_pi)), force=True)
    return Compiled(expr, "numpy")


@dataclass(frozen=True)
class Along:
    """An inequality ``left >= right`` judged on rows.

    Attributes:
        says: In words.
        left: Larger side, a formula or the name of a column.
        right: Smaller side.
    """

    says: str
    left: sp.Expr
    right: sp.Expr

    def sides(self, rows: Rows) -> tuple[Floats, Floats, Floats]:
        """Both sides, and the bound on the rounding of their difference."""
        left, right = value(self.left, rows), value(self.right, rows)
        unit = np.finfo(float).eps / 2
        gamma = rows["k"] * unit / (1 - rows["k"] * unit)
        return left, right, gamma * np.maximum(np.abs(left), np.abs(right))

    def excess(self, rows: Rows) -> float:
        """Largest violation relative to the sides; negative where there is room."""
        left, right, _ = self.sides(rows)
        size = np.maximum(np.maximum(np.abs(left), np.abs(right)), 1e-300)
        return float(np.max((right - left) / size))

    def violated(self, rows: Rows) -> bool:
        """Whether a row violates it beyond rounding."""
        left, right, allowed = self.sides(rows)
        return bool(np.any(right - left > allowed))

    def judge(self, rows: Rows, searched: str) -> Outcome:
        """HOLDS or REFUTED with the worst rows, and how tight it is."""
        left, right, allowed = self.sides(rows)
        outcome = within(
            np.maximum(right - left, 0.0),
            Tolerance(allowed, ROUNDING),
            says=f"{self.says} is false on these rows",
            labels={name: rows[name] for name in LABELS}
            | {"left": left, "right": right},
            searched=searched,
        )
        some = (left > 0) & (right >= 0)
        ratios = right[some] / left[some]
        ratio = float(np.max(ratios, initial=0.0))
        outcome = outcome.but(tightness=(Tightness(self.says, min(ratio, 1.0)),))
        if outcome.verdict != "HOLDS" or ratio <= slack.LEAST:
            return outcome
        drawn = slack.slack({self.says: ratios.tolist()}, title=SLACK)
        return outcome.but(figures=(drawn,))


def judge(relations: Sequence[Along], rows: Rows, searched: str) -> Outcome:
    """The first inequality that fails, or the one with least room."""
    outcomes = [relation.judge(rows, searched) for relation in relations]
    for outcome in outcomes:
        if outcome.verdict != "HOLDS":
            return outcome
    tightness = tuple(one for outcome in outcomes for one in outcome.tightness)
    worst = min(outcomes, key=lambda one: one.margin if one.margin is not None else 1.0)
    figures = slack.together(one for outcome in outcomes for one in outcome.figures)
    return worst.but(tightness=tightness, figures=figures)
