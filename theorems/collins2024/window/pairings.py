"""Pre-training on one class and testing on another: Figure 5."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theorems.collins2024.window.bands import Band, spread
from theorems.collins2024.window.optimum import Class, best
from verify.outcome import Figure, Series
from verify.profiles import Profile
from verify.runs import Study, Trainings
from verify.train.seeds import seed_of

Floats = NDArray[np.float64]

D, N, SIGMA, QUERIES, LR = 5, 200, 0.01, 14, 0.1  # Section 3.2; N = ⌊√n⌋, Appendix J
EVERY = 10
TESTS = tuple(Class(name, 1.0) for name in ("affine", "relu", "cosine"))
TRAINED = (*TESTS, Class("cosine", 0.1), Class("cosine", 10.0), Class("cosine", 3.0))
# Of exact errors alone: classes whose Lipschitzness differs from that of the tests.
OTHERS = (Class("affine", 10.0), Class("relu", 10.0))


@dataclass(frozen=True)
class Exact:
    """Errors of softmax attention at the optimal window of each class.

    Attributes:
        windows: w* by class of pre-training; 0 where averaging all labels is best.
        errors: Test error by class of pre-training and of test.
    """

    windows: dict[Class, float]
    errors: dict[tuple[Class, Class], float]

    def ratio(self, pretraining: Class, test: Class) -> float:
        """Test error over that of pre-training on the tests' own class."""
        return self.errors[pretraining, test] / self.errors[test, test]


def exact() -> Exact:
    """Evaluate every pairing by quadrature."""
    from theorems.collins2024.loss import evaluate

    windows = {c: best(c.at(D), N, SIGMA) for c in (*TRAINED, *OTHERS)}
    errors = {}
    for test in TESTS:
        values = evaluate(test.at(D), list(windows.values()), N, SIGMA).value
        for pretraining, value in zip(windows, values, strict=True):
            errors[pretraining, test] = float(value)
    return Exact(windows, errors)


def steps_of(profile: Profile) -> int:
    """The text gives no number; 600 steps reach the windows up to a tenth."""
    return profile.pick(smoke=600, default=600, full=5000)


def study(profile: Profile, seed: int, device: str) -> Study:
    """The recipe of Appendix J on six classes, tested on three at every snapshot."""
    return Study(
        name="collins2024/figure-5",
        trainer="theorems.collins2024.window.testing:pretrain",
        configurations=[
            {
                "task": c.name, "L": c.L, "sigma": SIGMA, "n": N,
                "queries": QUERIES, "lr": LR,
            }
            for c in TRAINED
        ],
        seeds=[seed_of(seed, "run", i) for i in range(profile.seeds)],
        options={
            "d": D, "steps": steps_of(profile), "every": EVERY, "decay": 0.999,
            "init": 0.001,
        },
        chunk=320,
        device=device,
        bytes_per_run=8 * 64 * (N + QUERIES) * (D + 1) + 8 * 20 * N * QUERIES,
    )  # fmt: skip


def trained_errors(trainings: Trainings, pretraining: Class, test: Class) -> Floats:
    """Test errors at every snapshot, ``(seeds, snapshots)``; NaN where diverged."""
    runs = trainings.where(task=pretraining.name, L=pretraining.L)
    errors = runs.observed[f"error_{test.name}"].copy()
    errors[runs.diverged_at >= 0] = np.nan
    return np.asarray(errors)


def trained_ratios(trainings: Trainings, pretraining: Class, test: Class) -> Floats:
    """Log ratio of errors over the last third of training, per seed.

    Runs of one seed are tested on the same tasks, so that the ratio is paired.
    """
    means = []
    for one in (pretraining, test):
        errors = trained_errors(trainings, one, test)
        means.append(errors[:, -(errors.shape[1] // 3) :].mean(axis=1))
    return np.asarray(np.log(means[0] / means[1]))


def bands(
    trainings: Trainings,
    pairs: Iterable[tuple[Class, Class]],
    low: float,
    high: float,
) -> list[Band]:
    """Log ratios of errors of some pairs, each claimed between two factors."""
    return [
        Band(
            f"log error ratio, {pretraining} to {test},",
            trained_ratios(trainings, pretraining, test),
            np.log(low),
            np.log(high),
        )
        for pretraining, test in pairs
    ]


def logs(low: float, high: float) -> tuple[float, float]:
    """Logarithms of two factors."""
    return float(np.log(low)), float(np.log(high))


def figures(trainings: Trainings, found: Exact) -> tuple[Figure, ...]:
    """The four plots of the figure, with the exact errors at the optimum."""
    plots = [(test, TESTS) for test in TESTS]
    plots.append((TESTS[2], (TESTS[0], *TRAINED[3:])))
    drawn = []
    for number, (test, classes) in enumerate(plots):
        series, levels = [], {}
        steps = [float(s) for s in trainings.groups[0].steps]
        for c in classes:
            mean, low, high = spread(trained_errors(trainings, c, test))
            if mean:
                series.append(Series(f"{c}", steps, mean, low, high))
            levels[f"optimum, {c}"] = (found.errors[c, test],) * 2
        drawn.append(
            Figure(
                name=f"figure-5-{number + 1}",
                title=f"Test error on tasks: {test}",
                x_label="steps of pre-training",
                y_label="mean squared error",
                series=tuple(series),
                y_log=True,
                bands=levels,
                caption=(
                    "One curve per class of pre-training: the mean over seeds of the "
                    "error on five tasks; the shaded range holds 90 % of them. "
                    "Horizontal lines: the optimum of each class, by quadrature."
                ),
            )
        )
    return tuple(drawn)
