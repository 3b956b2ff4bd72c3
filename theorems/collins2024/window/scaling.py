"""Trained windows against Λ, and for covariates that are not isotropic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theorems.collins2024.window import optimum
from theorems.collins2024.window.bands import spread
from verify.outcome import Figure, Series
from verify.profiles import Profile
from verify.runs import Study, Trainings
from verify.train.seeds import seed_of

Floats = NDArray[np.float64]
Configuration = dict[str, str | int | float]

CLASSES = ("affine", "relu")
LAMBDAS = (100.0, 700.0, 5000.0)  # n L² / σ², by σ
N, QUERIES = 128, 4
SIGMA = (0.6, 1.0, 1.7)  # diagonal of Σ: no two entries within a factor of 1.6
TRAINER = "theorems.collins2024.window.converging:pretrain"

# M starts at 9, between the optima of the least and the largest Λ (1.9 to 12). The
# rates add up to .03 / .001 = 30, ten times what W has to move.
RECIPE = {"lr": 0.03, "decay": 0.999, "init": 3.0, "steps": 2000, "every": 10}
# Longer, where exponents of d = 5 are told apart.
LONG = {"lr": 0.03, "decay": 0.9996, "init": 3.0, "steps": 8000, "every": 20}


@dataclass(frozen=True)
class Setting:
    """What one model is trained on."""

    task: str
    d: int
    Lambda: float

    @property
    def sigma(self) -> float:
        """Noise of the labels, with L = 1 and n = 128."""
        return float(np.sqrt(N / self.Lambda))

    @property
    def configuration(self) -> Configuration:
        """For the study."""
        return {
            "task": self.task, "d": self.d, "n": N, "queries": QUERIES,
            "L": 1.0, "sigma": self.sigma,
        }  # fmt: skip

    def __str__(self) -> str:
        return f"{self.task}, d = {self.d}, Λ = {self.Lambda:g}"


def dimensions(profile: Profile) -> tuple[int, ...]:
    """Only d = 3 unless there is time for 2, 3 and 5."""
    return profile.pick(smoke=(3,), default=(3,), full=(2, 3, 5))


def settings(profile: Profile) -> list[Setting]:
    """Every class, dimension and Λ."""
    return [
        Setting(task, d, Lambda)
        for d in dimensions(profile)
        for task in CLASSES
        for Lambda in LAMBDAS
    ]


def study(profile: Profile, seed: int, device: str) -> Study:
    """Models of every setting, 32 or more seeds each."""
    recipe = profile.pick(smoke=RECIPE, default=RECIPE, full=LONG)
    return Study(
        name="collins2024/theorem-3.4/trained",
        trainer=TRAINER,
        configurations=[s.configuration for s in settings(profile)],
        seeds=_seeds(profile, seed),
        options=recipe | {"stretch": "1"},
        same=("d", "n", "queries"),
        chunk=320,
        device=device,
        bytes_per_run=8 * 40 * (N + QUERIES) * 6,
    )


def stretched_study(profile: Profile, seed: int, device: str) -> Study:
    """Affine tasks, d = 3, σ = .5, n = 32, with covariates Σ^{-1} u."""
    return Study(
        name="collins2024/theorem-3.4/form/trained",
        trainer=TRAINER,
        configurations=[
            {
                "task": "affine", "d": 3, "n": 32, "queries": QUERIES,
                "L": 1.0, "sigma": 0.5,
            }
        ],
        seeds=_seeds(profile, seed),
        options=RECIPE
        | {"steps": profile.pick(smoke=1500, default=3000, full=6000)}
        | {"stretch": " ".join(repr(1 / s) for s in SIGMA)},
        device=device,
        bytes_per_run=8 * 40 * 40 * 4,
    )  # fmt: skip


def _seeds(profile: Profile, seed: int) -> list[int]:
    """32 leave ratios within 5 % of the optimum to the root seed."""
    count = profile.pick(smoke=32, default=64, full=profile.seeds)
    return [seed_of(seed, "run", i) for i in range(count)]


def averages(trainings: Trainings, configuration: Configuration) -> Floats:
    """Diagonal of M averaged over the second half of training, ``(seeds, d)``."""
    runs = trainings.where(**configuration)
    diagonal = runs.observed["diagonal"].copy()
    diagonal[runs.diverged_at >= 0] = np.nan
    half = diagonal.shape[1] // 2
    return np.asarray(diagonal[:, half:].mean(axis=1))


def scales(trainings: Trainings, setting: Setting) -> Floats:
    """tr(M)/d averaged over the second half of training, ``(seeds,)``."""
    return np.asarray(averages(trainings, setting.configuration).mean(axis=1))


def exact(task: str, d: int) -> Floats:
    """w* at every Λ, by quadrature."""
    sigma = [Setting(task, d, Lambda).sigma for Lambda in LAMBDAS]
    return optimum.windows(task, d, [1.0] * len(sigma), [float(N)] * len(sigma), sigma)


def slope(windows: Floats) -> Floats:
    """Least-squares slope of log w over log Λ, along the last axis."""
    x = np.log(LAMBDAS)
    x = x - x.mean()
    return np.asarray(np.log(windows) @ (x / np.square(x).sum()))


def trained_slopes(trainings: Trainings, task: str, d: int) -> Floats:
    """The slope of every seed."""
    return slope(_columns(trainings, task, d))


def figure(trainings: Trainings, profile: Profile) -> Figure:
    """Trained windows over Λ, with the exact optimum."""
    series = []
    for d in dimensions(profile):
        for task in CLASSES:
            mean, low, high = spread(_columns(trainings, task, d))
            name = f"{task}, d = {d}"
            if mean:
                label = f"trained, {name}"
                series.append(Series(label, LAMBDAS, mean, low, high, style="points"))
            curve = exact(task, d).tolist()
            series.append(Series(f"optimum, {name}", LAMBDAS, curve))
    return Figure(
        name="trained-windows",
        title="Trained and optimal windows",
        x_label="Λ = nL²/σ²",
        y_label="tr(M)/d, w*",
        series=tuple(series),
        x_log=True,
        y_log=True,
        caption=(
            "Points: means over seeds, n = 128, L = 1; the shaded range holds 90 % of "
            "the seeds. Lines: the minimiser by quadrature."
        ),
    )


def slope_figure(
    trainings: Trainings,
    optima: Mapping[tuple[str, int], Floats],
    claimed: Mapping[tuple[str, int], tuple[float, float]],
    exponents: Mapping[tuple[str, int], float],
) -> Figure:
    """Local slopes of trained windows, corrected, with the claimed exponents.

    Args:
        trainings: Of :func:`study`.
        optima: w* at every Λ, by class and dimension.
        claimed: Ranges in which exponents are accepted, likewise.
        exponents: Exact exponents, likewise.

    Returns:
        The figure.
    """
    logs = np.log(LAMBDAS)
    middles = np.exp((logs[1:] + logs[:-1]) / 2).tolist()
    series, bands = [], {}
    for (task, d), windows in optima.items():
        exact = np.diff(np.log(windows)) / np.diff(logs) - exponents[task, d]
        trained = np.diff(np.log(_columns(trainings, task, d)), axis=1) / np.diff(logs)
        name = f"{task}, d = {d}"
        mean, low, high = spread(trained - exact)
        if mean:
            series.append(Series(name, middles, mean, low, high))
        bands[f"claimed, {name}"] = claimed[task, d]
    return Figure(
        name="trained-slopes",
        title="Local exponents of trained windows, corrected for finite Λ",
        x_label="Λ = nL²/σ²",
        y_label="d log tr(M) / d log Λ",
        series=tuple(series),
        x_log=True,
        bands=bands,
        caption=(
            "Slopes between neighbouring Λ less what the exact minimiser exceeds its "
            "exponent by: means over seeds, and the range of 90 % of them. The ranges "
            "from edge to edge are those in which the mean slope is accepted."
        ),
    )


def power_figure(trainings: Trainings, best: float) -> Figure:
    """Diagonal of M against that of Σ, with the two powers."""
    (configuration,) = trainings.study.configurations
    mean, low, high = spread(averages(trainings, dict(configuration)))
    return Figure(
        name="trained-diagonal",
        title="Diagonal of the trained M against that of Σ",
        x_label="Σ_ii",
        y_label="M_ii",
        series=(
            *([Series("trained", SIGMA, mean, low, high, "points")] if mean else []),
            Series("w* Σ²", SIGMA, [best * x**2 for x in SIGMA]),
            Series("w* Σ", SIGMA, [best * x for x in SIGMA]),
        ),
        x_log=True,
        y_log=True,
        caption=(
            "Points: means over seeds; the shaded range holds 90 % of them. w* is the "
            "minimiser on the sphere, by quadrature."
        ),
    )


def _columns(trainings: Trainings, task: str, d: int) -> Floats:
    """tr(M)/d of every seed at every Λ, ``(seeds, len(LAMBDAS))``."""
    columns = [scales(trainings, Setting(task, d, Lambda)) for Lambda in LAMBDAS]
    return np.stack(columns, axis=1)
