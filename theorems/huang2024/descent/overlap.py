"""Lemma 7 decided: by the mean of margins, or by pairs known in closed form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sympy as sp

from theorems.huang2024.descent import exact, proofs
from theorems.huang2024.descent.decide import LOW, RANGES, Bound
from theorems.huang2024.descent.notation import (
    L,
    N,
    S,
    X,
    cosine,
    cosine_W,
    eta,
    pi_min,
)
from theorems.huang2024.stage_one.signs import nonnegative
from verify import Cause, Claim, Holds, Inconclusive, Outcome, Refuted, recheck
from verify.symbolic import formula


def decide(claim: Claim, rare: Sequence[exact.RarePairs]) -> Outcome:
    """Decide ⟨∇L, W⟩ >= (1 + α) ⟨∇L, W*⟩ · scale.

    Args:
        claim: With parameters ``alpha``, ``scale`` and ``start``, the first step.
        rare: Runs with rare samples, for data that may have them.

    Returns:
        HOLDS with the steps, REFUTED with a formula, or INCONCLUSIVE.
    """
    as_norms = sp.simplify(claim.scale * S / X) == 1
    if as_norms and _enough(claim):
        equal = claim.domain.equal
        steps = proofs.equal_frequencies() if equal else proofs.overlap()
        said = f"claimed: α = {claim.alpha}"
        return Holds("follows from the steps, for all data", steps=(*steps, said))
    most = (1 + claim.alpha) * cosine * S * claim.scale
    bound = Bound("overlap with W ≤ bound", most, ">=", cosine_W * X, sp.S.Zero)
    for run in exact.pair_runs():
        witness = bound.violation(run) if _late(claim, run.inputs) else None
        if witness is not None:
            return Refuted(witness["says"], witness=witness)
    if as_norms and not claim.domain.equal and _rises(claim.alpha * X):
        return _by_rare_pairs(claim, rare)
    return Inconclusive("no proof and no counterexample", cause=Cause.NO_PROOF)


def _by_rare_pairs(claim: Claim, rare: Sequence[exact.RarePairs]) -> Outcome:
    for run in rare:
        inputs = run.inputs
        if not _late(claim, inputs):
            continue
        most, least = run.misses(claim.alpha)
        says = (
            f"{run.pairs} pairs [o, q], all but one of them of frequency "
            f"10^-{len(str(run.light.denominator)) - 1}, tη = {run.path}: the gradient "
            "is along W^(t), and (1 + α_t) times its cosine with W* is less"
        )
        witness = formula(most, "<", least, inputs, says)
        if recheck.decide(witness).valid:
            return Refuted(says, witness=witness)
    return Inconclusive("no proof and no counterexample", cause=Cause.NO_PROOF)


def _late(claim: Claim, inputs: Mapping[str, Any]) -> bool:
    """Whether a run of Q pairs is at a step that the claim is about."""
    values = {S: sp.sqrt(sp.Rational(inputs["Q"], 2)), L: 2, eta: inputs["eta"]}
    return bool(claim.start.subs(values) <= inputs["t"])


def _enough(claim: Claim) -> bool:
    """Whether α is at least what the proof needs, on the claim's data."""
    if claim.domain.equal and claim.start.has(L):
        return any(_enough_late(alpha) for alpha in _branches(claim.alpha))
    need = sp.log(3) + 6 * sp.log(L) - sp.log(pi_min)
    slack = (claim.alpha * X / S - need).subs(RANGES)
    slack = sp.expand(sp.expand_log(slack, force=True))
    if slack.has(sp.Max):
        return False
    return nonnegative(slack, {s: LOW[s] for s in slack.free_symbols})


def _enough_late(alpha: sp.Expr) -> bool:
    """The same for equal frequencies and ‖W‖ >= 4 L_max, as from t_0 on."""
    share = (alpha * X / S).subs(pi_min, 1 / N)
    if not _rises(share):
        return False
    need = 2 + 6 * sp.log(L) + N - 1  # at least log(3 L⁶ N), see the steps
    slack = sp.expand(sp.expand_log(share.subs(X, 4 * L) - need, force=True))
    return nonnegative(slack, {s: LOW[s] for s in slack.free_symbols})


def _branches(alpha: sp.Expr) -> Iterator[sp.Expr]:
    """α with each maximum replaced by one of its arguments, all from below."""
    maxima = alpha.atoms(sp.Max)
    if not maxima:
        yield alpha
    for one in maxima:
        for choice in one.args:
            yield alpha.xreplace({one: choice})


def _rises(expr: sp.Expr) -> bool:
    """Whether an expression rises with ‖W‖ >= 1/2, maxima argument by argument."""
    for branch in _branches(expr):
        slope = sp.diff(sp.expand(branch.subs(RANGES)), X)
        low = {s: LOW[s] for s in slope.free_symbols} | {X: sp.S.Half}
        if not nonnegative(slope, low):
            return False
    return True
