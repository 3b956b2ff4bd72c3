"""One dataset on its way through the phases of stage 2."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from theorems.huang2024.data.dataset import Pair
from theorems.huang2024.dynamics import continuation, kernels
from theorems.huang2024.dynamics.compact import Compact
from theorems.huang2024.dynamics.engine import Track
from theorems.huang2024.dynamics.layout import (
    PAIR,
    Floats,
    Integers,
    Law,
    Out,
    Problem,
)

CONTINUE_FROM = 100_000
"""Where F4 takes over: its error, relative O(1/t^2), is below that of 1e5 roundings."""

ROUNDING = 1e-16
"""Changes of an output softmax below this are invisible in float64."""


class Job:
    """One dataset being run.

    Args:
        data: The dataset as arrays.
        start: Scores at step 0.
        delta: Delta of stage 1.
        eta: Step size.
        at: Steps to record after.
        plain: Gradient descent that is not normalised.
        frame: The moving frame (F3), on the pairs; W* / ||W*|| by default.
    """

    def __init__(
        self,
        data: Compact,
        start: Mapping[Pair, float],
        *,
        delta: float,
        eta: float,
        at: Integers,
        plain: bool = False,
        frame: Floats | None = None,
    ) -> None:
        self.data, self.at = data, at
        self.problem = problem(data, delta, eta, plain=plain, frame=frame)
        self.problem.pairs["rho"] = [start.get(pair, 0.0) for pair in data.pairs]
        self.out = _out(len(at), data)
        self.t = self.row = 0  # t < 0: stalled, see kernels.advance
        self.continued = False

    def _until(self, end: int) -> None:
        rows = int(np.searchsorted(self.at, end, side="right"))
        times = self.at[self.row : rows]
        self.t = kernels.track(self.problem, self.t, times, self.row, self.out)
        self.row = rows
        self.t = kernels.advance(self.problem, self.t, end)

    def begin(self, *, directly: bool = False) -> None:
        """Make the steps that are made one by one in any case."""
        last = int(self.at[-1])
        jumps = self.problem.law.mergeable and not directly
        self._until(min(last, CONTINUE_FROM) if jumps else last)

    def jump(self) -> None:
        """Take the remaining records from F4, if it applies."""
        if self.row == len(self.at) or self.t < 0:
            return
        times = self.at[self.row :].astype(np.float64)
        rho = self.problem.pairs["rho"].copy()
        try:
            states = continuation.continued(self.problem, self.t, times)
        except continuation.NotContinuedError:
            self.problem.pairs["rho"] = rho
            return
        for k, (t, state) in enumerate(zip(times, states, strict=True), self.row):
            self.problem.pairs["rho"] = state
            kernels.observe(self.problem, t, k, self.out)
        self.row, self.continued = len(self.at), True

    def finish(self) -> None:
        """Make the steps that are left."""
        if self.row < len(self.at):
            self._until(int(self.at[-1]))

    def track(self) -> Track:
        """The record of all steps."""
        out = self.out._asdict()
        if not self.data.norm > 0:
            out["gap"][:] = np.nan
        return Track(
            times=self.at,
            pairs=self.data.pairs,
            direction=self.data.direction,
            norm_star=self.data.norm,
            stalled=self.t < 0,
            continued=self.continued,
            size=self.data.dataset.size,
            **out,
        )


def problem(
    data: Compact,
    delta: float,
    eta: float,
    *,
    plain: bool = False,
    frame: Floats | None = None,
) -> Problem:
    """State a dataset's stage 2 for the kernels; arguments as of :class:`Job`."""
    pairs = np.zeros(len(data.pairs), dtype=PAIR)
    along = frame is None and not plain
    pairs["direction"] = data.direction
    pairs["frame"] = data.direction if along else 0.0 if plain else frame
    edges = data.edges.copy()
    if not along:
        moving = pairs["frame"]
        edges["drift"] = moving[edges["upper"]] - moving[edges["lower"]]
    law = Law(
        size=data.dataset.size,
        eta=eta,
        delta=delta,
        plain=plain,
        mergeable=data.mergeable and not plain,
        along=along,
        base=1 / data.norm if along and data.norm > 0 else 0.0,
        **_thresholds(data, delta),
    )
    memory = data.sentences.copy(), data.entries.copy(), edges, pairs
    return Problem(law, *memory, np.zeros(data.dataset.size))


def _thresholds(data: Compact, delta: float) -> dict[str, float]:
    """Below which exponents the outputs are constants.

    phi_minus of sentence n <= (its entries) * max_e exp(exponent of edge e) / pi_n.
    """
    settled = math.log(ROUNDING / delta)
    sentences = data.sentences
    widest = int((sentences["end"] - sentences["first"]).max(initial=1))
    rarest = float(sentences["log_weight"].min(initial=0.0))
    return {"settled": settled, "limit": settled - math.log(widest) + rarest}


def _out(times: int, data: Compact) -> Out:
    pairs, sentences = len(data.pairs), data.dataset.N
    return Out(
        norm=np.zeros(times),
        gap=np.zeros(times),
        phi_plus=np.ones((times, sentences)),
        log_phi_minus=np.full((times, sentences), -np.inf),
        log_excess=np.zeros(times),
        log_gradient=np.zeros(times),
        weights=np.zeros((times, pairs)),
        descent=np.zeros((times, pairs)),
    )
