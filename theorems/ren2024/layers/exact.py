"""Layers of fractions: everything Theorem 3.1 quantifies over, drawn exactly.

A layer is a dict of object arrays of fractions, columns are tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, count
from math import prod
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st

from theorems.ren2024.model import Keys, W, softmax_as_stated
from verify import Claim
from verify.symbolic import Compiled, formula, gradient, padded

Layer = dict[str, Any]

_d = sp.Symbol("d", positive=True, integer=True)
_q = sp.MatrixSymbol("q", _d, 1)

TOKENS = {"Phi_D": "K_D", "Phi_T": "K_T", "phi_k": "k_q", "p": "q"}


DENOMINATOR = 4


def arrays(
    rows: int, columns: int, low: int, high: int, *, positive: bool = False
) -> st.SearchStrategy[Any]:
    """Object arrays of multiples of 1/4 in [low, high], ``rows x columns``.

    Args:
        rows: At least 1.
        columns: May be 0.
        low: Least entry.
        high: Largest entry.
        positive: Zeros become ones.

    Returns:
        A strategy; it shrinks towards zeros, or ones.
    """
    size = rows * columns
    multiples = st.integers(DENOMINATOR * low, DENOMINATOR * high)
    zero = DENOMINATOR if positive else 0
    return st.lists(multiples, min_size=size, max_size=size).map(
        lambda values: np.array(
            [Fraction(k or zero, DENOMINATOR) for k in values], dtype=object
        ).reshape(rows, columns)
    )


def _values(draw: st.DrawFn, d_o: int, n: int, t: int) -> Layer:
    return {
        name: draw(arrays(d_o, columns, -3, 3))
        for name, columns in (("V_D", n), ("V_T", t), ("v_q", 1))
    } | {"eta": draw(arrays(1, 1, 0, 8, positive=True))[0, 0]}


@st.composite
def feature_layers(draw: st.DrawFn, *, signed: bool = False, queries: int = 1) -> Layer:
    """Layers given by values and features: any feature map, any weights.

    Args:
        draw: Provided by Hypothesis.
        signed: Features of any sign instead of positive ones.
        queries: With 2 a second query ``p_other`` is drawn.

    Returns:
        Arrays by name, N <= 5, T <= 3, d_o <= 3, d_r <= 4, and the learning rate.
    """
    n, t = draw(st.integers(1, 5)), draw(st.integers(0, 3))
    d_o, d_r = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    low, high = (-3, 3) if signed else (0, 4)
    columns = {"Phi_D": n, "Phi_T": t, "phi_k": 1, "p": 1}
    if queries == 2:
        columns["p_other"] = 1
    return _values(draw, d_o, n, t) | {
        name: draw(arrays(d_r, size, low, high, positive=not signed))
        for name, size in columns.items()
    }


@st.composite
def binary_layers(draw: st.DrawFn) -> Layer:
    """Layers with binary keys and query, whose softmax to base 2 is rational.

    Args:
        draw: Provided by Hypothesis.

    Returns:
        As :func:`feature_layers`, with the tokens ``K_D, K_T, k_q, q`` besides; the
        features are those of the kernel ``2^(x·y)``. N <= 4, T <= 2, d <= 3, d_o <= 2.
    """
    n, t = draw(st.integers(1, 4)), draw(st.integers(0, 2))
    d, d_o = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    layer = _values(draw, d_o, n, t)
    for features, columns in (("Phi_D", n), ("Phi_T", t), ("phi_k", 1), ("p", 1)):
        size = d * columns
        bits = draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))
        tokens = np.array([*map(Fraction, bits)], dtype=object).reshape(d, columns)
        layer |= {TOKENS[features]: tokens, features: subset_features(tokens)}
    return layer


def subset_features(tokens: Any) -> Any:
    """The exact finite feature map of the kernel ``2^(x·y)`` on binary tokens.

    ``2^(x·y) = Π_i (1 + x_i y_i) = Σ_S Π_{i∈S} x_i y_i`` over all subsets S of the
    coordinates.

    Args:
        tokens: Binary columns, ``d x n``.

    Returns:
        Features, ``2^d x n``.
    """
    d, n = tokens.shape
    subsets = [s for size in range(d + 1) for s in combinations(range(d), size)]
    rows = [
        [prod((tokens[i, j] for i in s), start=Fraction(1)) for j in range(n)]
        for s in subsets
    ]
    return np.array(rows, dtype=object).reshape(len(subsets), n)


def with_elu_features(layer: Layer) -> Layer:
    """The layer with the features ``elu(x) + 1``, which is ``x + 1`` for ``x >= 0``."""
    return layer | {phi: layer[tokens] + 1 for phi, tokens in TOKENS.items()}


class AgainstSoftmax:
    """A prediction in features against the literal softmax to base 2 of the tokens.

    Args:
        prediction: ``d_o x 1``, in values and features.
        keys: Which tokens the query attends to.
    """

    says = "dual prediction and softmax attention differ"

    def __init__(self, prediction: sp.MatrixExpr, keys: Keys) -> None:
        self.prediction = prediction
        self.keys = keys
        self._predict = Compiled(prediction, "exact")

    def violated(self, layer: Layer) -> bool:
        """Whether any entry differs, in exact arithmetic."""
        predicted = self._predict(padded(layer))
        return list(predicted[:, 0]) != self._softmax(layer)

    def _softmax(self, layer: Layer) -> list[Fraction]:
        V = np.hstack([layer[V.name] for V, _ in self.keys.blocks])
        K = np.hstack([layer[TOKENS[Phi.name]] for _, Phi in self.keys.blocks])
        scores = [int(score) for score in (K.T @ layer["q"])[:, 0]]
        return softmax_as_stated(V.tolist(), scores, lambda s: Fraction(2) ** s)

    def witness(self, layer: Layer) -> dict[str, Any]:
        """Record the first entry that differs, softmax written out from the tokens."""
        predicted, softmax = self._predict(padded(layer)), self._softmax(layer)
        pairs = zip(predicted[:, 0], softmax, strict=True)
        row = next(i for i, (ours, theirs) in enumerate(pairs) if ours != theirs)
        weighted, total = [], []
        for V, Phi in self.keys.blocks:
            K = sp.MatrixSymbol(TOKENS[Phi.name], _d, V.shape[1])
            for j in range(layer[V.name].shape[1]):
                score = (K.T * _q)[j, 0]
                weighted.append(V[row, j] * 2**score)
                total.append(2**score)
        entry = sp.Add(*weighted) / sp.Add(*total)
        return formula(self.prediction[row, 0], "!=", entry, padded(layer), self.says)


class GradientSteps:
    """The dual model trained step by step in fractions, against literal attention.

    Nothing is simplified beforehand: ``W_0``, ``D`` and each gradient are numbers, and
    the learning rate is multiplied out.

    Args:
        claim: With parameters ``loss``, ``init``, ``normaliser``, ``steps`` and
            ``step_length``, and its keys as domain.
    """

    def __init__(self, claim: Claim) -> None:
        self.keys: Keys = claim.domain
        self.steps = int(claim.steps)
        self.length = Fraction(int(claim.step_length.p), int(claim.step_length.q))
        self._init = Compiled(claim.init, "exact")
        self._normaliser = Compiled(claim.normaliser, "exact")
        self._slope = Compiled(gradient(claim.loss, W), "exact")

    def prediction(self, layer: Layer) -> list[Fraction]:
        """Train on a layer, padded, and predict for its query."""
        (d_o, n), t = layer["V_D"].shape, layer["V_T"].shape[1]
        sizes = {"N": n, "T": t, "d_o": d_o, "d_r": layer["p"].shape[0]}
        layer = layer | sizes
        layer |= {"D": self._normaliser(layer)}
        weights = self._init(layer)
        for _ in range(self.steps):
            slope = self._slope(layer | {"W": weights})
            weights = weights - self.length * layer["eta"] * slope
        return list((weights @ layer["p"])[:, 0])

    def violated(self, layer: Layer) -> bool:
        """Whether prediction and attention differ in any entry."""
        layer = padded(layer)
        V = np.hstack([layer[V.name] for V, _ in self.keys.blocks])
        Phi = np.hstack([layer[Phi.name] for _, Phi in self.keys.blocks])
        kernels = list((Phi.T @ layer["p"])[:, 0])
        attention = softmax_as_stated(V.tolist(), kernels, lambda kernel: kernel)
        return self.prediction(layer) != attention


def small_layers() -> Iterator[Layer]:
    """A few fixed layers with small positive integers, smallest first."""
    for n, t, d_o, d_r in ((1, 1, 1, 1), (2, 1, 1, 1), (2, 2, 2, 2), (3, 2, 2, 3)):
        numbers = (Fraction(k * k % 7 + k % 3 + 1) for k in count(1))
        shapes = {
            "V_D": (d_o, n),
            "V_T": (d_o, t),
            "v_q": (d_o, 1),
            "Phi_D": (d_r, n),
            "Phi_T": (d_r, t),
            "phi_k": (d_r, 1),
            "p": (d_r, 1),
        }
        layer: Layer = {"eta": Fraction(2)}
        for name, (rows, columns) in shapes.items():
            entries = [next(numbers) for _ in range(rows * columns)]
            layer[name] = np.array(entries, dtype=object).reshape(rows, columns)
        yield layer


def momentum_weights(steps: int, momentum: Fraction) -> Any:
    """How much each of ``steps`` single-sample steps counts under momentum.

    The loss is linear in W, so that the gradient of sample i never changes; it enters
    the velocity once and is applied ``1 + μ + ... + μ^(steps-1-i)`` times.

    Args:
        steps: Number of samples, one step each.
        momentum: The factor μ.

    Returns:
        Diagonal object array, ``steps x steps``.
    """
    weights = [sum(momentum**k for k in range(steps - i)) for i in range(steps)]
    diagonal = np.full((steps, steps), Fraction(0), dtype=object)
    np.fill_diagonal(diagonal, weights)
    return diagonal


def with_momentum(momentum: Fraction) -> Callable[[Layer], Layer]:
    """Add the diagonal of :func:`momentum_weights` to a layer, under the name ``C``."""

    def extended(layer: Layer) -> Layer:
        return layer | {"C": momentum_weights(layer["V_D"].shape[1], momentum)}

    return extended
