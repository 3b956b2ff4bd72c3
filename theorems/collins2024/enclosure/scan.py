"""Signs of L' by floating-point quadrature: a second look, independent of balls."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from theorems.collins2024.enclosure.decide import losses
from theorems.collins2024.enclosure.population import Population
from theorems.collins2024.loss import TaskClass, affine, evaluate, relu
from verify import Claim, Figure, Holds, Outcome, Refuted, Series
from verify.numerics import Floats, table

MAKE = {"affine": affine, "relu": relu}
SCALES = np.geomspace(0.05, 60.0, 24)
NOISES = np.concatenate([[0.0], np.geomspace(0.01, 3.0, 24)])
# The quadrature is accurate to 1e-12 of the loss; a slope counts as having a sign if
# w L' is a hundred times as large.
RESOLVED = 1e-10
STEP = 1e-6  # relative distance from w* at which the sign is read


@dataclass(frozen=True)
class Scan:
    """Slopes of random losses.

    Attributes:
        names: Class, d and n of each row.
        slopes: L' where it is resolved, else 0: row, sigma, scale.
    """

    names: tuple[str, ...]
    slopes: Floats

    @property
    def changes(self) -> Floats:
        """Number of changes of sign along the scales: row, sigma."""
        signs = np.sign(self.slopes)
        for i in range(1, signs.shape[-1]):  # an unresolved one repeats the last
            open_ = signs[..., i] == 0
            signs[..., i] = np.where(open_, signs[..., i - 1], signs[..., i])
        return np.sum(signs[..., 1:] * signs[..., :-1] < 0, axis=-1)


def scan(seed: int, count: int, progress: Callable[[int, int], None]) -> Scan:
    """Evaluate L' of random losses on a grid of scales, for 25 noises each.

    Args:
        seed: Of the draws.
        count: Number of draws of class, d and n.
        progress: Called with what is done and the total.

    Returns:
        The slopes.
    """
    rng = np.random.default_rng(seed)
    names, rows = [], []
    for i in range(count):
        kind, d = ("affine", "relu")[i % 2], int(rng.integers(4, 7))
        n = round(math.exp(rng.uniform(math.log(8), math.log(1000))))
        found = evaluate(MAKE[kind](d), SCALES[None, :], n, NOISES[:, None], order=1)
        resolved = np.abs(SCALES * found.slope) > RESOLVED * found.value
        names.append(f"{kind}, d = {d}, n = {n}")
        rows.append(np.where(resolved, found.slope, 0.0))
        progress(i + 1, count)
    return Scan(tuple(names), np.array(rows))


def _task(population: Population) -> TaskClass:
    return MAKE[population.kind](population.d, math.sqrt(population.L2))


def decide(claim: Claim, found: Scan) -> Outcome:
    """Compare signs beside the claimed w* with the quadrature's; then count changes.

    Args:
        claim: See :func:`theorems.collins2024.enclosure.decide.losses`.
        found: Slopes of random losses.

    Returns:
        HOLDS, or REFUTED by a wrong sign or a second change of sign.
    """
    sides, slopes = [], []
    for claimed in losses(claim):
        centre = float(claimed.centre * claimed.scale)
        w = centre * (1 + STEP * np.array([-1.0, 1.0]))
        sigma = math.sqrt(claimed.population.sigma2)
        loss = evaluate(
            _task(claimed.population), w, claimed.population.n, sigma, order=1
        )
        sides += [-1.0, 1.0]
        slopes += loss.slope.tolist()
    if min(s * y for s, y in zip(sides, slopes, strict=True)) <= 0:
        witness = table(
            {"side": sides, "slope": slopes},
            relation=["<=", ["mul", ["in", "side"], ["in", "slope"]], 0],
            aggregate="any",
            says="L' beside w*, to the left (-1) or right (1), has the wrong sign",
        )
        return Refuted("L' has the wrong sign beside w*", witness=witness)
    changes = found.changes
    if changes.max() > 1:
        return _second_minimum(found)
    return Holds(
        f"L' changes sign at most once in {changes.size} random losses",
        n=int(changes.size) + len(sides) // 2,
        searched="d = 4..6, n = 8..1000, σ = 0..3, 24 scales from 0.05 to 60",
        figures=(figure(claim),),
    )


def _second_minimum(found: Scan) -> Outcome:
    """Three scales, in order, at which L' alternates in sign."""
    row, noise = np.unravel_index(int(found.changes.argmax()), found.changes.shape)
    line = found.slopes[row, noise]
    seen = [i for i in range(line.size) if line[i]]
    turns = [i for i, j in zip(seen[1:], seen, strict=False) if line[i] * line[j] < 0]
    three = [seen[0], *turns[:2]]
    witness = table(
        {name: [float(line[i])] for name, i in zip("abc", three, strict=True)},
        relation=[
            "<",
            0,
            ["min"] + [["neg", ["mul", ["in", x], ["in", y]]] for x, y in ("ab", "bc")],
        ],
        aggregate="all",
        says=f"L' at three scales {SCALES[three].tolist()}, {found.names[row]}",
    )
    return Refuted(f"a second minimum: {found.names[row]}", witness=witness)


@lru_cache(maxsize=8)
def _curve(population: Population, sigma: float) -> tuple[list[float], list[float]]:
    w = np.geomspace(0.3, 40.0, 30)
    task = _task(population)
    return w.tolist(), evaluate(task, w, population.n, sigma).value.tolist()


def figure(claim: Claim) -> Figure:
    """The losses of the first configuration, over the scale."""
    some = list(losses(claim))[:2]
    series = [
        Series(c.population.kind, *_curve(c.population, math.sqrt(c.population.sigma2)))
        for c in some
    ]
    first = some[0].population
    return Figure(
        name="loss",
        title=f"Population loss, d = {first.d}, n = {first.n}",
        x_label="scale w",
        y_label="L(w)",
        x_log=True,
        y_log=True,
        series=tuple(series),
        marks={f"w*, {c.population.kind}": float(c.centre) for c in some},
        caption="The population loss over the scale, with its one stationary point.",
    )
