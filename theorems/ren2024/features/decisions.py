"""Decisions on the accuracy of random features: Figures 6 to 9."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from theorems.ren2024.features.accuracy import GRID, METRICS, Accuracy, figure
from theorems.ren2024.features.ranges import within
from verify import Claim, Outcome
from verify.fit.trend import Panel, increasing
from verify.profiles import Profile


def falls(claim: Claim, layers: Accuracy, profile: Profile) -> Outcome:
    """Compare logarithms of errors, paired by run: each step, the ends, the slope."""
    order = [int(value) for value in claim.order]
    at = [GRID.index(value) for value in order]
    metrics = [f"{claim.quantity} {name}" for name in ("MSE", "MAE")]
    panels = [Panel(m, order, -np.log(layers.relative[m][:, at])) for m in metrics]
    drawn = figure({claim.reading: layers}, metrics, f"errors-{claim.reading}")
    outcome = increasing(panels, profile.level, figures=(drawn,))
    return outcome.but(searched=layers.says)


def low(claim: Claim, layers: Accuracy, profile: Profile) -> Outcome:
    """Student intervals of relative errors with 1200 features."""
    cases = {metric: layers.relative[metric][:, -1] for metric in METRICS}
    return ranged(claim, cases, [layers], profile)


def majority(claim: Claim, layers: Accuracy, profile: Profile) -> Outcome:
    """Student interval of the logarithm of the MSE over that of uniform attention."""
    name = f"{claim.quantity} MSE"
    ratio = layers.uniform[name][:, -1]
    outcome = ranged(
        claim, {f"log of {name}": np.log(ratio)}, [layers], profile, scale=np.log
    )
    typical = float(np.exp(np.log(ratio).mean()))
    return outcome.but(reason=f"geometric mean {typical:.3g}: {outcome.reason}")


def larger(claim: Claim, layers: Accuracy, profile: Profile) -> Outcome:
    """Student interval of the difference of errors, paired by run."""
    gap = float(claim.sign) * (layers.large - layers.others)
    return ranged(claim, {"error of the largest less others": gap}, [layers], profile)


def ranged(
    claim: Claim,
    cases: dict[str, Any],
    layers: Sequence[Accuracy],
    profile: Profile,
    scale: Callable[[float], float] = float,
) -> Outcome:
    """Student intervals in the claim's range, with what the layers are."""
    far = [float((accuracy.norms > 2 * np.log(1200)).mean()) for accuracy in layers]
    says = [
        f"{accuracy.says}; {part:.2g} of the pairs have ‖k+q‖² > 14.2"
        for accuracy, part in zip(layers, far, strict=True)
    ]
    ends = scale(float(claim.range.start)), scale(float(claim.range.end))
    return within(cases, *ends, profile.level, searched="; ".join(says))
