"""Appendix F, Equation (38): the constructed weights are not optimal in general.

Ren and Liu (NeurIPS 2024), Appendix F: on tokens with y_i = wᵀx_i and w_0 = 0 "it can
then be easily seen" that under ‖W‖_F ≤ ‖w‖ the optimal solution for Eq. (37) is

    W* = (0 0; wᵀ 0),                                                         Eq. (38)

so that the optimal dual model answers wᵀx. But Eq. (37) is -ωᵀ X Xᵀ w/N in the label
row ω of W, linear, with the minimum

    ω = ‖w‖ X Xᵀ w / ‖X Xᵀ w‖,

which is w only if w is an eigenvector of X Xᵀ: for all w if X Xᵀ = λI, as for isotropic
inputs in expectation. For x_1 = (2, 0), x_2 = (0, 1), w = (3, 4) the row (12, 4), cut
to length 5, is better than w, and answers another value.

Deviations from the text:
    1. The displays are lost; objective and constraint are in the prose.
Not decided here: that training finds such weights.
"""

from __future__ import annotations

from sympy import Integer, OneMatrix, Rational

from theorems.ren2024 import PAPER
from theorems.ren2024.duals import regression
from theorems.ren2024.duals.regression import ANY, ISOTROPIC, S, d, w
from verify import Anchor, Assumption, Claim, Mutant, Outcome, Wording, check, refuted
from verify.search import Search

LINEAR_TASK = Assumption("linear-task", "y_i = wᵀx_i for all i, and w_0 = 0")

MUTANTS = (
    Mutant("-w", why="the loss is -ωᵀ X Xᵀ w", direction=-w),
    Mutant("all inputs alike", why="it knows no w", direction=OneMatrix(d, 1)),
    Mutant(
        "half as long",
        why="a linear objective is least at the boundary",
        radius=Rational(1, 2),
    ),
)

PRINTED = Claim(
    id="ren2024/appendix-f/optimality",
    title="the constructed weights are optimal",
    says="Among all W with ‖W‖_F ≤ ‖w‖, the label row wᵀ minimises the dual loss.",
    latex=r"W^* = \begin{pmatrix} 0 & 0 \\ w^\top & 0 \end{pmatrix}",
    quantifiers="for all N, d ≥ 1, all x_i, all w",
    source=PAPER.at("Equation (38)", "Appendix F"),
    wording=Wording.DERIVED,
    domain=ANY,
    assumes=(LINEAR_TASK,),
    parameters={"direction": w, "radius": Integer(1)},
    mutants=MUTANTS,
    anchors=(
        Anchor("X Xᵀ = λI", why="then X Xᵀ w is a multiple of w", domain=ISOTROPIC),
        Anchor("the row X Xᵀ w, cut to ‖w‖", why="Cauchy-Schwarz", direction=S * w),
    ),
    finding=refuted("the minimum is ‖w‖ X Xᵀ w/‖X Xᵀ w‖, and w need not be it"),
    nearest="ren2024/appendix-f/optimality/repaired",
)

REPAIRED = Claim(
    id="ren2024/appendix-f/optimality/repaired",
    title="the optimal weights",
    says=(
        "Among all W with ‖W‖_F ≤ ‖w‖, the label row X Xᵀ w, cut to length ‖w‖, "
        "minimises the dual loss."
    ),
    latex=r"\omega^* = \|w\| \frac{X X^\top w}{\|X X^\top w\|}",
    quantifiers="for all N, d ≥ 1, all x_i, all w with X Xᵀ w ≠ 0",
    source=PRINTED.source,
    wording=Wording.OURS,
    domain=ANY,
    assumes=PRINTED.assumes,
    parameters={"direction": S * w, "radius": Integer(1)},
    mutants=(
        *MUTANTS,
        Mutant("w", why="w need not be an eigenvector of X Xᵀ", direction=w),
        Mutant("X Xᵀ X Xᵀ w", why="one application too many", direction=S * S * w),
    ),
)


@check(PRINTED, REPAIRED, grade="symbolic", scope="all")
def least_on_the_ball(claim: Claim) -> Outcome:
    """A linear objective on a ball is least along its slope, by Cauchy-Schwarz."""
    return regression.prove_optimal(claim)


@check(PRINTED, REPAIRED, grade="property", scope="rational tasks, N ≤ 12, d ≤ 3")
def objectives_in_fractions(claim: Claim, search: Search) -> Outcome:
    """Hunt for a task on which the claimed optimum falls short."""
    return regression.hunt_optimal(claim, search)
