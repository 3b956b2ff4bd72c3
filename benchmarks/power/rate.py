"""Laws of decay: `verify.fit.power_law.Law`, decided as huang2024 decides them.

A claim says y ~ t^-p (log t)^q of a batch of noiseless series at equal steps of log t
from 1e6 to 1e7. True series are t^-p times a polynomial of degree q in log t, with
terms that vanish like powers of 1/t and the rounding of a long simulation; the lower
terms of the polynomial are as large as the law can bear (see `SHIFT`). False claims are
wrong in the exponent by ``wrongness``, or by a whole power or a logarithm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.power.cases import Drawn, Extra, Family
from benchmarks.power.noise import Floats, loguniform
from theorems.huang2024.rates.decay import LATE
from theorems.huang2024.rates.decay import decide as hold
from verify import Claim, Outcome
from verify.fit.power_law import Law
from verify.profiles import profile
from verify.verdict import Grade

T = np.array(LATE, dtype=np.float64)
L = np.log(T)
SHIFT = (-6.0, 10.0)
"""Of log t. The largest value of y t^p may be four times its leading term, or the law
cannot be told from one with fewer logarithms (`power_law.resolution`): (16 + 10)² is
2.6 times 16²."""
VANISHING = 1e-4  # at 1e6: terms of higher order, a sixth of the law's tolerance
ROUNDING = 1e-5  # relative, of a simulation of 1e7 steps


@dataclass(frozen=True)
class Series:
    """Series at ``LATE``, ``(n, points)``."""

    values: Floats

    def __str__(self) -> str:
        return f"{len(self.values)} series"


def decide(claim: Claim) -> Outcome:
    """Hold the law against every series."""
    law = Law(float(claim.power), int(claim.logs))
    return hold(law, claim.domain.values, {})


def series(
    rng: np.random.Generator,
    power: float,
    logs: int,
    shift: tuple[float, float] = SHIFT,
    vanishing: float = VANISHING,
) -> Floats:
    """One series of a law, with its lower terms and corrections."""
    terms = (L + rng.uniform(*shift)) ** logs
    if logs == 2:
        terms = terms + rng.uniform(0, 20)
    size = vanishing * rng.choice((-1, 1)) * rng.random()
    fading = 1 + size * (T / T[0]) ** -rng.uniform(0.2, 2.0)
    rounding = loguniform(rng, 1e-12, ROUNDING) * rng.standard_normal(len(T))
    scale = loguniform(rng, 1e-6, 1e6)
    return np.asarray(scale * T**-power * terms * fading * (1 + rounding))


def _claim(values: list[Floats], sort: str, power: float, logs: int) -> Drawn:
    asserted = {"power": float(power), "logs": int(logs)}
    return Drawn(sort, asserted, Series(np.array(values)), {"power": power + 3.0})


def _true(rng: np.random.Generator) -> tuple[list[Floats], float, int]:
    power = float(rng.choice((0.5, 1.0, 1.5, 2.0, 3.0, rng.uniform(0.3, 3.0))))
    logs = int(rng.integers(3))
    count = int(rng.integers(1, 21))
    return [series(rng, power, logs) for _ in range(count)], power, logs


def draw(rng: np.random.Generator, truth: bool, wrongness: float) -> Drawn:
    """A law and series that have it, or almost."""
    values, power, logs = _true(rng)
    off = 0.0 if truth else float(rng.choice((-1, 1))) * wrongness
    return _claim(values, f"{logs} logarithms", power + off, logs)


def neighbour(rng: np.random.Generator) -> Drawn:
    """A law with another whole power, or another number of logarithms."""
    values, power, logs = _true(rng)
    if rng.random() < 0.5:
        return _claim(values, f"{logs} logarithms, t^-1 too many", power + 1, logs)
    claimed = int(rng.choice([q for q in range(3) if q != logs]))
    return _claim(values, f"{logs} logarithms, {claimed} claimed", power, claimed)


def slowly(rng: np.random.Generator) -> Drawn:
    """Lower terms beyond the leading one: true in the end, not yet at 1e7 steps."""
    logs = int(rng.integers(1, 3))
    values = [series(rng, 2.0, logs, (20.0, 100.0))]
    return _claim(values, f"{logs} logarithms", 2.0, logs)


def corrected(rng: np.random.Generator) -> Drawn:
    """Terms of higher order of up to a tenth at 1e6 steps."""
    logs = int(rng.integers(3))
    return _claim(
        [series(rng, 2.0, logs, vanishing=0.1)], f"{logs} logarithms", 2.0, logs
    )


FAMILY = Family(
    name="rate",
    decide=decide,
    grade=Grade.PROPERTY,
    draw=draw,
    unit="error of the exponent of t",
    grid=(3e-4, 1e-3, 3e-3, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.25),
    stated=0.25,
    why="a quarter of the distance between whole powers",
    others=neighbour,
    true_profile=profile("smoke"),
    false_profile=profile("smoke"),
    extras={
        "slow": Extra(
            "true laws whose lower terms exceed the leading one at 1e7 steps",
            True,
            slowly,
        ),
        "corrections": Extra(
            "true laws with corrections of up to 10 % at 1e6 steps", True, corrected
        ),
    },
)
