"""Theorem 4.4 (= H.5): pretraining on low-rank tasks finds their subspace.

Collins et al. (NeurIPS 2024), Theorem 4.4 and Theorem H.5. Tasks a.B^T x, covariates
x = c_u B u + c_v B⊥ v. Among symmetric M with |B^T M B| ≤ C/c_u² the minimiser of (ICL)
is c BB^T/c_u² for some c in (0, C]:

    Case 1  σ = 0 (H.5: and n > 1)      C = 1 in the main text, 2 in H.5
    Case 2  n = 2 (H.5: and σ > 0)      C = 1

The proof goes through Lemmas H.3 and H.4, for |c_u B^T M x| ≤ C. The constraint does
not give that: it leaves the block B^T M B⊥ free, which adds c_u c_v (B^T M B⊥) v to it
(lemma-h.2/constraint). With the constraint |c_u B^T M x| ≤ C for all x the theorem is
proved here for every n, k, d, c_u and c_v ≠ 0 (the repairs). As printed it is proved
for those M alone; for the others we show, on a grid of scales, a bound that no field of
scores of any symmetric M in the constraint beats (subspace/landscape.py), and search.

Deviations from the text:
    1. c_v ≠ 0 is added: for c_v = 0 any B⊥^T M B⊥ gives the same loss.
    2. Case 1 of the main text has no n > 1; for n = 1 the loss does not depend on M.
Not decided here: σ > 0 with n > 2 (theorem-4.4/beyond).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.subspace.cases import Cases, one_token
from verify import (
    Anchor,
    Assumption,
    Cause,
    Claim,
    Mutant,
    Outcome,
    Refuted,
    Wording,
    check,
    evidence,
    inconclusive,
    necessity,
    refuted,
)
from verify.profiles import Profile
from verify.search import Search
from verify.symbolic import formula

if TYPE_CHECKING:
    from theorems.collins2024.subspace.hunt import Descents
    from theorems.collins2024.subspace.landscape import Tables

ONE, TWO, HALF = sp.S.One, sp.Integer(2), sp.S.Half
FORM = {"along": ONE, "across": sp.S.Zero, "low": sp.S.Zero, "high": ONE}
TASKS = Assumption("tasks", "f(x) = a.B^T x, a ~ U_k (Definition 4.2)")
LAW = Assumption("covariates", "x = c_u B u + c_v B⊥ v (Assumption 4.3)")
SPURIOUS = Assumption("spurious", "c_v ≠ 0")
SEVERAL = Assumption("several-tokens", "n ≥ 2")

FALSE = (
    Mutant(
        "spurious directions too",
        why="weights that depend on v_i cost something",
        across=ONE,
    ),
    Mutant(
        "B and B⊥ exchanged",
        why="labels depend on B^T x alone",
        along=sp.S.Zero,
        across=ONE,
    ),
    Mutant("opposite sign", why="attention to the far side", along=-ONE),
    Mutant(
        "c up to C/2",
        why="with little noise the loss still falls at C/2",
        high=HALF,
    ),
)


def unbounded(*blind: str) -> Mutant:
    """The constraint dropped; checks on grids cannot see it."""
    return Mutant(
        "constraint dropped",
        why="for k = 1 the loss falls for all c: there is no minimiser",
        bound=sp.oo,
        blind=dict.fromkeys(blind, "no grid covers all scales"),
    )


GRIDS = ("no_field_of_scores_is_better", "no_matrix_is_better")
DESCENTS = "descents_end_at_the_subspace"
WIDE = Mutant("c above C/2", why="with much noise the best window is wider", low=HALF)
LATEX = (
    r"M^* = \tfrac{c}{c_u^2} B B^\top, \quad c \in (0, C], \quad \text{among } M = "
    r"M^\top,\ \|B^\top M B\| \le \tfrac{C}{c_u^2}"
)
OPEN = inconclusive(
    Cause.NO_PROOF,
    "proved for |c_u B^T M x| ≤ C; the constraint leaves B^T M B⊥ free. The bound of "
    "subspace/landscape.py for all k and n would decide it; it holds on a grid",
)


def noiseless(number: str, bound: sp.Integer, source: str) -> Claim:
    """Case 1, as printed in one of the two places, for n > 1."""
    return Claim(
        id=f"collins2024/{number}",
        title="the subspace is found, σ = 0",
        says=(
            f"Without noise, among symmetric M with |B^T M B| ≤ {bound}/c_u², the "
            f"minimiser is c BB^T/c_u² for some c in (0, {bound}]."
        ),
        latex=LATEX,
        quantifiers="for all 1 ≤ k < d, n ≥ 2, c_u ≠ 0, c_v ≠ 0",
        source=PAPER.at(source, "Case 1"),
        wording=Wording.PRINTED,
        domain=Cases(),
        assumes=(TASKS, LAW, SPURIOUS, SEVERAL),
        parameters=FORM | {"bound": bound},
        finding=OPEN,
    )


MAIN = noiseless("theorem-4.4/noiseless@n-above-1", ONE, "Theorem 4.4")
APPENDIX = noiseless("theorem-h.5/noiseless", TWO, "Theorem H.5")

ANY = Claim(
    id="collins2024/theorem-4.4/noiseless@any-n",
    title="the subspace is found, σ = 0, any n",
    says="As @n-above-1, for every number of tokens.",
    latex=LATEX,
    quantifiers="for all 1 ≤ k < d, n ≥ 1, c_u ≠ 0, c_v ≠ 0",
    source=PAPER.at("Theorem 4.4", "Case 1 of the main text, literally"),
    wording=Wording.PRINTED,
    domain=Cases(least=1),
    assumes=(TASKS, LAW, SPURIOUS),
    parameters=FORM | {"bound": ONE},
    anchors=(Anchor("n ≥ 2", why="the proof's own case", domain=Cases(rows=True)),),
    mutants=FALSE,
    finding=refuted("one token has attention 1 whatever M: every M is a minimiser"),
    nearest="collins2024/theorem-4.4/noiseless/repaired",
)

TWO_SAMPLES = Claim(
    id="collins2024/theorem-4.4/two-samples",
    title="the subspace is found, n = 2",
    says=(
        "With two tokens and noise, among symmetric M with |B^T M B| ≤ 1/c_u², the "
        "minimiser is c BB^T/c_u² for some c in (0, 1]."
    ),
    latex=LATEX,
    quantifiers="for all 1 ≤ k < d, σ > 0, n = 2, c_u ≠ 0, c_v ≠ 0",
    source=PAPER.at("Theorem 4.4", "Case 2; Theorem H.5, Case 2"),
    wording=Wording.PRINTED,
    domain=Cases(noisy=True, most=2),
    assumes=(TASKS, LAW, SPURIOUS),
    parameters=FORM | {"bound": ONE},
    finding=OPEN,
)


def repaired(part: str, bound: sp.Integer, where: str, cases: Cases) -> Claim:
    """The theorem with a constraint that its proof can use."""
    own = unbounded(*GRIDS, DESCENTS) if not cases.noisy else WIDE
    return Claim(
        id=f"collins2024/theorem-4.4/{part}/repaired",
        title=f"the subspace is found, {where}, bounded rows",
        says=(
            f"Among symmetric M with |c_u B^T M x| ≤ {bound} for all x in the support, "
            f"the minimisers are c BB^T/c_u² with c in (0, {bound}]."
        ),
        latex=(
            r"M^* = \tfrac{c}{c_u^2} B B^\top, \quad c \in (0, C], \quad \text{among } "
            r"M = M^\top,\ \sup_x \|c_u B^\top M x\| \le C"
        ),
        quantifiers=f"for all 1 ≤ k < d, {where}, c_u ≠ 0, c_v ≠ 0",
        source=PAPER.at("Theorem H.5", "repair"),
        wording=Wording.OURS,
        domain=cases,
        assumes=(TASKS, LAW, SPURIOUS),
        parameters=FORM | {"bound": bound},
        mutants=(*FALSE, own),
    )


FIRST = repaired("noiseless", TWO, "σ = 0, n ≥ 2", Cases(rows=True))
SECOND = repaired(
    "two-samples", ONE, "σ > 0, n = 2", Cases(noisy=True, most=2, rows=True)
)

BEYOND = Claim(
    id="collins2024/theorem-4.4/beyond",
    title="the subspace is found, σ > 0, n > 2",
    says="Theorem 4.4 holds for noisy labels and more than two tokens, C = 1.",
    latex=LATEX,
    quantifiers="for all 1 ≤ k < d, σ > 0, n ≥ 3, c_u ≠ 0, c_v ≠ 0",
    source=PAPER.at("Theorem 4.4", "without its cases"),
    wording=Wording.OURS,
    domain=Cases(noisy=True, least=3),
    assumes=(TASKS, LAW, SPURIOUS),
    parameters=FORM | {"bound": ONE},
    finding=inconclusive(
        Cause.NO_PROOF,
        "no counterexample on the grid nor in the search; a proof of Lemma H.4 for "
        "n > 2 would decide it for bounded rows",
    ),
)

SIZES = {
    "smoke": ((1, 1), (2, 1)),
    "default": ((1, 1), (2, 1), (3, 1), (5, 1), (1, 3)),
    "full": (
        *((k, 1) for k in (1, 2, 3, 4, 5, 10, 30)),
        *((k, 2) for k in (1, 2, 3)),
        (1, 3),
        (2, 5),
    ),
}
PRINTED = (MAIN, APPENDIX, TWO_SAMPLES)
PROVED = (FIRST, SECOND)


@evidence
def tables(profile: Profile) -> Tables:
    """The loss on a grid of scales, by quadrature."""
    from theorems.collins2024.subspace import landscape

    return landscape.build(SIZES[profile.name])


@evidence
def ends_of_descents(profile: Profile, seed: int) -> Descents:
    """Where descents from random symmetric M in the constraint end."""
    from theorems.collins2024.subspace import hunt

    starts = profile.pick(smoke=1, default=4, full=40)
    return {
        (one, bound): hunt.descend(one, bound, starts, seed)
        for one in hunt.SETTINGS
        for bound in ((1.0,) if one.variance else (1.0, 2.0))
    }


@check(*PROVED, grade="symbolic", scope="all")
def reduced_to_two_lemmas(claim: Claim) -> Outcome:
    """Turn A to the query, level the weights, and use Lemmas H.3 and H.4."""
    from theorems.collins2024.subspace import decide

    return decide.by_proof(claim)


@check(
    *PRINTED,
    ANY,
    grade="symbolic",
    scope="M with |c_u B^T M x| ≤ C for all x; all n, k, d",
)
def reduced_where_rows_are_bounded(claim: Claim) -> Outcome:
    """The same proof, on the matrices that it covers."""
    from theorems.collins2024.subspace import decide

    return decide.by_proof(claim)


@check(
    *PRINTED,
    *PROVED,
    BEYOND,
    grade="numeric",
    scope="k ≤ 5, d - k ≤ 3, n ≤ 30, every symmetric M, |A|, |Q| on a grid",
)
def no_field_of_scores_is_better(claim: Claim, tables: Tables) -> Outcome:
    """Bound the mean loss of the queries (u, v) and (u, -v) from below."""
    from theorems.collins2024.subspace import decide

    return decide.on_the_grid(claim, tables)


@check(
    *PROVED,
    grade="certified",
    scope="k = d - k = 1, n ≤ 5, the complement alone, points of a grid",
)
def complement_costs_in_balls(claim: Claim) -> Outcome:
    """Certify the sign of dL/dc' at M = c BB^T + c' B⊥B⊥^T."""
    from theorems.collins2024.subspace import decide

    return decide.in_balls(claim)


@check(*PRINTED, *PROVED, BEYOND, grade="property", scope="random symmetric M, d ≤ 3")
def no_matrix_is_better(claim: Claim, search: Search) -> Outcome:
    """Look for a lower loss at a symmetric M in the constraint."""
    from theorems.collins2024.subspace import hunt

    return hunt.better(claim, search, hunt.pinned(claim.domain))


@check(
    *PRINTED,
    *PROVED,
    BEYOND,
    grade="numeric",
    scope="k = d - k = 1, n ≤ 5, descents over M",
)
def descents_end_at_the_subspace(claim: Claim, ends_of_descents: Descents) -> Outcome:
    """Descend over all three entries of M from random starts."""
    from theorems.collins2024.subspace import hunt

    return hunt.descents(claim, ends_of_descents)


@necessity(
    MAIN,
    APPENDIX,
    assumption="several-tokens",
    needed=True,
    grade="symbolic",
    scope="n = 1",
)
def one_token_has_all_attention(claim: Claim) -> Outcome:
    """With one token the attention is 1 whatever M: every M is a minimiser."""
    record = one_token()
    return Refuted(f"{record['says']}: {claim.short_id} fails", witness=record)


@necessity(
    *PRINTED,
    *PROVED,
    assumption="spurious",
    needed=True,
    grade="symbolic",
    scope="c_v = 0",
)
def no_spurious_part_no_penalty(claim: Claim) -> Outcome:
    """At c_v = 0 scores do not see B⊥^T M B⊥: c BB^T + B⊥B⊥^T is as good."""
    f, g, u, v, c_v = sp.symbols("f g u v c_v")
    says = f"the score at c_v = 0, with and without B⊥B⊥^T: {claim.short_id} fails"
    values = {"f": 1, "g": 1, "u": Fraction(1), "v": Fraction(-1), "c_v": 0}
    witness = formula(u * f * u + c_v**2 * v * g * v, "==", u * f * u, values, says)
    return Refuted(says, witness=witness)
