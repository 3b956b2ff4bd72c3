"""Layers of fractions for the modified layers; columns are tokens."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

from theorems.ren2024.layers.exact import Layer, subset_features

TOKENS = {
    "Phi_D": "K_D",
    "Phi_T": "K_T",
    "phi_k": "k_q",
    "p": "q",
    "Psi_D": "gK_D",
    "Psi_T": "gK_T",
    "psi_q": "gq",
}


def generator(seed: int) -> Random:
    """Draws of instances, from a seed that the search chooses."""
    return Random(seed)  # ruff: ignore[suspicious-non-cryptographic-random-usage]


def images(columns: Any, image: Callable[[], Any]) -> Any:
    """Apply a function that is drawn as it goes, column by column.

    Args:
        columns: Arguments, one a column.
        image: Draws a value, as a list of entries.

    Returns:
        The values as columns; equal arguments have equal values.
    """
    known: dict[tuple[Any, ...], Any] = {}
    values = [known.setdefault(tuple(x), image()) for x in columns.T]
    return np.array(values, dtype=object).T.reshape(-1, columns.shape[1])


def choices(n: int, pick: Callable[[int], list[int]]) -> Any:
    """Negative samples as a matrix: column i is 1/|N(i)| on N(i).

    Args:
        n: Number of demonstrations.
        pick: The set N(i), not empty.

    Returns:
        Object array, ``n x n``.
    """
    P = np.full((n, n), Fraction(0), dtype=object)
    for i in range(n):
        chosen = pick(i)
        for j in chosen:
            P[j, i] = Fraction(1, len(chosen))
    return P


def quarters(rng: Random, rows: int, columns: int, low: int, high: int) -> Any:
    """Object array of multiples of 1/4 in [low, high]; positive where low is 0."""
    least = 4 * low or 1
    entries = [
        [Fraction(rng.randint(least, 4 * high), 4) for _ in range(columns)]
        for _ in range(rows)
    ]
    return np.array(entries, dtype=object).reshape(rows, columns)


def _values(rng: Random, n: int, t: int, d_o: int) -> Layer:
    signed = Fraction(rng.choice([-1, 1]) * rng.randint(1, 12), 4)
    layer: Layer = {
        "eta": Fraction(rng.randint(1, 32), 4),
        "alpha": signed,
        "beta": Fraction(rng.randint(1, 12), 4),
    }
    for name, columns in (("V_D", n), ("V_T", t), ("v_q", 1)):
        layer[name] = quarters(rng, d_o, columns, -3, 3)
    both = np.hstack([layer["V_D"], layer["V_T"], layer["v_q"]])
    mapped = images(both, lambda: [Fraction(rng.randint(-3, 3)) for _ in range(d_o)])
    layer |= {"gV_D": mapped[:, :n], "gV_T": mapped[:, n : n + t]}
    layer["P"] = choices(n, lambda _: rng.sample(range(n), rng.randint(1, n)))
    layer["P_q"] = choices(n, lambda _: rng.sample(range(n), rng.randint(1, n)))[:, :1]
    return layer


def feature_layer(n: int, t: int, d_o: int, d_r: int, seed: int, low: int = 0) -> Layer:
    """A layer given by values and features: any feature map, any g_1 and g_2.

    Args:
        n: Demonstrations.
        t: Query tokens.
        d_o: Length of a value.
        d_r: Number of features.
        seed: Of the entries.
        low: Least feature; 0 for positive ones.

    Returns:
        Arrays by name, and eta, alpha, beta.
    """
    rng = generator(seed)
    layer = _values(rng, n, t, d_o)
    columns = {"Phi_D": n, "Phi_T": t, "phi_k": 1, "p": 1}
    columns |= {"Psi_D": n, "Psi_T": t, "psi_q": 1}
    high = 4 if low == 0 else 3
    return layer | {
        name: quarters(rng, d_r, size, low, high) for name, size in columns.items()
    }


def binary_layer(n: int, t: int, d_o: int, d: int, seed: int) -> Layer:
    """A layer with binary tokens, whose softmax to base 2 is rational.

    Args:
        n: Demonstrations.
        t: Query tokens.
        d_o: Length of a value.
        d: Length of a key.
        seed: Of the entries.

    Returns:
        As :func:`feature_layer`, with the tokens of :data:`TOKENS` besides; g_2 maps
        binary tokens to binary tokens in any way.
    """
    rng = generator(seed)
    layer = _values(rng, n, t, d_o)

    def bits() -> list[Fraction]:
        return [Fraction(rng.randint(0, 1)) for _ in range(d)]

    sizes = (n, t, 1, 1)
    plain = np.array([bits() for _ in range(sum(sizes))], dtype=object).T
    mapped = images(plain, bits)
    stops = np.cumsum(sizes)[:-1]
    names = ("Phi_D", "Phi_T", "phi_k", "p"), ("Psi_D", "Psi_T", "", "psi_q")
    for group, columns in zip(names, (plain, mapped), strict=True):
        for name, part in zip(group, np.split(columns, stops, axis=1), strict=True):
            if name:
                layer |= {TOKENS[name]: part, name: subset_features(part)}
    return layer


SEEDS = st.integers(0, 2**32 - 1)  # entries are drawn from a seed: sizes shrink


def feature_layers(low: int = 0) -> st.SearchStrategy[Layer]:
    """Feature layers of N <= 4, T <= 2, d_o <= 2, d_r <= 3."""
    sizes = (st.integers(1, 4), st.integers(0, 2), st.integers(1, 2), st.integers(1, 3))
    return st.builds(feature_layer, *sizes, SEEDS, st.just(low))


def binary_layers() -> st.SearchStrategy[Layer]:
    """Binary layers of N <= 3, T <= 2, d_o <= 2, d <= 2."""
    sizes = (st.integers(1, 3), st.integers(0, 2), st.integers(1, 2), st.integers(1, 2))
    return st.builds(binary_layer, *sizes, SEEDS)


@lru_cache(maxsize=1)
def fixed_layers() -> tuple[Layer, ...]:
    """A few layers, smallest first, on which every search begins."""
    sizes = ((1, 1, 1, 1), (2, 1, 1, 1), (2, 2, 2, 2), (3, 2, 2, 3))
    return tuple(feature_layer(*size, seed=7) for size in sizes)


@lru_cache(maxsize=1)
def fixed_binary_layers() -> tuple[Layer, ...]:
    """As :func:`fixed_layers`, with binary tokens."""
    sizes = ((1, 1, 1, 1), (2, 1, 1, 2), (3, 2, 2, 2))
    return tuple(binary_layer(*size, seed=seed) for size in sizes for seed in range(4))
