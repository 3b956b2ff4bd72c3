"""The mean of min(d, number of active units), exactly and by sampling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verify.fit.intervals import mean_interval, mean_is
from verify.outcome import Figure, Holds, Outcome, Refuted, Series

if TYPE_CHECKING:
    from verify.claim import Claim
    from verify.profiles import Profile

HALF = Fraction(1, 2)
LAYERS = 16_000
SHARE = 0.01  # 7 standard errors of so many layers with 20 units and more
Counts = Mapping[int, NDArray[np.float64]]


def mean_bound(d: int, d_h: int, p: Fraction = HALF) -> Fraction:
    """``E min(d, Bin(d_h, p))``."""
    return sum(
        (
            comb(d_h, k) * p**k * (1 - p) ** (d_h - k) * min(d, k)
            for k in range(d_h + 1)
        ),
        Fraction(0),
    )


def record(d: int, d_h: int, p: Fraction, sign: str, gap: Fraction) -> dict[str, Any]:
    """The relation ``E min(d, Bin(d_h, p)) sign d - gap``, to be computed anew."""
    share, rest = f"{p.numerator}/{p.denominator}", 1 - p
    terms = [
        [
            "mul",
            comb(d_h, k) * min(d, k),
            ["mul", ["pow", share, k], _power(rest, d_h - k)],
        ]
        for k in range(1, d_h + 1)
    ]
    total: Any = terms[0]
    for term in terms[1:]:
        total = ["add", total, term]
    target = d - gap
    return {
        "kind": "formula",
        "inputs": {},
        "says": f"E min({d}, Bin({d_h}, {p})) {sign} {float(target):g}",
        "relation": [sign, total, f"{target.numerator}/{target.denominator}"],
    }


def _power(base: Fraction, exponent: int) -> Any:
    if not exponent:
        return 1
    return ["pow", f"{base.numerator}/{base.denominator}", exponent]


def figure(d: int, p: Fraction) -> Figure:
    """The right part of Figure 14, computed."""
    sizes = list(range(3, 61, 3))
    means = [float(mean_bound(d, d_h, p)) for d_h in sizes]
    return Figure(
        name="figure-14-rank",
        title="Upper bound of the rank of W_F",
        x_label="d_h",
        y_label="E min(d, Rank I_M)",
        series=(
            Series("exact", sizes, means, style="points"),
            Series("d", [sizes[0], sizes[-1]], [d, d]),
        ),
        marks={"2.75 d": 33.0},
        caption="It comes within 0.07 of d = 12 at d_h = 33, and never reaches it.",
    )


def draw(seed: int, d: int, sizes: Sequence[int]) -> Counts:
    """Count the active units of ``LAYERS`` random layers of each size."""
    draws = np.random.default_rng(seed)
    return {d_h: _active(draws, LAYERS, d, d_h) for d_h in sizes}


def sampled(claim: Claim, counts: Counts, profile: Profile) -> Outcome:
    """Compare what random layers do at random inputs with the claim.

    Looks for an interval on the wrong side at the sizes next to the threshold and at
    the low end, and for another share of active units than claimed, up to ``SHARE``.
    """
    d, start = int(claim.d), int(claim.threshold)
    end, below = (int(x) for x in claim.low)
    slack, p = float(claim.tolerance), float(claim.active)
    found: list[tuple[str, NDArray[np.float64], str]] = []
    told = []
    for d_h, bound, sign in (
        (start, d - slack, ">"),
        (start - 3, d - slack, "<"),
        (end, float(below), "<"),
    ):
        active = counts[d_h]
        means = np.minimum(d, active)
        told.append(f"{means.mean():.3f} at d_h = {d_h}")
        found += [
            (f"bound at d_h = {d_h} minus {bound:g}", means - bound, sign),
            ("share active", active / d_h - p + SHARE, ">"),
            ("share active", active / d_h - p - SHARE, "<"),
        ]
    share = profile.level / len(found)
    common: dict[str, Any] = {"n": 3 * LAYERS, "searched": "normal weights and inputs"}
    reason = "mean of min(d, Rank I_M): " + ", ".join(told)
    for says, values, sign in found:
        against = "<" if sign == ">" else ">"
        for rows in (500, 2000, 4000, LAYERS):  # as few as show it
            interval = mean_interval(values[:rows], share)
            away = interval.separation * (1 if against == ">" else -1)
            if away > 1:
                witness = mean_is(against, values[:rows], interval, says)
                return Refuted(f"{reason}; {says}", witness=witness, **common)
    return Holds(reason, **common)


def _active(
    draws: np.random.Generator, count: int, d: int, d_h: int
) -> NDArray[np.float64]:
    """Active units of ``count`` layers, each at one input."""
    h = draws.standard_normal((count, 1, d), dtype=np.float32)
    W_1 = draws.standard_normal((count, d_h, d), dtype=np.float32)
    b_1 = draws.standard_normal((count, d_h), dtype=np.float32)
    return np.asarray(((W_1 * h).sum(axis=-1) + b_1 >= 0).sum(axis=-1), dtype=float)
