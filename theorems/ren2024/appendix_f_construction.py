"""Appendix F, Equations (35)-(37): linear attention constructed for regression.

Ren and Liu (NeurIPS 2024), Appendix F, after Von Oswald et al. (2023). With

    W_K = W_Q = diag(I_d, 0),  W_V = (0 0; w_0ᵀ -1),  P = η/N I                 Eq. (35)

the label part of the query (x, -w_0ᵀx) becomes -ŷ, with ŷ the prediction of linear
regression after one gradient step from w_0 on 1/(2N) Σ (wᵀx_i - y_i)². Read out with
P = -η/N I, the dual model W z has the loss

    L = -1/η Σ (P W_V h_i)ᵀ W (W_K h_i) = -1/N Σ (y_i - w_0ᵀx_i) ωᵀx_i,   Eqs. (36)-(37)

ω the first d entries of W's label row, and a step on it adds what the layer adds.

Deviations from the text:
    1. The displays are lost. 1/(2N) is the only factor under which the printed update
       w_0 - η/N Σ (w_0ᵀx_i - y_i) x_i is one step with learning rate η.
    2. w_0 ≈ 0 is not used here.
Not decided here: which weights are optimal (appendix_f_optimality.py).
"""

from __future__ import annotations

from sympy import Integer, Trace, ZeroMatrix

from theorems.ren2024 import PAPER
from theorems.ren2024.duals import regression
from theorems.ren2024.duals.decide import settle
from theorems.ren2024.duals.regression import X, d, fixed, omega, w, w_0, x, y
from theorems.ren2024.model import N, eta
from verify import Claim, Holds, Mutant, Outcome, Verdict, Wording, check
from verify.search import Search

RESIDUAL = w.T * X - y
SQUARES = Trace(RESIDUAL * RESIDUAL.T)

CLAIM = Claim(
    id="ren2024/appendix-f/construction",
    title="constructed weights take a gradient step",
    says=(
        "With the constructed weights the label of the query becomes minus the "
        "prediction of linear regression after one gradient step, and a step on the "
        "dual loss adds the same."
    ),
    latex=(
        r"\tilde y_{N+1} = -\Bigl(w_0 - \frac{\eta}{N} \sum_i "
        r"(w_0^\top x_i - y_i) x_i\Bigr)^\top x_{N+1} = -\hat y_{N+1}"
    ),
    quantifiers="for all N, d ≥ 1, all x_i, y_i, x, w_0, all η > 0",
    source=PAPER.at("Appendix F", "Eqs. (35)-(37)"),
    wording=Wording.DERIVED,
    parameters={
        "loss": SQUARES / (2 * N),
        "dual_loss": -Trace((y - w_0.T * X) * X.T * omega) / N,
        "value_x": w_0.T,
        "value_y": Integer(-1),
        "step": eta / N,
        "query_label": -w_0.T * x,
    },
    mutants=(
        Mutant(
            "mean of squares without 1/2",
            why="the step is twice as long",
            loss=SQUARES / N,
        ),
        Mutant("sum of squares", why="the step is N times longer", loss=SQUARES / 2),
        Mutant("P = -η/N I", why="the step goes uphill", step=-eta / N),
        Mutant("y_i added", why="the residual is w_0ᵀx_i - y_i", value_y=Integer(1)),
        Mutant(
            "no w_0 in W_V",
            why="then the residual is -y_i",
            value_x=ZeroMatrix(1, d),
        ),
        Mutant(
            "query (x, w_0ᵀx)",
            why="the label starts at minus the prediction",
            query_label=w_0.T * x,
        ),
        Mutant(
            "dual loss with labels y_i",
            why="the labels are the residuals unless w_0 = 0",
            dual_loss=-Trace(y * X.T * omega) / N,
        ),
        Mutant(
            "dual loss without 1/N",
            why="P has it",
            dual_loss=-Trace((y - w_0.T * X) * X.T * omega),
        ),
    ),
)


@check(CLAIM, grade="symbolic", scope="all")
def label_is_a_gradient_step(claim: Claim) -> Outcome:
    """Differentiate both losses at all sizes."""
    steps: list[str] = []
    for statement in regression.statements(claim):
        outcome = settle(statement, fixed())
        if outcome.verdict is not Verdict.HOLDS:
            return outcome
        steps += outcome.steps
    return Holds(
        "both differences vanish", steps=steps, certificate=outcome.certificate
    )


@check(CLAIM, grade="property", scope="rational tasks, N ≤ 4, d ≤ 3")
def layer_in_fractions(claim: Claim, search: Search) -> Outcome:
    """Run the layer with its full matrices, token by token."""
    return regression.hunt(claim, search)
