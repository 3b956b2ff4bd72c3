"""Assumption B.4: what the proofs need of a class of tasks.

Collins et al. (NeurIPS 2024), Appendix B, Assumption B.4:

    1. every f is L-Lipschitz;
    2. E_f f(x) f(y) = rho(x.y) for some increasing rho;
    3. f o phi is distributed as f for every isometry phi that fixes 0.

It can be satisfied, and no part follows from the others: three classes violate one
part each.

Deviations from the text:
    1. The display is lost; the parts are those that the proofs of Lemmas B.5, C.3 and
       C.7 use and prove. "Increasing" is read as strictly increasing on (-1, 1).
    2. x and y have norm 1 (after Section B.1).
    3. The cosine class of Section 3.2 violates part 2 as well: cos(L w.x) is even in x
       (assumption-b.4/cosine).
Not decided here: which results need which part (lemma_b_5_minimiser.py).
"""

from __future__ import annotations

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.classes import AFFINE, AXES, SQUARES, STEEP, observed
from theorems.collins2024.classes.decide import exact
from theorems.collins2024.classes.validate import assumption_b4
from verify import (
    Assumption,
    Claim,
    Holds,
    Kind,
    Mutant,
    Outcome,
    Refuted,
    Wording,
    check,
)
from verify.profiles import Profile
from verify.search import Search
from verify.symbolic import formula

PARTS = (
    Assumption("lipschitz", "every f is L-Lipschitz"),
    Assumption("kernel", "E f(x) f(y) is an increasing function of x.y"),
    Assumption("isometries", "f o phi is distributed as f for isometries phi"),
)

CLAIM = Claim(
    id="collins2024/assumption-b.4",
    kind=Kind.ASSUMPTION,
    title="classes that the proof covers",
    says=(
        "There are classes of tasks that are L-Lipschitz, whose correlation increases "
        "with x.y and whose law is invariant under isometries."
    ),
    latex=(
        r"f \text{ is } L\text{-Lipschitz}, \quad \mathbb{E} f(x) f(y) = "
        r"\rho(x^\top y) \text{ with } \rho \text{ increasing}, \quad "
        r"f \circ \phi \sim f"
    ),
    quantifiers="for unit x, y in any d ≥ 2; shown for the affine class",
    source=PAPER.at("Assumption B.4"),
    wording=Wording.DERIVED,
    domain=AFFINE,
    assumes=PARTS,
    mutants=(
        Mutant("slopes up to 2L", why="part 1 alone fails", domain=STEEP),
        Mutant(
            "squares instead of w.x",
            why="part 2 alone fails: the kernel is even in x.y",
            domain=SQUARES,
        ),
        Mutant(
            "directions along the axes",
            why="part 3 alone fails: second moments agree, fourth ones do not",
            domain=AXES,
        ),
    ),
)


@check(CLAIM, grade="symbolic", scope="all")
def validator_decides(claim: Claim) -> Outcome:
    """Decide all parts from the law of tasks."""
    return assumption_b4(claim.domain)


@check(CLAIM, grade="property", scope="drawn tasks, d = 3, L = 1")
def drawn_tasks_agree(claim: Claim, profile: Profile, seed: int) -> Outcome:
    """Look for a violation among drawn tasks."""
    count = profile.pick(smoke=50_000, default=50_000, full=300_000)
    return observed.assumption_b4(claim.domain, None, count, seed, profile.level)


t = sp.Symbol("t")

COSINE = Claim(
    id="collins2024/assumption-b.4/cosine",
    kind=Kind.PROOF_STEP,
    title="the cosine class is not covered",
    says=(
        "The class cos(L w.x), w ~ U_d, of the experiments violates part 2: its "
        "correlation is even in x.y, so that it does not increase."
    ),
    latex=r"\rho(-t) = \rho(t)",
    quantifiers="for all d, all L > 0",
    source=PAPER.at("Assumption B.4", "class of Section 3.2"),
    wording=Wording.OURS,
    parameters={"image": -t},
    mutants=(
        Mutant("symmetry about 1/2", why="rho(1) is not rho(0)", image=1 - t),
        Mutant("odd", why="rho(1) is not rho(0)", image=t - 1),
    ),
)


def squared_distances(claim: Claim) -> tuple[list[sp.Expr], list[sp.Expr]]:
    """|x - y|^2 and |x + y|^2 at x.y = t and at its image.

    2 cos a cos b = cos(a - b) + cos(a + b), so that 2 rho(t) = j(|x - y|) + j(|x + y|)
    with j(r) = E cos(L r w_1): rho depends on this unordered pair alone.
    """
    return tuple(
        sorted([2 - 2 * at, 2 + 2 * at], key=str) for at in (t, sp.expand(claim.image))
    )


@check(COSINE, grade="symbolic", scope="all")
def distances_are_swapped(claim: Claim) -> Outcome:
    """Prove that t and its image have the same pair of distances."""
    here, there = ([sp.expand(x) for x in pair] for pair in squared_distances(claim))
    if {*here} == {*there}:
        return Holds("2 rho = j(|x - y|) + j(|x + y|), and these are swapped")
    return _series_differ(claim, sp.Rational(1, 2))


@check(COSINE, grade="property", scope="d = 3, L = 1, rational t")
def series_agree(claim: Claim, search: Search) -> Outcome:
    """Compare values of rho at rational t in [0, 1], where the image is in [-1, 1]."""
    from fractions import Fraction

    from hypothesis import strategies as st

    ts = st.fractions(Fraction(0), Fraction(1), max_denominator=50)
    return search.for_all(
        ts,
        lambda at: _gap(claim, sp.Rational(at)) > BOUND,
        lambda at: _series_differ(claim, sp.Rational(at)).witness or {},
        searched="rho for d = 3, L = 1 by its series at rational t",
        scale=0.1,
    )


# d = 3: j(r) = sin(r)/r = 1 - r^2/6 + r^4/120 - ...; r <= 2 and alternating terms that
# fall: four terms err by less than the fifth, 2^8/9!, once for each of four values.
BOUND = 4 * sp.Rational(2**8, sp.factorial(9))
_q = sp.Symbol("q")
_SERIES = sum((-_q) ** k / sp.factorial(2 * k + 1) for k in range(4))


def _rho(at: sp.Expr) -> sp.Expr:
    return sum(_SERIES.subs(_q, 2 + sign * 2 * at) for sign in (-1, 1)) / 2


def _gap(claim: Claim, at: sp.Rational) -> sp.Rational:
    return abs(_rho(at) - _rho(claim.image.subs(t, at)))


def _series_differ(claim: Claim, at: sp.Rational) -> Outcome:
    for point in (at, sp.S.Zero, sp.S.One):
        if _gap(claim, point) > BOUND:
            left = sp.Abs(_rho(t) - _rho(claim.image))
            says = "rho differs by more than what the series leaves out"
            value = {"t": f"{point.p}/{point.q}"}
            return Refuted(says, witness=formula(left, ">", BOUND, exact(value), says))
    return Holds("no difference at three points")
