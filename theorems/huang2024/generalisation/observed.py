"""Many trained attention layers, late in training, and their scores.

Settings are adversarial: skewed frequencies, repeated tokens, small and large margins
of stage 1 and steps of stage 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from theorems.huang2024.data.dataset import Dataset
from theorems.huang2024.data.generate import random_datasets
from theorems.huang2024.generalisation.exact import (
    BOUNDED_DATA,
    LOWEST,
    MIDDLE,
    OPTIMAL,
    eps,
)
from theorems.huang2024.generalisation.setting import Setting
from verify import Holds, Outcome, Refuted, Tightness, evidence
from verify.numerics import table
from verify.profiles import Profile
from verify.slack import slack

if TYPE_CHECKING:
    from theorems.huang2024.dynamics.engine import Track

LATE = (
    20_000  # steps; times eta at least 2000, long after the slowest token has set out
)
FIRM = 15.0  # margins from here on make claims about probabilities say something
SHARE = 0.25  # of the limit speed eta W*_x / ||W*||: a constant C_0 that is exhibited

Scores = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Trained:
    """One attention layer after ``LATE`` steps.

    Attributes:
        dataset: What it is trained on.
        track: Its training.
        eta: Step size.
        delta: Margin of the feed-forward layer.
        normalised: Whether steps are normalised.
    """

    dataset: Dataset
    track: Track
    eta: float
    delta: float
    normalised: bool = True

    def column(self, query: int, values: Scores | None = None) -> Scores:
        """The scores x^T W q of all tokens x, shape ``(V,)``."""
        values = self.track.weights[-1] if values is None else values
        column = np.zeros(self.dataset.size)
        for (x, q), value in zip(self.track.pairs, values, strict=True):
            if q == query:
                column[x] = value
        return column

    def speeds(self, query: int) -> Scores:
        """|eta W*_x / ||W*||| of all tokens x, what |x^T W q| / t tends to."""
        return self.eta * np.abs(self.column(query, self.track.direction))

    def belongs(self, setting: Setting) -> bool:
        """Whether a statement about a setting is about it."""
        same = self.normalised == setting.normalised
        return same and setting.contains(self.dataset)


def train(
    datasets: Sequence[Dataset], rng: np.random.Generator, *, normalised: bool = True
) -> list[Trained]:
    """Train datasets with random margins and step sizes."""
    from theorems.huang2024.dynamics.engine import run

    count = len(datasets)
    low = rng.choice((0.05, FIRM), count)
    delta = np.exp(rng.uniform(np.log(low), np.log(60)))
    eta = np.exp(rng.uniform(np.log(0.1), 0, count))
    tracks = run(datasets, delta=delta, eta=eta, at=[LATE], plain=not normalised)
    return [
        Trained(dataset, track, float(eta[i]), float(delta[i]), normalised)
        for i, (dataset, track) in enumerate(zip(datasets, tracks, strict=True))
    ]


@evidence
def trained(profile: Profile, seed: int) -> list[Trained]:
    """Injective and other maps, sentences and prefixes, three kinds of frequencies."""
    rng = np.random.default_rng(seed)
    each = profile.pick(smoke=6, default=8, full=100)
    datasets = [
        dataset
        for injective in (True, False)
        for kind in ("sentences", "prefixes")
        for skew in (0.0, 3.0, 8.0)
        for dataset in random_datasets(
            int(rng.integers(2**32)),
            each,
            injective=injective,
            kind=kind,
            size=(3, 6),
            skew=skew,
        )
    ]
    plain = datasets[: profile.pick(smoke=2, default=5, full=50)]
    return [
        *train([*datasets, BOUNDED_DATA], rng),
        *train(plain, rng, normalised=False),
    ]


def classes(model: Trained, query: int) -> dict[sp.Symbol, list[int]]:
    """The tokens of each type under a query."""
    types = model.dataset.types(query)
    return {
        OPTIMAL: sorted(types.optimal),
        MIDDLE: sorted(types.non_comparable),
        LOWEST: sorted(types.non_optimal),
    }


def gaps(
    models: Sequence[Trained], order: Sequence[sp.Symbol]
) -> Iterator[tuple[Trained, int, sp.Symbol, float, float]]:
    """How far each type that occurs lies above the next, and what is claimed per t.

    Yields:
        The model, the query, the upper type, the least difference of two scores, and
        ``SHARE`` of its limit speed.
    """
    for model in models:
        for query in model.dataset.queries:
            tokens = classes(model, query)
            if not tokens[OPTIMAL]:
                continue  # no sample of this query compares anything
            scores, speeds = model.column(query), model.speeds(query)
            for upper, lower in pairwise(name for name in order if tokens[name]):
                least = scores[tokens[upper]].min() - scores[tokens[lower]].max()
                told = [x for x in tokens[upper] + tokens[lower] if speeds[x] > 0]
                yield model, query, upper, least, SHARE * speeds[told].min()


def judged(
    models: Sequence[Trained], order: Sequence[sp.Symbol], gap: sp.Expr
) -> Outcome:
    """Compare all gaps with C_0 times the claimed one, at log(1/ε) = t.

    Args:
        models: Those that the claim is about.
        order: The types from the top.
        gap: In ``epsilon``.

    Returns:
        HOLDS, or REFUTED with the worst difference as a table.
    """
    ell = sp.Symbol("ell", positive=True)
    needed = float(sp.simplify(gap.subs(eps, sp.exp(-ell))).subs(ell, LATE))
    rows = list(gaps(models, order))
    least = np.array([row[3] for row in rows])
    claimed = np.array([row[4] for row in rows]) * needed
    common: dict[str, Any] = {
        "n": len(rows),
        "searched": "|V| <= 6, uniform and skewed frequencies, Δ from 0.05 to 60",
        "measured": float((least / claimed).min()),
        "target": 1.0,
        "margin": float((least / claimed).min() - 1),
    }
    worst = int(np.argmin(least / claimed))
    if least[worst] >= claimed[worst]:
        ratio = float(claimed[worst] / least[worst])
        says = f"C_0 = {SHARE} of the limit speed, t = {LATE}"
        return Holds(
            f"smallest gap is {least[worst] / claimed[worst]:.3g} of the claimed one",
            tightness=(Tightness(says, ratio),),
            figures=(
                slack(
                    {"gap": (claimed / least).tolist()},
                    title=f"Slack of the order: {says}",
                ),
            ),
            **common,
        )
    model, query, upper = rows[worst][:3]
    says = (
        f"{upper} tokens over the next type under query {query}, t = {LATE}, "
        f"η = {model.eta:.3g}, Δ = {model.delta:.3g}, of {model.dataset}"
    )
    witness = table(
        {"gap": least[[worst]], "claimed": claimed[[worst]]},
        relation=["<", ["in", "gap"], ["in", "claimed"]],
        aggregate="all",
        says=says,
    )
    return Refuted("a gap is smaller than claimed", witness=witness, **common)
