"""Stage 2 of Algorithm 1 on many datasets, from the first step to any step."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from theorems.huang2024.data.dataset import Dataset, Pair
from theorems.huang2024.dynamics.compact import Solution, compact, solve
from theorems.huang2024.dynamics.layout import Floats, Integers


class SettingError(ValueError):
    """No run is described; the message names the argument and what it may be."""


@dataclass(frozen=True, eq=False)
class Track:
    """One dataset's stage 2 at the steps asked for (first axis ``k``).

    Attributes:
        times: The steps, shape ``(k,)``.
        norm: ||W||.
        gap: 1 - cos(W, W*), computed without cancellation; NaN at W = 0 and where there
            is no W* (no constraint, or none given).
        phi_plus: Attention on the carriers of each sentence, ``(k, N)``.
        log_phi_minus: log(1 - phi_plus), which still tells what ``phi_plus`` rounds to
            1; -inf where all tokens are carriers.
        log_excess: log(L - L_min), L_min = log(1 + (V-1) e^-Delta); -inf at L_min.
        log_gradient: log ||grad L||; -inf where it is zero.
        pairs: The (token, query) pairs whose scores can differ from 0; ``p`` of them.
        weights: Their scores x^T W q, ``(k, p)``.
        descent: -grad L / ||grad L|| on them, ``(k, p)``; 0 where there is none.
        direction: W* / ||W*|| on them, ``(p,)``.
        norm_star: ||W*||; 0 without constraint, NaN if no solution was given.
        stalled: Whether a gradient of exactly zero was met: Algorithm 1 divides by it;
            here W stays where it is.
        continued: Whether steps beyond ``CONTINUE_FROM`` come from F4.
        size: Number of tokens.
    """

    times: Integers
    norm: Floats
    gap: Floats
    phi_plus: Floats
    log_phi_minus: Floats
    log_excess: Floats
    log_gradient: Floats
    pairs: tuple[Pair, ...]
    weights: Floats
    descent: Floats
    direction: Floats
    norm_star: float
    stalled: bool
    continued: bool
    size: int

    @property
    def phi_plus_min(self) -> Floats:
        """min_n phi_plus, ``(k,)``."""
        return self.phi_plus.min(axis=1)

    @property
    def excess(self) -> Floats:
        """L - L_min, ``(k,)``; 0 where it underflows."""
        return np.exp(self.log_excess)

    def matrix(self, k: int = -1) -> Floats:
        """W in the token basis at the k-th step: rows are tokens, columns queries."""
        W = np.zeros((self.size, self.size))
        for (x, q), score in zip(self.pairs, self.weights[k], strict=True):
            W[x, q] = score
        return W


def run(
    datasets: Sequence[Dataset],
    *,
    delta: float | Sequence[float],
    eta: float | Sequence[float],
    at: Sequence[int],
    solutions: Sequence[Solution | None] | None = None,
    start: Sequence[Mapping[Pair, float]] | None = None,
    plain: bool = False,
    threads: int = 1,
    directly: bool = False,
) -> list[Track]:
    """Train the attention layer of each dataset and record it at the given steps.

    Args:
        datasets: Any datasets, of different sizes.
        delta: Delta of stage 1: one number or one per dataset.
        eta: Step size: one number or one per dataset.
        at: Increasing numbers of steps to record after; 0 is the start.
        solutions: Exact solutions of problem (3), one per dataset, each a mapping from
            queries to ``OrderMargin``; ``None`` in a place: there is none, the gap is
            NaN. By default they are computed.
        start: Scores at step 0, one mapping per dataset; zero by default, as in
            Algorithm 1.
        plain: Gradient descent instead of normalised gradient descent.
        threads: Datasets worked on at the same time; results do not depend on it.
        directly: Make every step, however many.

    Returns:
        One track per dataset, in order.

    Raises:
        SettingError: An argument out of range.
    """
    # ``jobs`` compiles or loads machine code: a second that others need not spend
    from theorems.huang2024.dynamics.jobs import Job

    count = len(datasets)
    times = _times(at)
    deltas = _positive("delta", delta, count)
    etas = _positive("eta", eta, count)
    starts: Sequence[Mapping[Pair, float]] = [{}] * count if start is None else start
    if solutions is None:
        solutions = [solve(dataset) for dataset in datasets]
    if not len(starts) == len(solutions) == count:
        raise SettingError("give `solutions` and `start` one entry per dataset")
    jobs = [
        Job(
            compact(*each), each[2], delta=deltas[i], eta=etas[i], plain=plain, at=times
        )
        for i, each in enumerate(zip(datasets, solutions, starts, strict=True))
    ]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda job: job.begin(directly=directly), jobs))
        for job in jobs:  # one after the other: LSODA keeps its state in globals
            job.jump()
        list(pool.map(Job.finish, jobs))
    return [job.track() for job in jobs]


def _times(at: Sequence[int]) -> Integers:
    times = [operator.index(t) for t in at]
    if not times or times[0] < 0 or any(a >= b for a, b in pairwise(times)):
        raise SettingError(f"`at` is {list(at)}: give increasing numbers of steps >= 0")
    return np.array(times, dtype=np.int64)


def _positive(name: str, value: float | Sequence[float], count: int) -> Floats:
    values = np.broadcast_to(np.asarray(value, dtype=np.float64), count)
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise SettingError(f"`{name}` is {value}: give finite numbers > 0")
    return values
