"""Lemma 4: the gradient of the attention matrix after stage 1.

Huang, Liang and Yang (NeurIPS 2024), Lemma 4, Appendix C.1; its display is lost and
derived here from Eq. (6) and the proof text.

Let W_ov x = Δ e_{In(x)} + c(x) 1 for all tokens x, as after stage 1. Then for any W'

    <∇_kq L, W'> = Δ Σ_n π^(n) Σ_l φ_l ([T]_{In(x_l)} - 1{In(x_l) = In(X^(n))})
                                      (x_l - Σ_k φ_k x_k)ᵀ W' X_{-1}^(n)

with attention weights φ and output probabilities T = T_θ(X^(n)) of the sample.

Deviations from the text:
    1. One sample is compared at a time; both sides are sums over samples with the same
       weights π^(n).
    2. The identity needs no assumption on the embeddings or on the data: only the form
       of W_ov, and that T sums to one. φ may be any vector.
Not decided here: that W_ov has this form (Lemma 3, Corollary 1).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st
from sympy import MatrixSymbol, OneMatrix, Symbol, ZeroMatrix

from theorems.huang2024 import PAPER
from theorems.huang2024.data.dataset import Dataset
from theorems.huang2024.data.strategies import datasets
from theorems.huang2024.model import MARGIN
from verify import Claim, Kind, Mutant, Outcome, Wording, check, evidence
from verify.numerics import Tolerance, within
from verify.profiles import Profile
from verify.search import Search
from verify.symbolic import Compiled, Identity

if TYPE_CHECKING:
    from theorems.huang2024.data.autograd import Gradients

d, size, L = sp.symbols("d size L", positive=True, integer=True)
Delta = Symbol("Delta", positive=True)
X = MatrixSymbol("X", d, L)  # the tokens of the sample
x_q = MatrixSymbol("x_q", d, 1)  # its query
W = MatrixSymbol("W", d, d)  # the direction W'
M = MatrixSymbol("M", size, L)  # columns e_{In(x_l)}
c = MatrixSymbol("c", L, 1)  # the constants of stage 1
Phi = MatrixSymbol("Phi", L, L)  # diag(φ)
p, y = MatrixSymbol("p", size, 1), MatrixSymbol("y", size, 1)

one = OneMatrix(size, 1)
phi = Phi * OneMatrix(L, 1)


def sums_to_one(v: sp.MatrixExpr) -> sp.MatrixExpr:
    """Any vector of sum one, as the shift of another: v + (1 - 1ᵀv)/|V| 1."""
    return v - one * (one.T * v) / size + one / size


T = sums_to_one(p)
e_y = sums_to_one(y)

CLAIM = Claim(
    id="huang2024/lemma-4",
    kind=Kind.PROOF_STEP,
    title="form of the attention gradient",
    says=(
        "After stage 1 the gradient of the attention matrix is, for each sample, Δ "
        "times the attention-weighted sum of its tokens, centred at their mean and "
        "weighted by the predicted minus the true probability of their next token."
    ),
    latex=(
        r"\langle \nabla_{W_{kq}} L, W' \rangle = \Delta \sum_n \pi^{(n)} \sum_\ell "
        r"\varphi_\ell \left([T]_{I_n(x_\ell)} - 1\{I_n(x_\ell) = I_n(X^{(n)})\}\right)"
        r"\left(x_\ell - \sum_k \varphi_k x_k\right)^\top W' X^{(n)}_{-1}"
    ),
    quantifiers="for all data, all embeddings, all W_kq, all W', all Δ > 0",
    source=PAPER.at("Lemma 4", "from Eq. (6); Appendix C.1"),
    wording=Wording.DERIVED,
    assumes=(MARGIN,),
    parameters={"scale": Delta, "residual": T - e_y, "centre": X * phi},
    mutants=(
        Mutant("no Δ", why="the margin scales the outputs", scale=sp.Integer(1)),
        Mutant("opposite sign", why="that is the step, not the gradient", scale=-Delta),
        Mutant(
            "not centred",
            why="weights that sum to one move against each other",
            centre=ZeroMatrix(d, 1),
        ),
        Mutant(
            "centred at the plain mean",
            why="the mean is weighted by attention",
            centre=X * OneMatrix(L, 1) / L,
        ),
        Mutant(
            "labels ignored",
            why="only tokens that the label does not follow are then pushed",
            residual=T,
        ),
        Mutant(
            "labels alone",
            why="the gradient vanishes as the prediction becomes right",
            residual=-e_y,
        ),
    ),
)


def sides(claim: Claim) -> Identity:
    """The inner product of Eq. (6) with W' for one sample, and the lemma's sum."""
    return _sides(claim.scale, claim.residual, claim.centre)


@lru_cache(maxsize=32)
def _sides(scale: sp.Expr, residual: sp.MatrixExpr, centre: sp.MatrixExpr) -> Identity:
    pushes = M.T * residual  # [T]_{In(x_l)} - 1{In(x_l) = In(X)}
    moved = X * Phi * pushes - centre * (phi.T * pushes)
    right = scale * sp.Trace(moved * x_q.T * W.T)
    return Identity(_inner(), right, says="Lemma 4 fails")


@cache
def _inner() -> sp.Expr:
    W_ov_X = Delta * M + one * c.T
    spread = Phi - phi * phi.T
    gradient = X * spread * W_ov_X.T * (T - e_y) * x_q.T  # Eq. (6)
    return sp.Trace(gradient * W.T)


# ---------------------------------------------------------------- exact


def sample_arrays(
    dataset: Dataset, i: int, weights: list[int], numbers: list[int]
) -> dict[str, Any]:
    """One sample in the basis of its tokens, as arrays of fractions.

    Args:
        dataset: Any dataset.
        i: Index of the sample.
        weights: Attention weights of its tokens, up to their sum.
        numbers: Anything, for W', c, p and Δ: read round and round.
    """
    sentence, v = dataset.sentences[i], dataset.size
    basis = np.array([[Fraction(a == b) for b in range(v)] for a in range(v)], object)
    tokens = list(sentence)

    def filled(rows: int, columns: int, start: int) -> Any:
        picked = (numbers[(start + k) % len(numbers)] for k in range(rows * columns))
        return np.array([*map(Fraction, picked)], object).reshape(rows, columns)

    attention = [Fraction(w, sum(weights)) for w in weights]
    return {
        "X": basis[:, tokens],
        "x_q": basis[:, [sentence[-1]]],
        "M": basis[:, [dataset.successor[x] for x in tokens]],
        "y": basis[:, [dataset.labels[i]]],
        "Phi": np.diag(np.array(attention, object)) + Fraction(0),
        "p": filled(v, 1, 1),
        "c": filled(len(tokens), 1, 2),
        "W": filled(v, v, 0),
        "Delta": Fraction(abs(numbers[-1]) + 1, 2),
    }


@st.composite
def samples(draw: st.DrawFn) -> dict[str, Any]:
    """A sample of any data with rational attention, probabilities and direction."""
    dataset = draw(datasets(injective=None, max_size=4, max_length=5))
    i = draw(st.integers(0, dataset.N - 1))
    length = len(dataset.sentences[i])
    weights = draw(st.lists(st.integers(1, 4), min_size=length, max_size=length))
    numbers = draw(st.lists(st.integers(-3, 3), min_size=7, max_size=7))
    return sample_arrays(dataset, i, weights, numbers)


SMALL = tuple(
    sample_arrays(
        Dataset(3, (1, 2, 0), ((0, 2, 1),), (label,), (Fraction(1),)),
        0,
        [1, 2, 4],
        [1, -2, 3, 0, 2, -1, 2],
    )
    for label in (2, 0)
)


@check(CLAIM, grade="symbolic", scope="all")
def follows_from_the_gradient(claim: Claim) -> Outcome:
    """Prove the lemma from Eq. (6) for any lengths, widths, weights and outputs.

    T and e_y are written as arbitrary vectors of sum one; the constants c(x) drop out
    for this reason alone.
    """
    return sides(claim).decide(SMALL)


@check(CLAIM, grade="property", scope="rational samples, |V| ≤ 4, L ≤ 5")
def holds_in_exact_arithmetic(claim: Claim, search: Search) -> Outcome:
    """Multiply both sides out for samples of random data, in fractions."""
    return sides(claim).search(
        search,
        samples(),
        scale=0.4,  # the proof covers all; this one reads Eq. (6) as numbers
        searched="attention in proportion to 1..4, W' in [-3, 3], any n",
    )


# ---------------------------------------------------------------- floating point


@evidence
def gradients(profile: Profile, seed: int) -> Gradients:
    """Autograd of the literal loss at random W_kq, embeddings and data."""
    from theorems.huang2024.data.autograd import random_gradients

    return random_gradients(profile.pick(smoke=20, default=40, full=400), seed)


@check(CLAIM, grade="numeric", scope="random data, |V| ≤ 6, random rotations, float64")
def agrees_with_autograd(claim: Claim, gradients: Gradients) -> Outcome:
    """Differentiate the literal loss by autograd and compare with the lemma's sum."""
    formula = Compiled(sides(claim).right, "numpy")
    errors = [
        abs(
            sum(weight * formula(sample) for weight, sample in case.samples)
            - case.value
        )
        for case in gradients.cases
    ]
    return within(
        np.array(errors, dtype=np.float64).ravel(),
        Tolerance(gradients.allowed, gradients.why),
        says="the lemma and the derivative of the loss differ",
        searched=gradients.says,
    )
