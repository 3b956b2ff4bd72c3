"""Studies of Figure 9, and what is read off them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verify.outcome import Figure, Series
from verify.profiles import Profile
from verify.runs import Study, Trained, Trainings
from verify.train.seeds import seed_of

Floats = NDArray[np.float64]

TASKS = ("affine", "quadratic", "cosine")
RATES = (0.001, 0.01, 0.1)  # among which the text tunes
# The least test error of each row of TASKS, found on seeds of their own (`tuning`).
TUNED = {"softmax": 0.01, "linear": 0.001}
D, K, N, SIGMA = 10, 2, 50, 0.01  # Appendix J.1
SHAPE = {"d": D, "k": K, "n": N}
TESTS = 500  # Appendix J.1
POINTS = 10  # snapshots after the start
LAST = 3  # of them, over which the end is averaged: one task per step is noisy
TRIALS = 5  # Appendix J.1
STRANGERS = 8  # subspaces per run that have nothing to do with its tasks
SPURIOUS = (1.0, 2.0, 4.0)  # c_v, with c_u = 1
LOUD = 0.5  # σ of the study that converges: the window is then moderate
TRAINER = "theorems.collins2024.low_rank.training:pretrain"


@dataclass(frozen=True)
class Model:
    """Which runs: one configuration of a study."""

    attention: str
    task: str
    sees: str = "all"
    lr: float = 0.0
    spurious: float = 1.0

    @property
    def configuration(self) -> dict[str, str | float]:
        """For the study."""
        return {
            "attention": self.attention, "task": self.task, "sees": self.sees,
            "lr": self.lr or TUNED[self.attention], "spurious": self.spurious,
        }  # fmt: skip

    def __str__(self) -> str:
        seen = " given Bᵀx" if self.sees == "subspace" else ""
        return f"{self.attention} attention{seen}, {self.task} tasks"


def _study(
    name: str, models: Sequence[Model], seeds: Sequence[int], profile: Profile,
    device: str, *, steps: int, decay: float, covariates: str = "skewed",
    sigma: float = SIGMA, projected: bool = False,
) -> Study:  # fmt: skip
    return Study(
        name=f"collins2024/figure-9/{name}",
        trainer=TRAINER,
        configurations=[model.configuration for model in models],
        seeds=seeds,
        options=SHAPE
        | {"sigma": sigma, "steps": steps, "decay": decay, "covariates": covariates}
        | {"init": 0.001, "every": steps // POINTS, "tests": TESTS}
        | {"projected": projected},
        same=("attention",),
        # Whole configurations, so that runs of one seed share what is drawn.
        chunk=profile.pick(smoke=192, default=192, full=128),
        device=device,
        # The held-out tasks, and as much again for what is drawn and computed.
        bytes_per_run=2 * 8 * TESTS * (N + 2) * (D + 1),
    )


def seeds_of(
    profile: Profile, seed: int, name: str = "run", least: int = 64
) -> list[int]:
    """One integer per run of a configuration; few seeds do not separate quadratics."""
    return [seed_of(seed, name, i) for i in range(max(profile.seeds, least))]


def figure_models() -> list[Model]:
    """Both kinds of attention on the three classes; tasks without the constant."""
    return [
        *(Model("softmax", task) for task in TASKS),
        *(Model("linear", task) for task in TASKS),
        Model("linear", "linear"),
    ]


def pretraining(profile: Profile, seed: int, device: str) -> Study:
    """The recipe of Appendix J.1: constant rates; the text gives no number of steps."""
    return _study(
        "recipe", figure_models(), seeds_of(profile, seed), profile, device,
        steps=profile.pick(smoke=300, default=3000, full=3000), decay=1.0,
    )  # fmt: skip


def restricting(profile: Profile, seed: int, device: str) -> Study:
    """Softmax attention that sees x, and that sees Bᵀx, by the same recipe."""
    models = [Model("softmax", t, s) for s in ("all", "subspace") for t in TASKS]
    return _study(
        "restricted", models, seeds_of(profile, seed), profile, device,
        steps=profile.pick(smoke=300, default=3000, full=6000), decay=1.0,
        projected=True,
    )  # fmt: skip


def settled(profile: Profile, seed: int, device: str) -> Study:
    """The same with rates that fall, so that M settles: 2000 times the first in all."""
    return _study(
        "settled", figure_models(), seeds_of(profile, seed), profile, device,
        steps=profile.pick(smoke=300, default=3000, full=8000), decay=0.9995,
    )  # fmt: skip


def tuning(profile: Profile, seed: int, device: str) -> Study:
    """Every rate of the text, on other seeds than those of the figure."""
    models = [
        Model(attention, task, lr=lr)
        for attention, task, lr in itertools.product(TUNED, TASKS, RATES)
    ]
    seeds = seeds_of(profile, seed, "tuning")[:32]
    return _study("tuning", models, seeds, profile, device, steps=3000, decay=1.0)


def spurious_models() -> list[Model]:
    """Linear tasks with spurious directions of every size."""
    return [Model("softmax", "linear", lr=0.03, spurious=c) for c in SPURIOUS]


def growing(profile: Profile, seed: int, device: str) -> Study:
    """Covariates of Assumption 4.3; rates fall so that M settles, and add up to 15."""
    seeds = seeds_of(profile, seed, least=128)  # 64 leave the scales to the root seed
    return _study(
        "spurious", spurious_models(), seeds, profile, device,
        steps=profile.pick(smoke=300, default=2000, full=4000),
        decay=0.998, covariates="product", sigma=LOUD,
    )  # fmt: skip


def runs_of(trainings: Trainings, model: Model) -> Trained:
    """The runs of one configuration."""
    return trainings.where(**model.configuration)


def observed(trainings: Trainings, model: Model, name: str) -> Floats:
    """What was observed, ``(seeds, snapshots)``; NaN where a run diverged."""
    runs = runs_of(trainings, model)
    seen = runs.observed[name].copy()
    seen[runs.diverged_at >= 0] = np.nan
    return np.asarray(seen)


def log_rho(trainings: Trainings, model: Model, subspace: str) -> Floats:
    """Log ρ(M, B) at every snapshot, or log ρ(M, B⊥); ``(seeds, snapshots)``.

    ρ(M, B) = |B⊥ᵀ M B⊥|₂ / σ_min(Bᵀ M B)  (Appendix J.1).
    """
    inside, outside = _blocks(subspace)
    above = observed(trainings, model, f"{outside}_most")
    return np.asarray(np.log(above / observed(trainings, model, f"{inside}_least")))


def _blocks(subspace: str) -> tuple[str, str]:
    pair = ("relevant", "spurious")
    return pair if subspace == "B" else (pair[1], pair[0])


def end(values: Floats) -> Floats:
    """Mean over the last snapshots, ``(seeds,)``."""
    return np.asarray(values[:, -LAST:].mean(axis=1))


def log_fall(trainings: Trainings, model: Model) -> Floats:
    """Log of the test error at the end over that at the start, ``(seeds,)``."""
    errors = np.log(observed(trainings, model, "error"))
    return np.asarray(end(errors) - errors[:, 0])


def log_error_ratio(
    trainings: Trainings, one: Model, other: Model, name: str = "error"
) -> Floats:
    """Log of one model's test error over another's at the end, ``(seeds,)``."""
    first = end(np.log(observed(trainings, one, name)))
    return np.asarray(first - end(np.log(observed(trainings, other, "error"))))


def correlation(trainings: Trainings, model: Model, subspace: str) -> Floats:
    """Correlation of log ρ and log error over the snapshots of each run, ``(seeds,)``.

    As Fisher's z = artanh r: correlations near 1 and -1 have skewed laws. Without the
    start, where M = 10⁻⁶ I has ρ = 1 whatever B.
    """
    rho = log_rho(trainings, model, subspace)[:, 1:]
    error = np.log(observed(trainings, model, "error"))[:, 1:]
    centred = [v - v.mean(axis=1, keepdims=True) for v in (rho, error)]
    lengths = [np.sqrt(np.square(v).sum(axis=1)) for v in centred]
    r = (centred[0] * centred[1]).sum(axis=1) / lengths[0] / lengths[1]
    return np.asarray(np.arctanh(r))


def log_excess(trainings: Trainings, model: Model, subspace: str) -> Floats:
    """Final log ρ less its mean over unrelated subspaces of the same dimension.

    Negative where M knows the subspace; 0 on average for an M that does not.
    """
    import torch

    from verify.train.low_rank import NAMES, frames, structure
    from verify.train.random import keys_of

    runs = runs_of(trainings, model)
    keys = keys_of(runs.seeds.tolist(), *NAMES)
    W = torch.from_numpy(runs.params["W"]).double()
    inside, outside = _blocks(subspace)
    logs = []
    for number in range(STRANGERS + 1):
        seen = structure(W, frames(keys, D, K, number))
        logs.append(torch.log(seen[f"{outside}_most"] / seen[f"{inside}_least"]))
    own, *strangers = (log.numpy() for log in logs)
    excess = own - np.mean(strangers, axis=0)
    excess[runs.diverged_at >= 0] = np.nan
    return np.asarray(excess)


def figures(trainings: Trainings, task: str) -> tuple[Figure, ...]:
    """ρ and test error during pre-training, over the five trials of the paper."""
    drawn = []
    for name, label in (("rho", "ρ(M, B)"), ("error", "test error")):
        series = []
        for attention in TUNED:
            model = Model(attention, task)
            values = (
                log_rho(trainings, model, "B")
                if name == "rho"
                else np.log(observed(trainings, model, name))
            )[:TRIALS]
            values = values[np.isfinite(values).all(axis=1)]
            if len(values) < 2:
                continue  # diverged; the decision counts them
            mean, spread = values.mean(axis=0), values.std(axis=0, ddof=1)
            low, middle, high = np.exp([mean - spread, mean, mean + spread]).tolist()
            steps = [float(s) for s in runs_of(trainings, model).steps]
            series.append(Series(f"{attention} attention", steps, middle, low, high))
        drawn.append(
            Figure(
                name=f"figure-9-{task}-{name}",
                title=f"{label} during pre-training, {task} tasks",
                x_label="steps of pre-training",
                y_label=label,
                series=tuple(series),
                y_log=True,
                bands={"no preference": (1.0, 1.0)} if name == "rho" else {},
                caption=(
                    f"Mean and one standard deviation of the logarithm over {TRIALS} "
                    "trials, as many as in the paper; what is decided uses all seeds."
                ),
            )
        )
    return tuple(one for one in drawn if one.series)
