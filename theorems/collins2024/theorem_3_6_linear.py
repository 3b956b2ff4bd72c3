"""Theorem 3.6: linear attention has a loss of at least L^2/3.

Collins et al. (NeurIPS 2024), Theorem 3.6; proved as Lemma F.1. For x_i ~ U_d and
affine or ReLU tasks the loss of h = sum_i (f(x_i) + e_i) x_i.M x satisfies
L_LA(M) >= L^2/3 for every M. In closed form (classes/linear.py), least at a multiple
of I:

    affine  inf over M and n is L^2/3, approached as n -> infinity: the bound is tight;
    ReLU    it is L^2/3 (1 + 1/(2d)).

The remark after the theorem compares it with Theorem 3.5's L^2/Lambda^beta "as long as
sigma^2/n <= 1". That condition does not scale: for L = 1/1000 and sigma^2 = n the
softmax loss is at least sigma^2/n = 1 for every M, and linear attention has at most
2 L^2/3. With Lambda = n L^2/sigma^2 in its place the remark holds, and even uniform
attention, M = 0, beats linear attention for Lambda >= 9, n >= 3.

Deviations from the text:
    1. The theorem names the ReLU class, the lemma both; both are decided, with
       Sigma = I as stated.
Not decided here: the independence that the printed proof uses
(lemma_f_1_independence.py).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from theorems.collins2024 import PAPER
from theorems.collins2024.classes import AFFINE, RELU
from theorems.collins2024.classes.decide import AtLeast, Equal, all_of
from theorems.collins2024.classes.tasks import L, TaskLaw, d, n
from verify import (
    Anchor,
    Claim,
    Holds,
    Kind,
    Mutant,
    Outcome,
    Refuted,
    Tightness,
    Verdict,
    Wording,
    check,
    refuted,
)
from verify.search import Search
from verify.symbolic import formula

LOWS = {d: 1, n: 1, L: 0}
TWO_TOKENS = "two tokens in two dimensions do not come near this bound"

CLAIM = Claim(
    id="collins2024/theorem-3.6",
    title="linear attention",
    says="The loss of linear attention is at least L²/3 for every M.",
    latex=r"\mathcal{L}_{LA}(M) \ge \tfrac{L^2}{3}",
    quantifiers="for all M, d, n ≥ 1, σ ≥ 0, affine and ReLU tasks, x ~ U_d",
    source=PAPER.at("Theorem 3.6", "Lemma F.1, with the constant of its proof"),
    wording=Wording.DERIVED,
    domain=(AFFINE, RELU),
    parameters={"bound": L**2 / 3},
    mutants=(
        Mutant("twice", why="M = 0 has L²/3 (1 + 1/d)", bound=2 * L**2 / 3),
        Mutant(
            "the loss at M = 0",
            why="a small multiple of I is better",
            bound=L**2 / 3 * (1 + 1 / d),
        ),
        Mutant(
            "the constant of the ReLU class",
            why="affine tasks come closer to L²/3 as n grows",
            bound=L**2 / 3 * (1 + 1 / (2 * d)),
            blind={"counted_losses": TWO_TOKENS},
        ),
        Mutant(
            "linear in L",
            why="losses scale like L²",
            bound=L / 3,
            blind={"counted_losses": "it knows L² = 3 only"},
        ),
    ),
)


def losses(claim: Claim) -> list[Any]:
    """Closed forms of the claim's classes."""
    from theorems.collins2024.classes.linear import moments

    return [moments(law) for law in claim.domain]


@check(CLAIM, grade="symbolic", scope="all")
def square_is_completed(claim: Claim) -> Outcome:
    """Complete the square in M and compare the minimum with the bound."""
    from theorems.collins2024.classes.linear import completed, variance

    instances = (
        {"L": 1, "d": 2, "n": 10**6, "variance": "1/1000"},
        {"L": "1/10", "d": 2, "n": 10**6, "variance": "1/1000"},
    )
    parts: list[Equal | AtLeast] = []
    for found in losses(claim):
        low = {**LOWS, variance: 0}
        says = f"least loss ≥ {claim.bound}"
        parts.append(AtLeast(says, found.least, claim.bound, low, instances))
    outcome = all_of(*parts, steps=[completed()])
    if outcome.verdict is not Verdict.HOLDS:
        return outcome
    return outcome.but(tightness=(_tightness(claim, instances[0]),))


def _tightness(claim: Claim, instance: dict[str, Any]) -> Tightness:
    """The bound over the least loss at n = 10^6."""
    values = {sp.Symbol(k): sp.Rational(v) for k, v in instance.items()}
    from theorems.collins2024.classes.decide import bare

    ratios = [bare(claim.bound / m.least).subs(values) for m in losses(claim)]
    worst = max(range(len(ratios)), key=lambda k: ratios[k])
    exact = {k: Fraction(str(v)) for k, v in instance.items()}
    witness = formula(
        claim.bound, "<=", losses(claim)[worst].least, exact, "the least loss"
    )
    name = claim.domain[worst].name
    return Tightness(
        f"L²/3 ≤ least loss ({name}, n = 10⁶)", float(ratios[worst]), witness
    )


def _matrices() -> st.SearchStrategy[Any]:
    """A matrix, often a multiple of I, and a standard deviation."""
    entry = st.fractions(Fraction(-1), Fraction(1), max_denominator=16)
    multiple = entry.map(lambda u: (u, Fraction(0), Fraction(0), u))
    noise = st.sampled_from((Fraction(0), Fraction(1, 10), Fraction(1)))
    return st.tuples(st.one_of(multiple, st.tuples(entry, entry, entry, entry)), noise)


ZERO = (tuple(Fraction(0) for _ in range(4)), Fraction(0))
SMALL = ((Fraction(1, 14), Fraction(0), Fraction(0), Fraction(1, 14)), Fraction(0))


@check(CLAIM, grade="property", scope="n = d = 2, L² = 3, rational M")
def counted_losses(claim: Claim, search: Search) -> Outcome:
    """Count the loss of rational matrices exactly."""
    from theorems.collins2024.classes import counted

    bound = claim.bound.subs({L: sp.sqrt(3), d: 2})

    def lowest(instance: Any) -> Fraction:
        return min(counted.loss(law, *instance) for law in claim.domain)

    def witness(instance: Any) -> dict[str, Any]:
        says = f"loss of the matrix {instance[0]}, L² = 3"
        value = sp.Symbol("loss")
        return formula(value, "<", bound, {"loss": lowest(instance)}, says)

    return search.for_all(
        _matrices(),
        lambda instance: bool(sp.Rational(lowest(instance)) < bound),
        witness,
        searched="entries in [-1, 1] of denominator up to 16",
        pinned=(ZERO, SMALL),
        scale=0.1,
    )


# --- sharp ---------------------------------------------------------------------------


def least(law: TaskLaw) -> sp.Expr:
    """The paper's symbols: the least loss as printed below."""
    v = sp.Symbol("variance", positive=True)
    power = L**2 * (d + 1) / (3 * d)
    share = {AFFINE: sp.S.One, RELU: sp.S.Half}[law]
    kappa = share * L**2 / (3 * d**3)
    return power - n * kappa**2 * d**3 / (power + v + (n - 1) * kappa * d)


SHARP = Claim(
    id="collins2024/theorem-3.6/sharp",
    title="least loss of linear attention",
    says=(
        "The least loss of linear attention is attained at a multiple of I; with "
        "K = L²/3 (1 + 1/d) it is K - nκ²d³/(K + σ² + (n - 1)κd), where κ is "
        "L²/(3d³) for affine and L²/(6d³) for ReLU tasks."
    ),
    latex=(
        r"\min_M \mathcal{L}_{LA}(M) = K - \frac{n \kappa^2 d^3}"
        r"{K + \sigma^2 + (n-1)\kappa d}"
    ),
    quantifiers=CLAIM.quantifiers,
    source=PAPER.at("Theorem 3.6"),
    wording=Wording.OURS,
    domain=(AFFINE, RELU),
    parameters={"affine": least(AFFINE), "relu": least(RELU)},
    mutants=(
        Mutant(
            "classes exchanged",
            why="ReLU tasks have half the linear part",
            affine=least(RELU),
            relu=least(AFFINE),
        ),
        Mutant("L²/3 for affine tasks", why="only as n → ∞", affine=L**2 / 3),
        Mutant(
            "L²/3 for ReLU tasks", why="their even part is lost as well", relu=L**2 / 3
        ),
    ),
)


def _named(claim: Claim, law: TaskLaw) -> sp.Expr:
    return {AFFINE: claim.affine, RELU: claim.relu}[law]


@check(SHARP, grade="symbolic", scope="all")
def minimum_is_derived(claim: Claim) -> Outcome:
    """Complete the square in M and compare minima."""
    from theorems.collins2024.classes.linear import completed, moments

    instance = {"L": Fraction(1), "d": Fraction(2), "n": Fraction(3), "variance": 1}
    parts: list[Equal | AtLeast] = []
    for law in claim.domain:
        found = moments(law)
        says = f"least loss, {law.name}"
        parts.append(Equal(says, _named(claim, law), found.least, (instance,)))
    return all_of(*parts, steps=[completed()])


@check(SHARP, grade="property", scope="n = d = 2, L² = 3, rational σ")
def minimum_is_counted(claim: Claim, search: Search) -> Outcome:
    """Count the loss at the minimising multiple of I, and around it."""
    from theorems.collins2024.classes import counted
    from theorems.collins2024.classes.linear import moments, variance

    values = {L: sp.sqrt(3), d: 2, n: 2}

    def gap(instance: Any) -> tuple[Fraction, sp.Rational, bool]:
        law, noise, step = instance
        at = {**values, variance: sp.Rational(noise) ** 2}
        u = sp.Rational(moments(law).scale.subs(at))
        scale = Fraction(int(u.p), int(u.q))
        zero = Fraction(0)
        value = counted.loss(law, (scale, zero, zero, scale), noise)
        moved = (scale + step[0], step[1], step[2], scale + step[3])
        lower = counted.loss(law, moved, noise) < value
        claimed = sp.Rational(sp.simplify(_named(claim, law).subs(at)))
        return value, claimed, lower

    def witness(instance: Any) -> dict[str, Any]:
        value, claimed, _ = gap(instance)
        says = f"least counted loss, {instance[0].name}, σ = {instance[1]}, L² = 3"
        return formula(sp.Symbol("loss"), "!=", claimed, {"loss": value}, says)

    step = st.fractions(Fraction(-1, 4), Fraction(1, 4), max_denominator=8)
    return search.for_all(
        st.tuples(
            st.sampled_from(claim.domain),
            st.fractions(Fraction(1, 10), Fraction(2), max_denominator=10),
            st.tuples(step, step, step, step),
        ),
        lambda i: sp.Rational(gap(i)[0]) != gap(i)[1] or gap(i)[2],
        witness,
        searched="both classes, σ in [1/10, 2], steps up to 1/4 in each entry",
        scale=0.1,
    )


# --- the remark ----------------------------------------------------------------------

REMARK = Claim(
    id="collins2024/theorem-3.6/remark",
    kind=Kind.PROOF_STEP,
    title="softmax attention beats linear attention",
    says=(
        "As long as σ²/n ≤ 1, the least loss of softmax attention is below that of "
        "linear attention."
    ),
    latex=(
        r"\tfrac{\sigma^2}{n} \le 1 \implies "
        r"\min_M \mathcal{L}(M) < \min_M \mathcal{L}_{LA}(M)"
    ),
    quantifiers="for all L > 0, d ≥ 2, n ≥ 3, affine and ReLU tasks",
    source=PAPER.at("Theorem 3.6", "sentence after it"),
    wording=Wording.PRINTED,
    parameters={"noise": sp.S.One},
    anchors=(
        Anchor(
            "σ²/n ≤ L²/9",
            why="then even M = 0 beats linear attention",
            noise=L**2 / 9,
        ),
    ),
    mutants=(
        Mutant("σ²/n ≤ L²", why="at d = 2 softmax may lose", noise=L**2),
        Mutant("σ²/n ≤ L/9", why="it does not scale", noise=L / 9),
        Mutant("σ²/n ≤ 1/9", why="it does not scale", noise=sp.Rational(1, 9)),
    ),
    finding=refuted(
        "the condition does not scale with L: for L = 1/1000, σ² = n softmax "
        "attention loses by any factor; Λ ≥ 9 in its place suffices"
    ),
    nearest="collins2024/theorem-3.6/remark/repaired",
)

REPAIRED = Claim(
    id="collins2024/theorem-3.6/remark/repaired",
    kind=Kind.PROOF_STEP,
    title="softmax attention beats linear attention",
    says=(
        "As long as Λ = nL²/σ² ≥ 9, the least loss of softmax attention is below that "
        "of linear attention: so is the loss at M = 0."
    ),
    latex=(
        r"\Lambda \ge 9 \implies \mathcal{L}(0) \le \tfrac{L^2}{3} "
        r"< \min_M \mathcal{L}_{LA}(M)"
    ),
    quantifiers=REMARK.quantifiers,
    source=PAPER.at("Theorem 3.6", "repair of the sentence after it"),
    wording=Wording.OURS,
    parameters={"noise": L**2 / 9},
    mutants=(
        *REMARK.mutants,
        Mutant("as printed", why="it does not scale", noise=sp.S.One),
    ),
)


@check(REMARK, REPAIRED, grade="symbolic", scope="all")
def uniform_attention_compared(claim: Claim) -> Outcome:
    """Compare the loss at M = 0 with L²/3, or σ²/n with linear attention's at M = 0.

    Softmax attention has at least σ² E Σγ² ≥ σ²/n, and at M = 0 at most
    L²/(3d) (1 + 1/n) + σ²/n for either class: n Σγ² ≥ 1, and the centred task has
    E f̄² ≤ L²/(3d). Linear attention has more than L²/3 and at M = 0 L²/3 (1 + 1/d).
    """
    uniform = L**2 / (3 * d) * (1 + 1 / n) + claim.noise
    lows = {d: 2, n: 3, L: 0}
    outcome = AtLeast("L(0) ≤ L²/3 < L_LA", L**2 / 3, uniform, lows).decide()
    if outcome.verdict is Verdict.HOLDS:
        return Holds("uniform attention is better", steps=[outcome.reason])
    return _softmax_loses(claim, Fraction(1, 1000), 3) or outcome


def _softmax_loses(claim: Claim, reach: Fraction, size: int) -> Outcome | None:
    """σ²/n at the largest noise allowed against the loss of linear attention at 0."""
    zero = L**2 / 3 * (1 + 1 / d)
    at = {L: sp.Rational(reach), d: size}
    if not claim.noise.subs(at) > zero.subs(at):
        return None
    says = "least variance of softmax attention against the loss of M = 0 in linear"
    inputs = {"L": reach, "d": Fraction(size)}
    return Refuted(says, witness=formula(claim.noise, ">", zero, inputs, says))


@check(REMARK, REPAIRED, grade="property", scope="rational L, d ≤ 8")
def variance_compared(claim: Claim, search: Search) -> Outcome:
    """Look for L and d with a softmax loss above the one of linear attention."""
    strategy = st.tuples(
        st.fractions(Fraction(1, 100), Fraction(10), max_denominator=100),
        st.integers(2, 8),
    )

    def lost(instance: tuple[Fraction, int]) -> Outcome | None:
        return _softmax_loses(claim, *instance)

    def witness(instance: tuple[Fraction, int]) -> dict[str, Any]:
        outcome = lost(instance)
        return dict(outcome.witness or {}) if outcome else {}

    return search.for_all(
        strategy,
        lambda instance: lost(instance) is not None,
        witness,
        searched="L in [1/100, 10], d ≤ 8, σ at the edge of the condition",
        pinned=((Fraction(1, 1000), 3), (Fraction(1, 10), 3)),
        scale=0.2,
    )
