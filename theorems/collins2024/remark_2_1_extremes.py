"""Remark 2.1: two extreme cases, constant tasks and Voronoi cells.

Collins et al. (NeurIPS 2024), Remark 2.1.

(i) Constant tasks. The error is sum_i g_i e_i for weights g, so the loss is
s^2 E sum g_i^2 >= s^2/n, with equality only for equal weights: M = 0 is optimal, and M
with x_i.M x not all equal is not.

(ii) Labels constant on the Voronoi cells of the tokens. "The optimal estimator attends
only to the single nearest token since this incurs error only from label noise." Its
loss is s^2. With labels of variance t^2, independent between cells, weights 1 - q on
the nearest token and q shared equally by the others have the loss

    t^2 q^2 n/(n-1) + s^2 ((1-q)^2 + q^2/(n-1)),

least at q* = s^2 (n-1)/(n (t^2 + s^2)): with noise a little averaging is better, and
the remark holds without noise, or against arbitrary labels.

Deviations from the text:
    1. Labels of cells are not specified in (ii); two readings are decided, independent
       labels of finite variance and arbitrary ones.
    2. Estimators are weighted means of labels.
Not decided here: windows of softmax attention in (ii) (remark_2_1_window.py).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from theorems.collins2024 import PAPER
from theorems.collins2024.classes.decide import Equal, all_of, exactly
from verify import (
    Anchor,
    Assumption,
    Cause,
    Claim,
    Holds,
    Inconclusive,
    Kind,
    Mutant,
    Outcome,
    Refuted,
    Wording,
    check,
    refuted,
)
from verify.search import Search
from verify.symbolic import formula

n = sp.Symbol("n", positive=True, integer=True)
noise = sp.Symbol("noise", positive=True)  # sigma^2
label = sp.Symbol("label", positive=True)  # variance of a label

CONSTANT = Claim(
    id="collins2024/remark-2.1/constant",
    kind=Kind.PROOF_STEP,
    title="constant tasks want uniform attention",
    says="For constant tasks the least loss is σ²/n, and only equal weights have it.",
    latex=(
        r"\mathcal{L}(M) = \sigma^2 \mathbb{E} \sum_i \gamma_i^2 "
        r"\ge \tfrac{\sigma^2}{n}"
    ),
    quantifiers="for all n, σ > 0, all M",
    source=PAPER.at("Remark 2.1", "(i)"),
    wording=Wording.PRINTED,
    parameters={"least": noise / n, "scale": sp.S.Zero},
    mutants=(
        Mutant("twice", why="M = 0 has σ²/n", least=2 * noise / n),
        Mutant("σ²/(n - 1/2)", why="M = 0 has σ²/n", least=noise / (n - sp.S.Half)),
        Mutant("σ²/n²", why="no weights reach it", least=noise / n**2),
        Mutant("M = I", why="its weights differ", scale=sp.S.One),
    ),
)

a_i, a_j = sp.symbols("a_i a_j", positive=True)
total, squares = sp.symbols("total squares", positive=True)  # sum a, sum a^2


@check(CONSTANT, grade="symbolic", scope="all")
def by_lagranges_identity(claim: Claim) -> Outcome:
    """Expand n Σa² - (Σa)² = ½ Σ_i Σ_j (a_i - a_j)²: Σγ² ≥ 1/n, equal for equal a.

    The double sum is expanded: Σ_i Σ_j a_i² = n Σa² and Σ_i Σ_j a_i a_j = (Σa)².
    """
    pair = sp.expand((a_i - a_j) ** 2)
    double = pair.coeff(a_i, 2) * n * squares + pair.coeff(a_j, 2) * n * squares
    double += pair.coeff(a_i, 1).coeff(a_j, 1) * total**2
    uneven = _uneven(claim)
    if uneven is not None:
        return uneven
    instance = {"n": 3, "noise": 1}
    return all_of(
        Equal("Lagrange's identity", n * squares - total**2, double / 2),
        Equal("loss of equal weights", claim.least, noise * n / n**2, (instance,)),
        steps=["γ = a/Σa: the loss is σ² E Σa²/(Σa)²"],
    )


def _uneven(claim: Claim) -> Outcome | None:
    """For M = scale I two tokens with x_i.x = 1 and 0 have unequal weights."""
    if claim.scale == 0:
        return None
    s = sp.Symbol("s", positive=True)
    spread = (sp.exp(2 * s) + 1) / (sp.exp(s) + 1) ** 2
    says = "sum of squared weights of scores s and 0, more than 1/2"
    values = {"s": Fraction(str(claim.scale))}
    witness = formula(spread, ">", sp.S.Half, values, says)
    return Refuted(says, witness=witness)


Weights = tuple[int, ...]


@check(CONSTANT, grade="property", scope="rational weights, n ≤ 5")
def weights_are_tried(claim: Claim, search: Search) -> Outcome:
    """Compare σ² Σγ² of rational weights, equal ones first, with the least loss."""
    uneven = _uneven(claim)
    if uneven is not None:
        return uneven

    def loss(weights: Weights) -> Fraction:
        return Fraction(sum(w * w for w in weights), sum(weights) ** 2)

    value_of = exactly(claim.least, n, noise)

    def claimed(weights: Weights) -> Fraction:
        return value_of(len(weights), 1)

    def violated(weights: Weights) -> bool:
        equal = len({*weights}) == 1
        value, least = loss(weights), claimed(weights)
        return value < least or equal != (value == least)

    def witness(weights: Weights) -> dict[str, Any]:
        equal = len({*weights}) == 1
        says = f"loss of the weights {weights} against the least loss"
        op = "!=" if equal else "<="
        inputs = {"loss": loss(weights), "n": len(weights), "noise": 1}
        return formula(sp.Symbol("loss"), op, claim.least, inputs, says)

    return search.for_all(
        st.lists(st.integers(1, 9), min_size=2, max_size=5).map(tuple),
        violated,
        witness,
        searched="weights 1 to 9, two to five tokens",
        pinned=((1, 1), (1, 1, 1)),
        scale=0.2,
    )


# --- (ii) ----------------------------------------------------------------------------

q = sp.Symbol("q", nonnegative=True)
LOSS = label * q**2 * n / (n - 1) + noise * ((1 - q) ** 2 + q**2 / (n - 1))
BEST = noise * (n - 1) / (n * (label + noise))
SOURCE = PAPER.at("Remark 2.1", "(ii)")

INDEPENDENT = Claim(
    id="collins2024/remark-2.1/rapid@independent-labels",
    kind=Kind.PROOF_STEP,
    title="Voronoi labels want the nearest token",
    says=(
        "When labels of cells are independent with finite variance, the best weighted "
        "mean of labels attends to the nearest token only."
    ),
    latex=r"\gamma^* = (1, 0, \ldots, 0)",
    quantifiers="for all n ≥ 2, label variances and noise variances > 0",
    source=SOURCE,
    wording=Wording.GUESSED,
    assumes=(Assumption("independent", "labels of cells are iid, centred"),),
    parameters={"elsewhere": sp.S.Zero},
    anchors=(Anchor("the best share", why="the loss is a parabola", elsewhere=BEST),),
    mutants=(
        Mutant("half of it", why="the parabola has one minimum", elsewhere=BEST / 2),
        Mutant("twice", why="the parabola has one minimum", elsewhere=2 * BEST),
        Mutant(
            "n left out",
            why="the others share a weight",
            elsewhere=noise / (label + noise),
        ),
    ),
    finding=refuted(
        "with noise the share σ²(n - 1)/(n(τ² + σ²)) on the other tokens is better"
    ),
    nearest="collins2024/remark-2.1/rapid/repaired",
)

REPAIRED = Claim(
    id="collins2024/remark-2.1/rapid/repaired",
    kind=Kind.PROOF_STEP,
    title="Voronoi labels: the best weights",
    says=(
        "For labels independent between cells, of variance τ², the best weighted mean "
        "gives the other tokens the share σ²(n - 1)/(n(τ² + σ²)), equally: none only "
        "without noise."
    ),
    latex=r"1 - \gamma^*_{near} = \frac{(n-1)\sigma^2}{n(\tau^2 + \sigma^2)}",
    quantifiers=INDEPENDENT.quantifiers,
    source=SOURCE,
    wording=Wording.OURS,
    assumes=INDEPENDENT.assumes,
    parameters={"elsewhere": BEST},
    mutants=(
        *INDEPENDENT.mutants,
        Mutant("as printed", why="noise is not averaged", elsewhere=sp.S.Zero),
    ),
)


@check(INDEPENDENT, REPAIRED, grade="symbolic", scope="all")
def parabola_is_least(claim: Claim) -> Outcome:
    """Minimise the loss in the share q; equal shares are best among the others.

    The others enter as (τ² + σ²) Σγ_i², at least (τ² + σ²) q²/(n - 1) by Lagrange.
    """
    slope = sp.diff(LOSS, q)
    least = -slope.subs(q, 0) / sp.diff(slope, q)  # of a parabola
    curved = sp.cancel(sp.diff(LOSS, q, 2) / 2 - (label + noise) * n / (n - 1)) == 0
    literal = label * q**2 + (label + noise) * q**2 / (n - 1) + noise * (1 - q) ** 2
    if not curved:
        return Inconclusive("no parabola", cause=Cause.NO_PROOF)
    if sp.cancel(claim.elsewhere - least) == 0:
        parts = Equal("loss: nearest, others, noise", literal, LOSS)
        return all_of(parts, steps=["L'' = 2 (τ² + σ²) n/(n - 1) > 0"])
    return _worse(claim, {"n": 3, "noise": 1, "label": 1})


def _worse(claim: Claim, at: dict[str, Any]) -> Outcome:
    """The loss at the claimed share exceeds that at the best one."""
    says = "loss at the share claimed, and a smaller one"
    left, right = LOSS.subs(q, claim.elsewhere), LOSS.subs(q, BEST)
    values = {k: Fraction(v) for k, v in at.items()}
    return Refuted(says, witness=formula(left, ">", right, values, says))


@check(INDEPENDENT, REPAIRED, grade="property", scope="rational variances, n ≤ 6")
def shares_are_tried(claim: Claim, search: Search) -> Outcome:
    """Look for a share with a lower loss than the one claimed."""
    share = st.fractions(Fraction(0), Fraction(1), max_denominator=20)
    variance = st.fractions(Fraction(1, 10), Fraction(10), max_denominator=10)
    strategy = st.fixed_dictionaries({
        "n": st.integers(2, 6),
        "noise": variance,
        "label": variance,
        "share": share,
    })

    share_ = sp.Symbol("share")
    names = (n, noise, label, share_)
    saved = exactly(LOSS.subs(q, claim.elsewhere) - LOSS.subs(q, share_), *names)

    def violated(instance: dict[str, Any]) -> bool:
        return saved(*(instance[s.name] for s in names)) > 0

    def witness(instance: dict[str, Any]) -> dict[str, Any]:
        says = "a share with a lower loss"
        lower, here = LOSS.subs(q, share_), LOSS.subs(q, claim.elsewhere)
        return formula(lower, "<", here, instance, says)

    pinned = [
        {"n": 3, "noise": Fraction(1), "label": Fraction(1), "share": Fraction(k, 30)}
        for k in (1, 5, 10, 12, 15)
    ]
    return search.for_all(
        strategy,
        violated,
        witness,
        searched="shares in [0, 1], variances in [1/10, 10]",
        pinned=pinned,
        scale=0.2,
    )


ARBITRARY = Claim(
    id="collins2024/remark-2.1/rapid@arbitrary-labels",
    kind=Kind.PROOF_STEP,
    title="Voronoi labels want the nearest token",
    says=(
        "Against arbitrary labels of cells, attention to the nearest token only has "
        "the least worst-case loss, σ²: any share on others has none that is finite."
    ),
    latex=r"\sup_{y} \mathcal{L} = \infty \text{ unless } \gamma = (1, 0, \ldots, 0)",
    quantifiers="for all n ≥ 2, σ ≥ 0, weights that add up to 1",
    source=SOURCE,
    wording=Wording.GUESSED,
    parameters={"elsewhere": sp.S.Zero},
    mutants=(
        Mutant("a tenth elsewhere", why="unbounded", elsewhere=sp.Rational(1, 10)),
        Mutant("equal weights", why="unbounded", elsewhere=(n - 1) / n),
        Mutant("the best share", why="best for one variance only", elsewhere=BEST),
    ),
)

y = sp.Symbol("y", positive=True)  # size of the nearest label; the others are 0
WORST = y**2 * q**2  # part of the loss that labels cause


@check(ARBITRARY, grade="symbolic", scope="all")
def bias_is_unbounded(claim: Claim) -> Outcome:
    """With labels (y, 0, ..., 0) the bias is q² y²: it exceeds σ² for large y.

    At q = 0 the loss is σ² for all labels.
    """
    bias = WORST.subs(q, claim.elsewhere)
    if bias == 0:
        return Holds(
            "q = 0 has the loss σ²; q > 0 has q² y², unbounded in y",
            steps=["d/dq of sqrt(q² y²) is y > 0"],
        )
    return _exceeds(claim, Fraction(1000), 3)


def _exceeds(claim: Claim, size: Fraction, count: int) -> Outcome:
    says = "bias for one label y among zeros exceeds 100 times the variance of noise"
    bias = WORST.subs(q, claim.elsewhere)
    values = {"y": size, "n": Fraction(count), "noise": 1, "label": 1}
    witness = formula(bias, ">", 100 * noise, values, says)
    return Refuted(says, witness=witness)


@check(ARBITRARY, grade="property", scope="labels up to 1000, n ≤ 6, σ = 1")
def labels_are_tried(claim: Claim, search: Search) -> Outcome:
    """Look for a label that costs more than 100 times the noise."""

    def violated(instance: tuple[int, int]) -> bool:
        bias = WORST.subs(q, claim.elsewhere)
        at = {y: instance[0], n: instance[1], noise: 1, label: 1}
        return bool(bias.subs(at) > 100)

    return search.for_all(
        st.tuples(st.integers(1, 1000), st.integers(2, 6)),
        violated,
        lambda i: _exceeds(claim, Fraction(i[0]), i[1]).witness or {},
        searched="labels (y, 0, ..., 0), y up to 1000",
        pinned=((1000, 3),),
        scale=0.2,
    )
