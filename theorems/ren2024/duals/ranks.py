"""Ranks of W_F = W_2 I_M W_1 over the integers: Appendix B.1 on low rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st
from sympy import Eq, Ge, Le, MatrixSymbol, Min, symbols
from sympy.matrices.expressions.matexpr import MatrixElement

from theorems.ren2024.duals.drawn import SEEDS, generator
from verify import Cause, Claim, Holds, Inconclusive, Outcome, Refuted
from verify.search import Search
from verify.symbolic import formula, prove_equal

d, d_h = symbols("d d_h", positive=True, integer=True)
r, r_1, r_2, r_M = symbols("r r_1 r_2 r_M", nonnegative=True, integer=True)

W_1, W_2 = MatrixSymbol("W_1", d_h, d), MatrixSymbol("W_2", d, d_h)
I_M = MatrixSymbol("I_M", d_h, d_h)
b_1, h = MatrixSymbol("b_1", d_h, 1), MatrixSymbol("h", d, 1)

EQUAL = Eq(r, r_M)
GENERIC_RANK = Eq(r, Min(d, r_M))
UPPER = Le(r, Min(r_1, r_2, r_M))
SYLVESTER = Ge(r, r_1 + r_2 + r_M - 2 * d_h)
PRINTED_LOWER = Ge(r, r_1 + r_2 + r_M - 2 * d)


def rank(matrix: Any) -> int:
    """The rank of an integer matrix, exactly."""
    from flint import fmpz_mat

    return int(fmpz_mat([[int(x) for x in row] for row in matrix]).rank())


@dataclass(frozen=True, eq=False)
class Network:
    """A feed-forward network of integers with its input.

    Attributes:
        arrays: ``W_1, W_2, b_1, h``.
    """

    arrays: Mapping[str, Any]

    @cached_property
    def preactivation(self) -> list[int]:
        """W_1 h + b_1."""
        a = self.arrays
        return [int(x) for x in (a["W_1"] @ a["h"] + a["b_1"])[:, 0]]

    @cached_property
    def pattern(self) -> Any:
        """I_M: one where the pre-activation is at least zero."""
        return np.diag([int(z >= 0) for z in self.preactivation]).astype(object)

    @cached_property
    def product(self) -> Any:
        """W_F."""
        return self.arrays["W_2"] @ self.pattern @ self.arrays["W_1"]

    @cached_property
    def ranks(self) -> dict[sp.Symbol, int]:
        """Sizes and ranks by symbol."""
        rows, columns = self.arrays["W_1"].shape
        return {
            d: columns,
            d_h: rows,
            r: rank(self.product),
            r_1: rank(self.arrays["W_1"]),
            r_2: rank(self.arrays["W_2"]),
            r_M: int(np.trace(self.pattern)),
        }


@dataclass(frozen=True)
class Family:
    """Networks that a statement is about.

    Attributes:
        says: In words.
        admits: Whether a network belongs to it.
        draw: Makes a network from sizes d and d_h - d, and a seed.
        pinned: Tried first.
        proofs: Relations proved for it, with the steps.
    """

    says: str
    admits: Callable[[Network], bool]
    draw: Callable[[int, int, int], Network]
    pinned: tuple[Network, ...]
    proofs: Mapping[Any, Callable[[], tuple[str, ...]]] = field(repr=False, hash=False)

    def __str__(self) -> str:
        return self.says


def network(size: int, more: int, seed: int, largest: int = 1) -> Network:
    """Entries up to ``largest`` in modulus; d = size, d_h = size + more."""
    rng = generator(seed)
    shapes = {"W_1": (size + more, size), "W_2": (size, size + more)}
    shapes |= {"b_1": (size + more, 1), "h": (size, 1)}
    return Network({
        name: np.array(
            [[rng.randint(-largest, largest) for _ in range(n)] for _ in range(m)],
            dtype=object,
        )
        for name, (m, n) in shapes.items()
    })


def _given(first: Any, second: Any, bias: Any, point: Any) -> Network:
    columns = {"b_1": [[x] for x in bias], "h": [[x] for x in point]}
    parts = {"W_1": first, "W_2": second} | columns
    return Network({k: np.array(x, dtype=object) for k, x in parts.items()})


IDLE = _given([[1, 0], [0, 1], [0, 0]], [[1, 0, 1], [0, 1, 1]], [-9, -9, 1], [1, 1])
ONE = _given([[1]], [[1]], [0], [1])
HALF = _given([[1, 0], [0, 1]], [[1, 0], [0, 1]], [0, -9], [1, 1])
OFF = _given([[1]], [[1]], [-9], [1])
WIDE = _given([[1, 2], [3, 5], [7, 11]], [[2, 3, 5], [1, 4, 9]], [0, 0, 0], [1, 1])


def _full(net: Network) -> bool:
    n = net.ranks
    return n[r_1] == n[r_2] == n[d] and n[r_M] < n[d]


def violated(claim: Claim, net: Network) -> bool:
    """Whether a network of the claim's family breaks the claim's relation."""
    return claim.domain.admits(net) and not bool(claim.relation.subs(net.ranks))


def _minors(factors: tuple[sp.MatrixExpr, ...], size: int, order: int) -> sp.Expr:
    """Sum of the principal minors of a product, sized ``size``."""
    gram = sp.MatMul(*factors)
    entry = sp.Matrix(size, size, lambda i, j: MatrixElement(gram, i, j))
    picks = combinations(range(size), order)
    return sp.Add(
        *(entry.extract(list(s), list(s)).det(method="berkowitz") for s in picks)
    )


def witness(net: Network) -> dict[str, Any]:
    """Record ranks by minors, and the pattern by the pre-activation.

    For integers: a Gram matrix of rank k has principal minors of order k with a
    positive sum, and of order k + 1 with the sum 0 < 1.
    """
    n, size = net.ranks, net.ranks[d]
    product = (W_1.T, I_M, W_2.T, W_2, I_M, W_1)
    parts: list[sp.Expr] = []
    for factors, found in (((W_1.T, W_1), r_1), ((W_2, W_2.T), r_2), (product, r)):
        if n[found]:
            parts.append(_minors(factors, size, n[found]))
        if n[found] < size:
            parts.append(1 - _minors(factors, size, n[found] + 1))
    for k, z in enumerate(net.preactivation):
        row = MatrixElement(W_1 * h + b_1, k, 0)
        parts.append(row + 1 if z >= 0 else -row)
    says = ", ".join(f"rank {k} = {n[x]}" for k, x in NAMES.items())
    arrays = dict(net.arrays) | {"I_M": net.pattern}
    return formula(Min(*parts, evaluate=False), ">", sp.S.Zero, arrays, says)


NAMES = {"W_1": r_1, "W_2": r_2, "I_M": r_M, "W_F": r}


def settle(claim: Claim) -> Outcome:
    """Prove the claim's relation by the steps of its family, or refute it."""
    for net in claim.domain.pinned:
        if violated(claim, net):
            record = witness(net)
            return Refuted(record["says"], witness=record)
    proof = claim.domain.proofs.get(claim.relation)
    if proof is None:
        return Inconclusive("no proof of this relation", cause=Cause.NO_PROOF)
    return Holds("proved for all sizes", steps=proof())


def hunt(claim: Claim, search: Search) -> Outcome:
    """Hunt for a network of the claim's family that breaks the relation."""

    def broken(net: Network) -> bool:
        if not claim.domain.admits(net):
            search.discard(f"not of {claim.domain}")
        return violated(claim, net)

    sizes = st.integers(1, 3), st.integers(0, 2)
    return search.for_all(
        st.builds(claim.domain.draw, *sizes, SEEDS),
        broken,
        witness,
        searched=f"{claim.domain}; d ≤ 3, d_h ≤ 5",
        pinned=claim.domain.pinned,
        scale=0.3,
    )


# ---------------------------------------------------------------- proofs


@lru_cache(maxsize=1)
def _sylvester() -> tuple[str, ...]:
    """Block elimination behind rank AB ≥ rank A + rank B - n."""
    m, n, k = symbols("m n k", positive=True, integer=True)
    A, B = MatrixSymbol("A", m, n), MatrixSymbol("B", n, k)
    eye, zero = sp.Identity, sp.ZeroMatrix
    low = ((eye(n), zero(n, m)), (-A, eye(m)))
    middle = ((eye(n), B), (A, zero(m, k)))
    high = ((eye(n), -B), (zero(k, n), eye(k)))
    target = ((eye(n), zero(n, k)), (zero(m, n), -A * B))

    def times(one: Any, two: Any) -> Any:
        return tuple(
            tuple(one[i][0] * two[0][j] + one[i][1] * two[1][j] for j in (0, 1))
            for i in (0, 1)
        )

    found = times(times(low, middle), high)
    for i, j in np.ndindex(2, 2):
        if not prove_equal(found[i][j], target[i][j]).proved:
            raise ArithmeticError("the block elimination was not proved")
    return (
        "(I 0; -A I)(I B; A 0)(I -B; 0 I) = (I 0; 0 -AB), so that "
        "rank (I B; A 0) = n + rank AB",
        "rank (I B; A 0) ≥ rank A + rank B: independent columns of A, and rows of B, "
        "stay independent",
        "twice, with n = d_h: rank W_2 I_M W_1 ≥ r_2 + r_M + r_1 - 2 d_h",
    )


def _upper() -> tuple[str, ...]:
    return (
        "the columns of AB are combinations of those of A, its rows of those of B: "
        "rank AB ≤ min(rank A, rank B), applied twice",
    )


def _square() -> tuple[str, ...]:
    return (
        *_sylvester(),
        *_upper(),
        "d_h = d = r_1 = r_2: r_M ≤ rank W_F ≤ r_M, and r_1 + r_2 - 2d = 0",
    )


@lru_cache(maxsize=1)
def _generic() -> tuple[str, ...]:
    """A non-zero minor for every pattern, exhibited."""
    for size, more in np.ndindex(4, 4):
        for active in range(size + more + 2):
            k, hidden = min(size + 1, active), size + more + 1
            J = np.eye(size + 1, k, dtype=int)
            R = np.eye(k, hidden, dtype=int)  # the active units come first
            M = np.diag([1] * active + [0] * (hidden - active))
            if rank(J @ R @ M @ R.T @ J.T) != k and k:
                raise ArithmeticError("the exhibited network has another rank")
    return (
        *_upper(),
        "for a pattern with s active units let k = min(d, s), R select k of them, "
        "J = (I_k 0)ᵀ: W_2 = J R, W_1 = Rᵀ Jᵀ give W_F = J Jᵀ of rank k",
        "so the sum of squared k-minors of W_F is a polynomial in W_1, W_2 that is not "
        "zero; its zeros have measure zero, and there are finitely many patterns",
    )


# ---------------------------------------------------------------- families


def _nonsingular(net: Network) -> bool:
    n = net.ranks
    return n[d] == n[d_h] == n[r_1] == n[r_2]


STATED = Family(
    "full-rank W_1, W_2, d_h > d, rank I_M < d",
    lambda net: _full(net) and net.ranks[d_h] > net.ranks[d],
    lambda size, more, seed: network(size, more + 1, seed),
    (IDLE,),
    {},
)
SQUARE = Family(
    "nonsingular W_1, W_2, d_h = d",
    _nonsingular,
    lambda size, _, seed: network(size, 0, seed, 2),
    (ONE, HALF, OFF),
    {EQUAL: _square, PRINTED_LOWER: _square},
)
EVERY = Family(
    "any W_1, W_2, b_1, h",
    lambda _: True,
    network,
    (ONE, OFF, HALF, IDLE),
    {UPPER: _upper, SYLVESTER: _sylvester},
)
HUGE = 10**12
# A minor has degree at most 6 in the entries: at most 6/(2·10^12 + 1) of the networks
# have fewer ranks (Schwartz, Zippel); 1e-9 in 300 draws.
GENERIC = Family(
    "W_1, W_2 drawn with a density, here from integers up to 10^12",
    lambda _: True,
    lambda size, more, seed: network(size, more, seed, HUGE),
    (WIDE, ONE, HALF, OFF),
    {GENERIC_RANK: _generic},
)
