"""Lemma D.1: A + αI has full rank for all small α ≠ 0.

Ren and Liu (NeurIPS 2024), Lemma D.1: for every square A there is δ > 0 such that
A + αI has full rank for 0 < |α| < δ. An explicit one is

    δ = |c_k| / (|c_k| + max_{j>k} |c_j|),      det(A + αI) = Σ_{j≥k} c_j α^j, c_k ≠ 0.

"Similarly" there is a δ such that |α| > δ suffices: 1 + max_{j<n} |c_j|.

Deviations from the text:
    1. δ is exhibited; the text takes the least modulus of the non-zero roots, of which
       there are none when A is nilpotent (A = 0): the lemma stands, its minimum not.
    2. For an attention block, whose columns sum to one, A - I is singular: δ ≤ 1.
Not decided here: that full rank is why modified models train better. The lemma knows no
sign of α, while Figure 3 does.
"""

from __future__ import annotations

from sympy import Integer

from theorems.ren2024 import PAPER
from theorems.ren2024.duals import spectrum
from theorems.ren2024.duals.spectrum import FAR, NEAR, below, lowest, others
from verify import Claim, Mutant, Outcome, Wording, check
from verify.search import Search

NEARBY = Claim(
    id="ren2024/lemma-d.1",
    title="A + αI has full rank for small α",
    says=(
        "For every square matrix A there is δ > 0 such that A + αI is not singular for "
        "0 < |α| < δ; |c_k|/(|c_k| + max |c_j|) is one."
    ),
    latex=(
        r"\exists \delta > 0\ \forall\, 0 < |\alpha| < \delta:\ "
        r"\det(A + \alpha I) \ne 0"
    ),
    quantifiers="for all n, all real n x n matrices A",
    source=PAPER.at("Lemma D.1"),
    wording=Wording.PRINTED,
    parameters={"radius": NEAR, "with_zero": Integer(0), "outside": Integer(0)},
    mutants=(
        Mutant("α = 0 included", why="A itself may be singular", with_zero=Integer(1)),
        Mutant("twice the radius", why="A = (1/4) has the root -1/4", radius=2 * NEAR),
        Mutant(
            "inverted", why="columns that sum to one have the root -1", radius=1 / NEAR
        ),
        Mutant(
            "δ = 2", why="columns that sum to one have the root -1", radius=Integer(2)
        ),
        Mutant(
            "c over |c_k|, plus one",
            why="the roots of diag(1, 0) are 0 and -1",
            radius=1 + others / lowest,
        ),
    ),
)

LARGE = Claim(
    id="ren2024/lemma-d.1/large",
    title="A + αI has full rank for large α",
    says=(
        "For every square matrix A there is δ such that A + αI is not singular for "
        "|α| > δ; 1 + max |c_j| is one."
    ),
    latex=r"\exists \delta\ \forall\, |\alpha| > \delta:\ \det(A + \alpha I) \ne 0",
    quantifiers=NEARBY.quantifiers,
    source=PAPER.at("Lemma D.1", "the sentence after it"),
    wording=Wording.PRINTED,
    parameters={"radius": FAR, "with_zero": Integer(0), "outside": Integer(1)},
    mutants=(
        Mutant("δ = 1", why="A = (4) has the root -4", radius=Integer(1)),
        Mutant("δ = max |c_j|", why="the roots 4/3 and -1/3", radius=below),
        Mutant("δ = 0", why="some roots are not zero", radius=Integer(0)),
        Mutant("the radius for small α", why="roots lie beyond it", radius=NEAR),
    ),
)


@check(NEARBY, grade="symbolic", scope="all")
def lowest_coefficient_outweighs(claim: Claim) -> Outcome:
    """Bound the other coefficients by a geometric series."""
    return spectrum.settle(claim, spectrum.near_steps)


@check(LARGE, grade="symbolic", scope="all")
def highest_power_outweighs(claim: Claim) -> Outcome:
    """Bound the other powers by a geometric series."""
    return spectrum.settle(claim, spectrum.far_steps)


@check(NEARBY, LARGE, grade="property", scope="rational singular A + αI, n ≤ 4")
def singular_matrices(claim: Claim, search: Search) -> Outcome:
    """Hunt among matrices with a known root for one in the claimed range."""
    return spectrum.hunt(claim, search)
