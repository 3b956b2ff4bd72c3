"""What lies behind Proposition 1: equalities.

Not in the paper. For its L_0, every map n and every η_0 > 0,

    W* x = e_{In(x)} - 1/|V|,  ‖W*‖ = sqrt(|V| - 1),  W_ov^(t) = tη_0 W*/‖W*‖,
    L_0(W_ov^(t)) = |V| log(1 + (|V| - 1) e^{-tη_0/‖W*‖}).

By symmetry between the tokens every step is along W*. What remains without that
symmetry is in proposition_1_weighted.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from theorems.huang2024 import PAPER
from theorems.huang2024.stage_one import closed, decide, observed
from theorems.huang2024.stage_one.decide import Relation
from theorems.huang2024.stage_one.notation import (
    COLLOCATION,
    EQUAL,
    EQUAL_MEAN,
    EVERY_MAP,
    NORM_STAR,
    ORTHOGONAL,
    OTHER,
    OWN,
    UNIT_NORM,
    WHOLE,
    S,
    V,
    eta,
    t,
)
from theorems.huang2024.stage_one.observed import (
    at_least,
    equals,
    together,
    value,
    where,
)
from verify import (
    Anchor,
    Claim,
    Mutant,
    Outcome,
    Refuted,
    Resolve,
    Wording,
    check,
    evidence,
    necessity,
)
from verify.numerics import gamma
from verify.profiles import Profile
from verify.symbolic import formula

if TYPE_CHECKING:
    from theorems.huang2024.stage_one.observed import Columns

equal_paths, literal_paths = observed.equal_paths, observed.literal_paths

AT = PAPER.at("Proposition 1")
TIME = eta * t
LOSS = V * sp.log(1 + (V - 1) * sp.exp(-TIME / S))
SHAPE = S**3 * sp.log(2 * V) * sp.log(t) / TIME

SOLUTION = Claim(
    id="huang2024/proposition-1/max-margin",
    title="closed form of problem (2)",
    says=(
        "The solution of problem (2) maps x to e_{In(x)} - 1/|V| and has norm "
        "sqrt(|V| - 1), whatever the map n."
    ),
    latex=(
        r"W^*_{ov} x = e_{I_n(x)} - \tfrac{1}{|V|} \mathbf{1}, \quad "
        r"\|W^*_{ov}\| = \sqrt{|V| - 1}"
    ),
    quantifiers="for all |V| ≥ 2, all maps n: V → V",
    source=PAPER.at("Equation (2)"),
    wording=Wording.OURS,
    assumes=(COLLOCATION, UNIT_NORM, ORTHOGONAL),
    parameters={"own": OWN, "other": OTHER, "norm": NORM_STAR},
    mutants=(
        Mutant(
            "e_{In(x)} itself",
            why="feasible and longer",
            own=sp.Integer(1),
            other=sp.Integer(0),
            norm=sp.sqrt(V),
        ),
        Mutant("±1/2", why="longer for |V| ≥ 3", own=sp.S.Half, other=-sp.S.Half),
        Mutant("norm sqrt|V|", why="it is sqrt(|V| - 1)", norm=sp.sqrt(V)),
        Mutant("norm |V| - 1", why="its square", norm=V - 1),
        Mutant("margin 1/2", why="infeasible", own=OWN / 2, other=OTHER / 2),
    ),
)

SHARP = Claim(
    id="huang2024/proposition-1/sharp",
    title="stage 1 in closed form",
    says=(
        "With the paper's L_0, W_ov^(t) is the max-margin direction times tη_0 from "
        "the first step on; margins are tη_0/‖W*‖ and the loss follows."
    ),
    latex=(
        r"W^{(t)}_{ov} = t\eta_0 \frac{W^*_{ov}}{\|W^*_{ov}\|}, \quad "
        r"L_0(W^{(t)}_{ov}) = |V| \log(1 + (|V|-1) e^{-t\eta_0/\|W^*_{ov}\|})"
    ),
    quantifiers=f"{EVERY_MAP}, all t ≥ 1",
    source=AT,
    wording=Wording.OURS,
    domain=EQUAL,
    assumes=WHOLE,
    parameters={
        "scale": sp.Integer(1),  # of the norm, in tη_0
        "speed": sp.Integer(1),  # of the margin, in tη_0/‖W*‖
        "gap": sp.Integer(0),  # 1 - cosine
        "loss": LOSS,
    },
    mutants=(
        Mutant("norm tη_0/2", why="steps add up in one direction", scale=sp.S.Half),
        Mutant("margin 2tη_0/‖W*‖", why="twice too much", speed=sp.Integer(2)),
        Mutant("margin tη_0", why="false for |V| ≥ 3", speed=S),
        Mutant("K = 12 attained", why="the gap is 0", gap=12 * SHAPE),
        Mutant("gap 1/t²", why="that is its order under weights", gap=1 / t**2),
        Mutant(
            "rate of the loss 1/(4‖W*‖)",
            why="it is four times that",
            loss=V * sp.log(1 + (V - 1) * sp.exp(-TIME / (4 * S))),
        ),
        Mutant(
            "|V| wrong tokens",
            why="there are |V| - 1",
            loss=V * sp.log(1 + V * sp.exp(-TIME / S)),
        ),
    ),
    anchors=(
        Anchor(
            "mean over tokens",
            why="only the loss is divided",
            domain=EQUAL_MEAN,
            loss=LOSS / V,
        ),
    ),
    resolves=(Resolve("scale", reach=0.5), Resolve("speed", reach=0.5)),
)

# ---------------------------------------------------------------- exact


@check(SOLUTION, grade="symbolic", scope="all")
def kkt_conditions_hold(claim: Claim) -> Outcome:
    """All constraints active, all multipliers 1/|V|: the unique solution."""
    relations = (
        Relation("entry at In(x)", claim.own, OWN, "=="),
        Relation("entry elsewhere", claim.other, OTHER, "=="),
        Relation("norm", claim.norm, NORM_STAR, "=="),
    )
    return decide.everywhere(relations, {}, decide.grid(), closed.solution())


@check(SHARP, grade="symbolic", scope="all")
def closed_form_is_proved(claim: Claim) -> Outcome:
    """Compare every part with the proved closed form."""
    loss = closed.LOSS / V if claim.domain.mean else closed.LOSS
    relations = (
        Relation("norm", claim.scale * TIME, closed.NORM, "=="),
        Relation("margin", claim.speed * TIME / S, closed.MARGIN, "=="),
        Relation("1 - cosine", claim.gap, sp.S.Zero, "=="),
        Relation("loss", claim.loss, loss, "=="),
    )
    return decide.everywhere(
        relations, {t: 1, eta: 0}, decide.grid(), closed.equal_weights()
    )


# ---------------------------------------------------------------- paths


@check(SOLUTION, grade="property", scope="shorter feasible matrices on trained paths")
def no_trained_matrix_is_shorter(claim: Claim, literal_paths: Columns) -> Outcome:
    """W_ov^(t) over its smallest margin is feasible: none may be shorter than W*."""
    columns = where(literal_paths, literal_paths["t"] >= 1)
    own, other, norm = (value(x, columns) for x in (claim.own, claim.other, claim.norm))
    slack, size = columns["slack"], columns["V"]
    length = np.sqrt(size * (own**2 + (size - 1) * other**2))
    shortest = columns["norm"] / columns["low"]
    allowed = slack * length
    return together(
        at_least(own - other, np.ones_like(own), columns, slack, "feasible"),
        equals(length, norm, columns, allowed, "the norm is that of the entries"),
        at_least(shortest, length, columns, 2 * allowed, "shortest"),
    )


def _equalities(claim: Claim, columns: Columns) -> list[Outcome]:
    """Norm and margins, which both kinds of path record."""
    time, slack = columns["t"] * columns["eta_0"], columns["slack"]
    norm = value(claim.scale * TIME, columns)
    margin = value(claim.speed * TIME / S, columns)
    return [
        equals(columns["norm"], norm, columns, slack * time, "norm"),
        equals(columns["low"], margin, columns, slack * time, "smallest margin"),
        equals(columns["high"], margin, columns, slack * time, "largest margin"),
    ]


@check(SHARP, grade="property", scope="equal weights, |V| ≤ 100, η_0 ≤ ‖W*‖/2")
def equalities_along_paths(
    claim: Claim, equal_paths: Columns, literal_paths: Columns
) -> Outcome:
    """Whole matrices for 60 steps, and margins for as long as the budget lasts."""
    equal = (literal_paths["equal"] == 1) & (literal_paths["t"] > 0)
    whole, far = where(literal_paths, equal), where(equal_paths, equal_paths["t"] > 0)
    outcomes = [*_equalities(claim, whole), *_equalities(claim, far)]
    time, slack = far["t"] * far["eta_0"], far["slack"]
    allowed = 2 * np.sqrt(far["gap"]) * slack + slack**2
    gap = equals(far["gap"], value(claim.gap, far), far, allowed, "1 - cosine")
    near = where(far, time / value(S, far) < 20)  # 1 + (|V|-1)e^-x loses e^x u of it
    mean = np.log(near["V"]) if claim.domain.mean else 0.0
    loss = np.log(value(claim.loss, near))
    allowed = near["slack"] * (1 + near["high"] + np.log(near["V"]))
    allowed = allowed + gamma(4) * np.exp(near["high"])
    losses = equals(near["log_loss"] - mean, loss, near, allowed, "log of the loss")
    return together(*outcomes, gap, losses)


@evidence
def trained_layers(profile: Profile, seed: int, device: str) -> Columns:
    """W_ov trained by autograd with random orthonormal embeddings and maps."""
    from theorems.huang2024.stage_one import trained

    return trained.train(profile.seeds, 40, seed, device)


@check(SHARP, grade="trained", scope="|V| = 6, d = 8, 40 steps of Algorithm 1, float64")
def autograd_agrees(claim: Claim, trained_layers: Columns) -> Outcome:
    """Train from the loss alone; compare norm, margins and loss up to rounding."""
    columns = trained_layers
    gap = value(claim.gap, columns)
    slack = columns["slack"]
    loss = value(claim.loss, columns)
    size = columns["V"] if claim.domain.mean else 1.0
    return together(
        *_equalities(claim, columns),
        equals(columns["gap"], gap, columns, slack, "1 - cosine"),
        equals(columns["loss"] / size, loss, columns, slack * (1 + loss), "loss"),
    )


# ---------------------------------------------------------------- necessity


def _contradiction(
    claim: Claim, first: list[list[int]], second: list[list[int]]
) -> Outcome:
    """Two constraints ⟨C, W⟩ ≥ 1 whose matrices cancel: 0 ≥ 2."""
    C, D = sp.MatrixSymbol("C", 2, 2), sp.MatrixSymbol("D", 2, 2)
    witness = formula(
        sp.Trace((C + D).T * (C + D)),
        "<",
        sp.Integer(2),
        {"C": first, "D": second},
        "the constraints ⟨C, W⟩ ≥ 1 and ⟨D, W⟩ ≥ 1 ask ⟨C + D, W⟩ ≥ 2 of C + D = 0",
    )
    return Refuted(f"{claim.title}: there is no solution", witness=witness)


@necessity(
    SOLUTION,
    assumption="collocation",
    needed=True,
    grade="certified",
    scope="one token with two successors",
)
def two_successors(claim: Claim) -> Outcome:
    """If x is followed by either token, both should win at x."""
    return _contradiction(claim, [[1, 0], [-1, 0]], [[-1, 0], [1, 0]])


@necessity(
    SOLUTION,
    assumption="orthogonal",
    needed=True,
    grade="certified",
    scope="two tokens with one embedding",
)
def equal_embeddings(claim: Claim) -> Outcome:
    """Tokens with one embedding (3/5, 4/5), scaled by 5, and different successors."""
    return _contradiction(claim, [[3, 4], [-3, -4]], [[-3, -4], [3, 4]])
