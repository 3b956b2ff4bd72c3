"""Trained windows against Λ, and for covariates that are not isotropic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theorems.collins2024.window import optimum
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
    return [seed_of(seed, "run", i) for i in range(profile.seeds)]


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
    columns = [scales(trainings, Setting(task, d, Lambda)) for Lambda in LAMBDAS]
    return slope(np.stack(columns, axis=1))


def figure(trainings: Trainings, profile: Profile) -> Figure:
    """Trained windows over Λ, with the exact optimum."""
    series = []
    for d in dimensions(profile):
        for task in CLASSES:
            columns = [scales(trainings, Setting(task, d, v)) for v in LAMBDAS]
            means = [float(np.nanmean(c)) for c in columns]
            spread = [float(np.nanstd(c)) for c in columns]
            low = [m - s for m, s in zip(means, spread, strict=True)]
            high = [m + s for m, s in zip(means, spread, strict=True)]
            name = f"{task}, d = {d}"
            label = f"trained, {name}"
            series.append(Series(label, LAMBDAS, means, low, high, style="points"))
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
        caption="Points: mean and standard deviation over seeds, n = 128, L = 1.",
    )
