"""Studies of ‖M‖ during pre-training, and what is read off them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theorems.collins2024.window.bands import spread
from verify.fit.trend import Panel
from verify.outcome import Figure, Series
from verify.profiles import Profile
from verify.runs import Study, Trained, Trainings
from verify.train.seeds import seed_of

DEFAULTS = {"L": 1.0, "sigma": 0.01, "n": 20}  # Section 3.2
D = 5  # Section 3.2
EVERY = 50
LAST = 5  # a fifth of training, over which the end is averaged: one task is noisy
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


def steps_of(profile: Profile) -> int:
    """Steps of training; the text gives no number.

    Of all that the rates ever add up to, lr / (1 - decay), 900 steps are 59 %, 2500
    are 92 % and 5000 are 99 %.
    """
    return profile.pick(smoke=900, default=2500, full=5000)


Optima = Mapping[Ablation, Mapping[float, float]]  # w* by plot and value


def study(
    name: str,
    plots: Sequence[Ablation],
    profile: Profile,
    seed: int,
    device: str,
    least: int,
) -> Study:
    """Every configuration of some plots, each once, with ``least`` seeds or more."""
    seeds = max(profile.seeds, least)
    every = itertools.chain.from_iterable(plot.configurations() for plot in plots)
    unique = {tuple(sorted(c.items())): c for c in every}
    return Study(
        name=name,
        trainer="theorems.collins2024.window.training:pretrain",
        configurations=list(unique.values()),
        seeds=[seed_of(seed, "run", i) for i in range(seeds)],
        options={
            "d": D, "steps": steps_of(profile), "every": EVERY, "decay": 0.999,
            "init": 0.001,
        },
        same=("n", "queries"),
        chunk=320,
        device=device,
        # Tokens and queries with their gradients, and every draw behind them.
        bytes_per_run=8 * 40 * (50 + 20) * (D + 1),
    )  # fmt: skip


def spectral_norms(trainings: Trainings, plot: Ablation, value: float) -> Floats:
    """‖M‖ at every snapshot, ``(seeds, snapshots)``; NaN where a run diverged."""
    return _observed(trainings, plot, value, "spectral_norm")


def final_scales(trainings: Trainings, plot: Ablation, value: float) -> Floats:
    """tr(M)/d averaged over the end of training, ``(seeds,)``; NaN as above."""
    scales = _observed(trainings, plot, value, "trace_over_d")
    return np.asarray(scales[:, -last(scales.shape[1]) :].mean(axis=1))


def last(snapshots: int) -> int:
    """How many of the snapshots lie in the last fifth of training."""
    return (snapshots - 1) // LAST + 1


def _observed(trainings: Trainings, plot: Ablation, value: float, name: str) -> Floats:
    runs = _runs(trainings, plot, value)
    seen = runs.observed[name].copy()
    seen[runs.diverged_at >= 0] = np.nan
    return np.asarray(seen)


def _runs(trainings: Trainings, plot: Ablation, value: float) -> Trained:
    (wanted,) = (
        c for c in plot.configurations() if math.isclose(c[plot.varied], value)
    )
    return trainings.where(**wanted)


def panels(trainings: Trainings, plot: Ablation, order: Sequence[float]) -> list[Panel]:
    """Log ‖M‖ of one plot in a claimed order: ‖M‖ averaged over the end, or all steps.

    Logarithms, since noise is relative: some runs lie far above the others.

    Args:
        trainings: Of a study that contains the plot.
        plot: The plot.
        order: Values of what is varied, in the order in which ‖M‖ is claimed to grow.

    Returns:
        Two panels.
    """
    norms = [spectral_norms(trainings, plot, value) for value in order]
    end = last(norms[0].shape[1])
    letter = NAMES[plot.varied]
    settings = [f"{letter} = {value:g}" for value in order]
    return [
        Panel(
            f"log ‖M‖, {plot.name}, {when}", settings, np.log(np.stack(columns, axis=1))
        )
        for when, columns in (
            ("last fifth", [n[:, -end:].mean(axis=1) for n in norms]),
            ("all steps", [n.mean(axis=1) for n in norms]),
        )
    ]


def optimal(plot: Ablation) -> dict[float, float]:
    """w* at every value of a plot with isotropic covariates, by quadrature."""
    from theorems.collins2024.window.optimum import Class, best

    settings = zip(plot.values, plot.configurations(), strict=True)
    return {
        value: best(Class(plot.task, c["L"]).at(D), c["n"], c["sigma"])
        for value, c in settings
    }


def reached(trainings: Trainings, optima: Optima) -> list[tuple[str, Floats]]:
    """Final tr(M)/d over w*, ``(seeds,)``, of every value of some plots."""
    return [
        (
            f"{NAMES[plot.varied]} = {value:g}",
            final_scales(trainings, plot, value) / best,
        )
        for plot, windows in optima.items()
        for value, best in windows.items()
    ]


def scale_figures(
    trainings: Trainings, optima: Optima, number: int
) -> tuple[Figure, ...]:
    """tr(M)/d against steps, with the exact optimum; one figure per plot."""
    drawn = []
    for plot, windows in optima.items():
        series, levels = [], {}
        for value, best in windows.items():
            scales = _observed(trainings, plot, value, "trace_over_d")
            steps = [float(s) for s in _runs(trainings, plot, value).steps]
            label = f"{NAMES[plot.varied]} = {value:g}"
            mean, low, high = spread(scales)
            if mean:
                series.append(Series(label, steps, mean, low, high))
            levels[f"w*, {label}"] = (best, best)
        drawn.append(
            Figure(
                name=f"figure-{number}-{plot.task}-{plot.varied}-optimum",
                title=f"tr(M)/d and the exact optimum: {plot.name}",
                x_label="steps of pre-training",
                y_label="tr(M)/d",
                series=tuple(series),
                bands=levels,
                caption=(
                    "Mean over seeds; the shaded range holds 90 % of them. Horizontal "
                    "lines: the optimum w* by quadrature."
                ),
            )
        )
    return tuple(drawn)


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
