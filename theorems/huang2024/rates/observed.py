"""Runs of Algorithm 1 that are judged one setting at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st

from theorems.huang2024.data.assumptions import violations
from theorems.huang2024.data.dataset import PREFIXES, SENTENCES, Dataset
from theorems.huang2024.data.strategies import datasets, violating_datasets
from theorems.huang2024.rates import families
from verify import Claim, Holds, Outcome, Refuted
from verify.numerics import table
from verify.search import Search
from verify.symbolic import Compiled, tree

TIMES = (1, 3, 10, 30, 100, 300, 1000, 3000)

ROUNDING = 1e-9
"""Relative error allowed to 1 - cos and to 1 - phi_+: 5e-12 was seen after 1e5 steps
against long double, and errors grow like t. What exceeds a bound by less is no
violation."""


@dataclass(frozen=True)
class Setting:
    """One run of stage 2.

    Attributes:
        dataset: The data.
        delta: Margin of the feed-forward layer.
        eta: Step size.
        times: Steps that are looked at.
        grouped: Whether the data keep Assumption 3 with next tokens taken together, and
            every sentence has one type of optimal token.
    """

    dataset: Dataset
    delta: float
    eta: float
    times: tuple[int, ...] = TIMES

    @property
    def grouped(self) -> bool:
        """Whether the proved bounds speak about these data."""
        return is_grouped(self.dataset)


def is_grouped(dataset: Dataset) -> bool:
    """Whether each sentence has one optimal type, not outnumbered by any next token."""
    n = dataset.successor
    for i, (sentence, label) in enumerate(
        zip(dataset.sentences, dataset.labels, strict=True)
    ):
        upper = [sentence[p] for p in dataset.carriers(i)]
        lower = [n[x] for x in sentence if n[x] != label]
        if lower and len(set(upper)) != 1:
            return False
        if any(lower.count(y) > len(upper) for y in set(lower)):
            return False
    return True


@lru_cache(maxsize=8192)
def run(setting: Setting) -> Mapping[str, list[float]]:
    """Train and tabulate: one list per symbol or quantity, over the times."""
    from theorems.huang2024.dynamics.engine import run as train

    track = train(
        [setting.dataset],
        delta=setting.delta,
        eta=setting.eta,
        at=setting.times,
    )[0]
    data, count = setting.dataset, len(setting.times)
    log_rest = track.log_phi_minus.max(axis=1)  # log(1 - min_n phi_+)
    log_loss = np.logaddexp(_log_least(data.size, setting.delta), track.log_excess)
    fixed = {
        "N": data.N,
        "L_max": data.max_length,
        "V": data.size,
        "S": track.norm_star,
        "Delta": setting.delta,
        "eta": setting.eta,
        "K": rarity(data),
        "C_0T": setting.delta / (4 * math.sqrt(data.size - 1)),
    }
    return {
        **{name: [float(x)] * count for name, x in fixed.items()},
        "t": [float(x) for x in setting.times],
        "gap": track.gap.tolist(),
        "log_rest": log_rest.tolist(),
        "phi": (-np.expm1(log_rest)).tolist(),
        "log_odds": [_log_odds(x) for x in log_loss.tolist()],
    }


def _log_odds(log_loss: float) -> float:
    """Return log(e^L - 1) from log L."""
    return log_loss if log_loss < -37 else math.log(math.expm1(math.exp(log_loss)))


def _log_least(size: int, delta: float) -> float:
    """Return log L_min = log log(1 + (V - 1) e^-Delta)."""
    inside = math.log(size - 1) - delta
    return inside if inside < -37 else math.log(math.log1p(math.exp(inside)))


def rarity(dataset: Dataset) -> float:
    """K = log(1 / min pi), also where the frequency underflows."""
    rarest = min(dataset.frequencies)
    return math.log(rarest.denominator) - math.log(rarest.numerator)


def settings(several: bool) -> Any:
    """Settings with skewed frequencies, and step sizes and margins of all sizes.

    Args:
        several: Whether a sentence may have several types of optimal token.

    Returns:
        A Hypothesis strategy.
    """

    def data(kind: str, injective: bool) -> Any:
        return datasets(
            kind=kind, injective=injective, max_size=5, max_length=6, skew=20.0
        )

    plain = st.one_of(data(SENTENCES, True), data(PREFIXES, True))
    mixed = data(SENTENCES, False)
    if not several:
        mixed = mixed.filter(is_grouped)
    return st.builds(
        Setting,
        st.one_of(plain, mixed),
        st.sampled_from([5.0, 0.1, 1.0, 20.0, 200.0]),
        st.sampled_from([0.1, 0.01, 0.3, 1.0, 3.0]),
    )


def late_start(several: bool) -> Any:
    """Settings that are soon beyond the thresholds that were proved.

    Args:
        several: As of :func:`settings`.

    Returns:
        A Hypothesis strategy.
    """
    data = datasets(max_size=4, max_length=4, per_query=2, queries=(1, 2), skew=8.0)
    mixed = datasets(injective=None, max_size=4, max_length=4, queries=(1, 2))
    return st.builds(
        Setting,
        st.one_of(data, mixed) if several else data,
        st.sampled_from([1.0, 5.0, 20.0]),
        st.sampled_from([0.3, 1.0]),
        st.just((100, 1000, 10_000)),
    )


def late_settings(_several: bool) -> Any:
    """Settings to which Theorem 2 applies as printed: few tokens, very many steps.

    Sentences have one optimal type: others cannot be run for so long.

    Returns:
        A Hypothesis strategy.
    """
    data = datasets(max_size=3, max_length=3, per_query=2, queries=(1, 2), skew=20.0)
    return st.builds(
        Setting,
        data,
        st.just(1e6),
        st.sampled_from([0.1, 0.2]),
        st.just((10**11,)),
    )


def delayed(steps: int, eta: float = 0.3) -> Setting:
    """COLUMNS with frequencies that keep the rare column still for ``steps`` steps."""
    moved = math.sqrt(2) * eta * steps
    log2_ratio = math.ceil((moved + 60) / math.log(2))
    return Setting(families.columns(log2_ratio), 1.0, eta, (steps,))


PAIR = Setting(families.pair(), 5.0, 0.25, (3, 30, 300, 3000))
LATE_PAIR = Setting(families.pair(), 15_000.0, 0.25, (3, 8_000_000, 10**9))
LATE_COLUMNS = Setting(families.columns(4), 15_000.0, 0.3, (3, 10**7, 10**9))
THREE = Setting(families.three(), 5.0, 0.3, (1000, 100_000))
DELAYED = delayed(100_000)


class Hunt:
    """Looks for settings at which a relation between bound and observation fails.

    Args:
        over: Expression over the symbols of ``notation`` and the columns of
            :func:`run`; positive where the claim is false.
        says: What that means, for the witness.
        applies: Expression that is not negative where the claim speaks, or None.
        room: How far above 0 ``over`` must be: rounding.
        instances: Makes the strategy from whether several optimal types may occur.
    """

    def __init__(
        self,
        over: sp.Expr,
        says: str,
        applies: sp.Expr | None = None,
        room: float = 0.0,
        instances: Callable[[bool], Any] = settings,
    ) -> None:
        self.over, self.says, self.room = over, says, room
        self.instances = instances
        self.worst: list[float] = []  # excess of every setting that was judged
        self._over = Compiled(over, "numpy")
        self._applies = None if applies is None else Compiled(applies, "numpy")

    def rows(self, setting: Setting) -> list[dict[str, float]]:
        """The observations of a setting about which the claim speaks."""
        columns = run(setting)
        rows = [
            dict(zip(columns, row, strict=True))
            for row in zip(*columns.values(), strict=True)
        ]
        return [row for row in rows if self._speaks(row)]

    def _speaks(self, row: dict[str, float]) -> bool:
        return self._applies is None or float(self._applies(row)) >= 0

    def excess(self, row: dict[str, float]) -> float:
        """How far a row is on the false side."""
        return float(self._over(row)) - self.room

    def __call__(self, search: Search, claim: Claim, scale: float = 1.0) -> Outcome:
        """Replay what is pinned to the claim, then search."""
        several = claim.domain.several

        def violated(setting: Setting) -> bool:
            if violations(setting.dataset) or not (several or setting.grouped):
                search.discard("outside the claim's assumptions")
            rows = self.rows(setting)
            if not rows:
                search.discard("no step at which the claim speaks")
            worst = max(map(self.excess, rows))
            self.worst.append(worst)
            if math.isfinite(worst):
                search.aim(worst, "distance to a violation")
            return worst > 0

        return search.for_all(
            self.instances(several),
            violated,
            self.witness,
            searched=SPACES[self.instances],
            pinned=claim.pinned,
            scale=scale,
        )

    def witness(self, setting: Setting) -> dict[str, Any]:
        """The first false observation of a setting as a table."""
        row = next(row for row in self.rows(setting) if self.excess(row) > 0)
        where = f"after {row['t']:.0f} steps on {setting.dataset.sentences}"
        names = {symbol.name for symbol in self.over.free_symbols}
        return table(
            {name: [row[name]] for name in sorted(names)},
            relation=[">", tree(self.over, {}), float(self.room).hex()],
            aggregate="all",
            says=f"{self.says} {where}",
        )


SPACES = {
    settings: (
        "|V| ≤ 5, lengths ≤ 6, frequencies skewed up to 2^120, prefixes and sentences, "
        "η from 1/100 to 3, Δ from 1/10 to 200, t ≤ 3000, and the pinned runs"
    ),
    late_start: (
        "|V| ≤ 4, lengths ≤ 4, frequencies skewed up to 2^48, η = 3/10 and 1, Δ ≤ 20, "
        "t ≤ 10^4, and the pinned runs"
    ),
    late_settings: (
        "|V| ≤ 3, lengths ≤ 3, frequencies skewed up to 2^120, Δ = 10^6, "
        "t = 10^11, and the pinned runs"
    ),
}


def beyond(search: Search, assumption: str, over: sp.Expr) -> Outcome:
    """Look for a violation on data that violate one assumption and no other.

    Args:
        search: Budget and seed.
        assumption: One of ``assumptions.OF_DATA``.
        over: As of :class:`Hunt`.

    Returns:
        REFUTED with a run that violates it, or HOLDS when none was found.
    """
    hunt = Hunt(over, "1 - cos above the bound", room=ROUNDING)
    drawn = st.builds(
        Setting,
        violating_datasets(assumption, max_size=5, max_length=6, skew=10.0),
        st.sampled_from([5.0, 0.1, 200.0]),
        st.sampled_from([0.1, 0.01, 1.0]),
    )

    def violated(setting: Setting) -> bool:
        worst = max(map(hunt.excess, hunt.rows(setting)))
        search.aim(worst, "distance to a violation")
        return worst > 0

    return search.for_all(
        drawn,
        violated,
        hunt.witness,
        searched="|V| ≤ 5, lengths ≤ 6, η from 1/100 to 1, Δ ≤ 200, t ≤ 3000",
        scale=0.2,
    )


def started_elsewhere(bound: sp.Expr) -> Outcome:
    """Start PAIR at -1000 W*."""
    start = {(0, 1): -500.0, (1, 1): 500.0}
    return _otherwise(PAIR.dataset, bound, 1000, {"start": [start]}, "from -1000 W*")


def plain(bound: sp.Expr) -> Outcome:
    """Descend on COLUMNS without normalising the gradient."""
    return _otherwise(
        families.columns(4), bound, 100_000, {"plain": True}, "plain gradient descent"
    )


def _otherwise(
    dataset: Dataset, bound: sp.Expr, steps: int, how: dict[str, Any], says: str
) -> Outcome:
    """Compare the bound with 1 - cos of a changed algorithm."""
    from theorems.huang2024.dynamics.engine import run as train

    row = {name: x[0] for name, x in run(Setting(dataset, 1.0, 0.3, (1,))).items()}
    row |= {"t": float(steps)}
    track = train([dataset], delta=1.0, eta=0.3, at=(steps,), **how)[0]
    row["gap"] = float(track.gap[0])
    allowed = float(Compiled(bound, "numpy")(row))
    if row["gap"] <= allowed:
        return Holds(f"1 - cos = {row['gap']:.2g} is within {allowed:.2g}", n=1)
    names = sorted({"gap", *(symbol.name for symbol in bound.free_symbols)})
    witness = table(
        {name: [row[name]] for name in names},
        relation=[">", ["in", "gap"], tree(bound, {})],
        aggregate="all",
        says=f"{says}: 1 - cos above the bound after {steps} steps",
    )
    return Refuted(witness["says"], witness=witness, n=1)
