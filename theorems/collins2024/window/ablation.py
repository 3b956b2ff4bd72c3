"""Studies of ‖M‖ during pre-training, and what is read off them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify.fit.trend import Panel
from verify.outcome import Figure, Series
from verify.profiles import Profile
from verify.runs import Study, Trained, Trainings
from verify.train.seeds import seed_of

DEFAULTS = {"L": 1.0, "sigma": 0.01, "n": 20}  # Section 3.2
D = 5  # Section 3.2
STEPS = 5000  # the text gives no number
EVERY = 50
LAST = 1000  # steps over which the end is averaged: one task per step is noisy
TRIALS = 10  # of the paper, Section 3.2
NAMES = {"L": "L", "sigma": "σ", "n": "n"}

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ablation:
    """One plot of a figure: what is varied, and where.

    Attributes:
        task: ``relu`` or ``cosine``.
        covariates: ``isotropic`` or ``non-isotropic``.
        varied: ``L``, ``sigma`` or ``n``.
        values: In increasing order.
        lr: First learning rate.
    """

    task: str
    covariates: str
    varied: str
    values: tuple[float, ...]
    lr: float

    @property
    def name(self) -> str:
        """For people."""
        kind = {"relu": "ReLU", "cosine": "cosine"}[self.task]
        return f"{kind} tasks, {self.covariates} covariates"

    def configurations(self) -> Iterator[dict[str, Any]]:
        """The configuration of each value; N = ⌊√n⌋ queries, 1 where n varies."""
        for value in self.values:
            setting = DEFAULTS | {self.varied: value}
            n = int(setting["n"])
            yield {
                "task": self.task,
                "covariates": self.covariates,
                "L": float(setting["L"]),
                "sigma": float(setting["sigma"]),
                "n": n,
                "queries": 1 if self.varied == "n" else math.isqrt(n),
                "lr": self.lr,
            }


def study(
    name: str, plots: Sequence[Ablation], profile: Profile, seed: int, device: str
) -> Study:
    """Every configuration of some plots, each once, with the seeds of the profile."""
    every = itertools.chain.from_iterable(plot.configurations() for plot in plots)
    unique = {tuple(sorted(c.items())): c for c in every}
    return Study(
        name=name,
        trainer="theorems.collins2024.window.training:pretrain",
        configurations=list(unique.values()),
        seeds=[seed_of(seed, "run", i) for i in range(profile.seeds)],
        options={
            "d": D, "steps": STEPS, "every": EVERY, "decay": 0.999, "init": 0.001,
        },
        same=("n", "queries"),
        chunk=320,
        device=device,
        # Tokens and queries with their gradients, and every draw behind them.
        bytes_per_run=8 * 40 * (50 + 20) * (D + 1),
    )  # fmt: skip


def spectral_norms(trainings: Trainings, plot: Ablation, value: float) -> Floats:
    """‖M‖ at every snapshot, ``(seeds, snapshots)``; NaN where a run diverged."""
    runs = _runs(trainings, plot, value)
    norms = runs.observed["spectral_norm"].copy()
    norms[runs.diverged_at >= 0] = np.nan
    return norms


def _runs(trainings: Trainings, plot: Ablation, value: float) -> Trained:
    (wanted,) = (
        c for c in plot.configurations() if math.isclose(c[plot.varied], value)
    )
    return trainings.where(**wanted)


def panels(trainings: Trainings, plot: Ablation, order: Sequence[float]) -> list[Panel]:
    """‖M‖ of one plot in a claimed order: averaged over the end, and over all steps.

    Args:
        trainings: Of a study that contains the plot.
        plot: The plot.
        order: Values of what is varied, in the order in which ‖M‖ is claimed to grow.

    Returns:
        Two panels.
    """
    norms = [spectral_norms(trainings, plot, value) for value in order]
    last = LAST // EVERY + 1
    letter = NAMES[plot.varied]
    settings = [f"{letter} = {value:g}" for value in order]
    return [
        Panel(f"{plot.name}, {when}", settings, np.stack(columns, axis=1))
        for when, columns in (
            (f"last {LAST} steps", [n[:, -last:].mean(axis=1) for n in norms]),
            ("all steps", [n.mean(axis=1) for n in norms]),
        )
    ]


def figures(
    trainings: Trainings, plots: Sequence[Ablation], number: int
) -> tuple[Figure, ...]:
    """One figure per plot, as in the paper; none where every run diverged."""
    drawn = (figure(trainings, plot, number) for plot in plots)
    return tuple(one for one in drawn if one.series)


def figure(trainings: Trainings, plot: Ablation, number: int) -> Figure:
    """‖M‖ against steps, mean and standard deviation over the paper's ten trials."""
    letter = NAMES[plot.varied]
    series = []
    for value in plot.values:
        trials = spectral_norms(trainings, plot, value)[:TRIALS]
        trials = trials[np.isfinite(trials).all(axis=1)]
        if len(trials) < 2:
            continue  # diverged; the decision counts them
        steps = _runs(trainings, plot, value).steps
        mean, spread = trials.mean(axis=0), trials.std(axis=0, ddof=1)
        series.append(
            Series(
                f"{letter} = {value:g}",
                steps.tolist(),
                mean.tolist(),
                (mean - spread).tolist(),
                (mean + spread).tolist(),
            )
        )
    return Figure(
        name=f"figure-{number}-{plot.task}-{plot.covariates}-{plot.varied}",
        title=f"Spectral norm of M: {plot.name}",
        x_label="steps of pre-training",
        y_label="‖M‖",
        series=tuple(series),
        caption=(
            f"Mean and one standard deviation over {TRIALS} trials, as in the paper; "
            "what is decided uses all seeds."
        ),
    )
