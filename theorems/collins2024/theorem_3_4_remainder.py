"""Theorem 3.4, sharpened: how far the law w* ~ κ Λ^e is from the minimiser at Λ = 10^8.

Collins et al. (NeurIPS 2024), Theorem 3.4. That w*/(κ Λ^e) tends to 1 is proved in
``theorem_3_4_scale``; here every minimiser is enclosed in balls at a finite Λ, n = Λ²:

    affine tasks    from 3 % below the law to 2 % above it, d = 2..6
    ReLU tasks      up to 15 % above it: bias² = a w^{-3/2} (1 + O(w^{-1/2}))

The percentages were chosen after seeing the enclosures, which are 2 % wide.

Deviations from the text:
    1. These are statements of ours; the text has no constants.
Not decided here: other Λ; the minimisers to more digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.bounds.notation import d
from theorems.collins2024.theorem_3_4_scale import ASSUMED, SHARP_AFFINE, SHARP_RELU
from verify import (
    Cause,
    Claim,
    Grade,
    Holds,
    Inconclusive,
    Mutant,
    Need,
    Outcome,
    Refuted,
    Requires,
    Wording,
    check,
    evidence,
)
from verify.numerics import table

if TYPE_CHECKING:
    from theorems.collins2024.bounds.bracket import Setting

DIMENSIONS = (2, 3, 4, 5, 6)
RATIO, TOKENS = 10**8, 10**16
ROUNDING = 1e-9
"""Relative error of minimisers by quadrature; the loss package's own tests ask less."""

Ends = dict[tuple[str, int], tuple[float, float]]


def close(limit: Claim, least: sp.Expr, most: sp.Expr, *mutants: Mutant) -> Claim:
    """A claim that w*/(κ Λ^e) lies in an interval at one Λ."""
    kappa, task = limit.constant, limit.task.name
    power = 2 / (d + limit.offset)
    return Claim(
        id=f"collins2024/theorem-3.4/remainder/{task}",
        title=f"{task} tasks: distance from the limit law",
        says=(
            f"At Λ = 10^8, n = 10^16 the minimiser for {task} tasks is between {least} "
            f"and {most} times κ Λ^{{2/(d+{limit.offset})}}."
        ),
        latex=rf"{sp.latex(least)} \le w^*/(\kappa \Lambda^{{{sp.latex(power)}}}) "
        rf"\le {sp.latex(most)}",
        quantifiers="for d = 2, ..., 6, L = 1, Λ = 10^8, n = 10^16, every minimiser",
        source=PAPER.at("Theorem 3.4"),
        wording=Wording.OURS,
        assumes=ASSUMED[:1],
        parameters={**limit.parameters, "least": least, "most": most},
        mutants=(
            *mutants,
            Mutant("exponent halved", why="Λ^{1/9} > 7", numerator=sp.Integer(1)),
            Mutant("the proof's 2/(d+4)", why="1.5 at d = 6", offset=sp.Integer(4)),
            Mutant(
                "w for 2w", why="the appendix's w is half of it", constant=kappa / 2
            ),
            Mutant(
                "tasks with w ~ N(0, I)",
                why="E ww^T = I instead of I/d: Λ is dΛ",
                constant=kappa * d**power,
            ),
            Mutant("of dimension d + 1", why="other", constant=kappa.subs(d, d + 1)),
        ),
        requires=Requires(
            (
                Need(frozenset({Grade.CERTIFIED}), everywhere=True),
                Need(frozenset({Grade.NUMERIC})),
            ),
            why="five settings are enclosed one by one; there is nothing to search",
        ),
    )


AFFINE = close(
    SHARP_AFFINE,
    sp.Rational(97, 100),
    sp.Rational(102, 100),
    Mutant("not below", why="d = 6 is 1 % below", least=sp.Rational(9999, 10000)),
)
RELU = close(
    SHARP_RELU,
    sp.Rational(99, 100),
    sp.Rational(115, 100),
    Mutant("within 1 %", why="d = 3 is 6 % above", most=sp.Rational(101, 100)),
)


def settings() -> list[Setting]:
    """Both classes in five dimensions."""
    from theorems.collins2024.bounds.bracket import setting
    from theorems.collins2024.bounds.scale import LAWS

    return [setting(law, i, RATIO, TOKENS) for law in LAWS.values() for i in DIMENSIONS]


@evidence
def brackets(progress: Callable[[int, int], None]) -> Ends:
    """Enclosures of all minimisers."""
    from theorems.collins2024.bounds.bracket import bracket

    found: Ends = {}
    for one in settings():
        found[one.law.name, one.size] = bracket(one)
        progress(len(found), 2 * len(DIMENSIONS))
    return found


@evidence
def minimisers() -> Ends:
    """Minimisers by quadrature, with their rounding."""
    from theorems.collins2024 import loss

    found: Ends = {}
    for name, task in (("affine", loss.affine), ("relu", loss.relu)):
        for size in DIMENSIONS:
            sigma = np.sqrt(TOKENS / RATIO)
            w = float(loss.minimise(task(size), float(TOKENS), sigma).w)
            found[name, size] = (w * (1 - ROUNDING), w * (1 + ROUNDING))
    return found


def decide(claim: Claim, ends: Ends) -> Outcome:
    """Compare enclosures with the claimed interval; its ends are rounded to doubles."""
    power = sp.sympify(claim.numerator) / (d + sp.sympify(claim.offset))
    at = claim.constant * sp.Integer(RATIO) ** power
    law = np.array([float(at.subs(d, size)) for size in DIMENSIONS])
    low, high = np.array([ends[str(claim.task), size] for size in DIMENSIONS]).T
    least, most = law * float(claim.least), law * float(claim.most)
    found = {
        "n": len(law),
        "searched": "d = 2..6",
        "interval": (float((low / law).min()), float((high / law).max())),
    }
    names = ("d", "low", "high", "least", "most")
    columns = np.array([DIMENSIONS, low, high, least, most])
    slack = np.minimum(low - least, most - high) / law
    if (slack > 0).all():
        record = table(
            dict(zip(names, columns, strict=True)),
            relation=["<", _worse(("least", "low"), ("high", "most")), 0],
            aggregate="all",
            says="all minimisers are between low and high",
        )
        reason = "every minimiser is enclosed in the claimed interval"
        return Holds(reason, certificate=record, margin=float(slack.min()), **found)
    apart = np.maximum(least - high, low - most) > 0
    if not apart.any():
        return Inconclusive("an enclosure straddles", cause=Cause.UNDECIDED, **found)
    witness = table(
        dict(zip(names, columns[:, apart], strict=True)),
        relation=[">", _worse(("least", "high"), ("low", "most")), 0],
        aggregate="all",
        says="all minimisers are between low and high, not between least and most",
    )
    return Refuted("a minimiser is outside the interval", witness=witness, **found)


def _worse(*pairs: tuple[str, str]) -> list[object]:
    """The larger of two differences of columns."""
    return ["max", *(["sub", ["in", a], ["in", b]] for a, b in pairs)]


@check(AFFINE, RELU, grade="certified", scope="all", profiles=("default", "full"))
def minimisers_are_enclosed(claim: Claim, brackets: Ends) -> Outcome:
    """Elementary bounds in ball arithmetic exclude all scales outside a bracket."""
    return decide(claim, brackets)


@check(AFFINE, RELU, grade="numeric", scope="all", profiles=("default", "full"))
def minimisers_by_quadrature(claim: Claim, minimisers: Ends) -> Outcome:
    """The exact loss, minimised in floating point."""
    return decide(claim, minimisers)
