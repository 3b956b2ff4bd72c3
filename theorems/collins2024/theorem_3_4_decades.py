"""Theorem 3.4, over nine decades: a two-term expansion predicts the optimal window.

Collins et al. (NeurIPS 2024), Theorem 3.4. The exponents 2/(d+3) and 2/(d+2) are limits
(theorem_3_4_scale.py). For ReLU tasks the kink gives bias² of order w^{-3/2}, the
linear part w^{-2}, a correction that fades like w^{-1/2} only: local slopes still move
after ten decades, and cross their limit on the way. What predicts w* is the model

    bias² = a w^{-p} + a₂ w^{-2},    E Σγ² = b w^{(d-1)/2} / n,

with p = 3/2 (ReLU) or 2 (affine, a₂ = 0), whose relative error is of order 1/w.

Deviations from the text:
    1. These are statements of ours. The constant 4 was chosen after the table had been
       seen: the largest |w*/model - 1| w* is about 3.
Not decided here: Λ beyond the table; dimensions above 6.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.bounds import decades
from theorems.collins2024.bounds.notation import d, m
from verify import (
    Claim,
    Grade,
    Mutant,
    Need,
    Outcome,
    Requires,
    Wording,
    check,
    evidence,
)
from verify.profiles import Profile

CURVATURE = (d - 1) ** 2 / (12 * d)
NOISE = sp.sqrt(sp.pi) * 2 ** (2 - d) / sp.gamma(d / 2)
KINK = (
    sp.Rational(2, 9)
    * (2 - sp.sqrt(2))
    * sp.gamma(d / 2)
    / (sp.pi * sp.gamma((d - 1) / 2))
)
SCOPE = "d = 2..6, Λ from 1e3 to 1e12, σ = L = 1, n = Λ"


def expansion(
    task: str, first: sp.Expr, power: sp.Expr, second: sp.Expr, *mutants: Mutant
) -> Claim:
    """A claim that the minimum of the model is that of the loss, up to 4/w*."""
    return Claim(
        id=f"collins2024/theorem-3.4/expansion/{task}",
        title=f"{task} tasks: nine decades",
        says=(
            f"For {task} tasks the minimiser of the model is w* up to a relative error "
            "of 4/w*."
        ),
        latex=(
            rf"\left|w^*/\arg\min_w\left({sp.latex(first)} w^{{-{sp.latex(power)}}} + "
            rf"{sp.latex(second)} w^{{-2}} + {sp.latex(NOISE)} "
            r"\frac{w^{(d-1)/2}}{\Lambda}\right) - 1\right| \le \frac{4}{w^*}"
        ),
        quantifiers=SCOPE,
        source=PAPER.at("Theorem 3.4"),
        wording=Wording.OURS,
        parameters={
            "task": sp.Symbol(task),
            "first": first,
            "power": power,
            "second": second,
            "noise": NOISE,
            "growth": m,
            "within": sp.Integer(4),
        },
        requires=Requires(
            (Need(frozenset({Grade.NUMERIC})),),
            why="a table of exact minimisers; the limit itself is proved elsewhere",
        ),
        mutants=(
            *mutants,
            Mutant("noise w^{d/2}", why="a sphere in R^d has d - 1", growth=d / 2),
            Mutant("tasks with w ~ N(0, I)", why="Λ is dΛ", noise=NOISE / d),
            Mutant("w for 2w", why="w* is halved", noise=NOISE * 2 ** (m + power)),
            Mutant("within 1/4", why="d = 6 is off by more", within=sp.Rational(1, 4)),
        ),
    )


AFFINE = expansion(
    "affine",
    CURVATURE,
    sp.Integer(2),
    sp.Integer(0),
    Mutant("a kink", why="affine tasks have none", power=sp.Rational(3, 2)),
    Mutant("10 % more bias", why="the constant is exact", first=CURVATURE * 11 / 10),
)
RELU = expansion(
    "relu",
    KINK,
    sp.Rational(3, 2),
    CURVATURE,
    Mutant("one term", why="the linear part matters", second=sp.Integer(0)),
    Mutant("no kink", why="the kink decides", first=KINK / 1000),
    Mutant("bias² of order w^-2", why="the kink is w^{-3/2}", power=sp.Integer(2)),
    Mutant("w^-1", why="the text's bound, not the order", power=sp.Integer(1)),
)


@evidence
def minimisers(
    profile: Profile, progress: Callable[[int, int], None]
) -> decades.Decades:
    """Both classes in five dimensions."""
    return decades.observe(profile.pick(smoke=1, default=1, full=4), progress)


@check(AFFINE, RELU, grade="numeric", scope=SCOPE, profiles=("default", "full"))
def model_predicts_the_minimiser(claim: Claim, minimisers: decades.Decades) -> Outcome:
    """Minimise the exact loss and the model, and compare."""
    return decades.decide(claim, minimisers)
