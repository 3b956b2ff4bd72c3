"""Finite feature maps of the softmax kernel (Section 3.1, before Eq. (7)).

Ren and Liu (NeurIPS 2024): "According to Mercer's theorem, there exists some mapping
function φ: R^{d_o} → R^{d_r} satisfying that K_sm(x, y) = φ(x)ᵀφ(y)."

With a finite d_r this has two readings. For all x, y in R^{d_o} it is false for every
d_r: at the tokens i√(ln 2) e_1, i = 0, ..., d_r, the kernel is 2^{ij}, a Vandermonde
matrix of rank d_r + 1. On the tokens at hand it is true, with as many features as there
are tokens; Theorem 3.1 needs no more. For 16 keys and a query 17 features are exact,
where the experiments take 1200 random ones that are not.

Deviations from the text:
    1. d_r is finite, as the text uses it throughout ("dimension of the random
       features"). With d_r = ∞ the map exists: all monomials of the power series.
    2. Exact arithmetic takes the base 2: x = √(ln 2) z with integer z.
Not decided here: how accurate finitely many random features are
(kernel_random_features.py, figure_6_random_features.py).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator

import sympy as sp
from hypothesis import strategies as st

from theorems.ren2024 import PAPER
from theorems.ren2024.features import gram
from theorems.ren2024.features.formulas import equal, need, undecided
from verify import (
    Anchor,
    Assumption,
    Claim,
    Holds,
    Mutant,
    Outcome,
    Refuted,
    Wording,
    check,
    necessity,
    refuted,
)
from verify.search import Search

n, d, d_r = sp.symbols("n d d_r", positive=True, integer=True)
SOURCE = PAPER.at("Equation (7)", "Section 3.1, Mercer's theorem")

FINITE = Assumption("finite-set", "x and y range over n given tokens")

EVERYWHERE = Claim(
    id="ren2024/kernel/finite-mercer@everywhere",
    title="a finite feature map on all of R^{d_o}",
    says=(
        "There is a map φ from R^{d_o} to R^{d_r}, with finite d_r, such that "
        "K_sm(x, y) = φ(x)ᵀφ(y) for all x and y."
    ),
    latex=(
        r"\exists \phi: R^{d_o} \to R^{d_r}, \ e^{x^\top y} = \phi(x)^\top \phi(y) "
        r"\text{ for all } x, y \in R^{d_o}"
    ),
    quantifiers="some finite d_r, all x, y in R^{d_o}, d_o ≥ 1",
    source=SOURCE,
    wording=Wording.PRINTED,
    parameters={"tokens": sp.oo, "features": d_r},
    anchors=(Anchor("on d_r tokens", why="Gram matrices have factors", tokens=d_r),),
    mutants=(
        Mutant("one token more", why="[2^{ij}] has rank d_r + 1", tokens=d_r + 1),
        Mutant("twice as many tokens", why="rank 2 d_r", tokens=2 * d_r),
        Mutant("2^{d_r} tokens", why="rank 2^{d_r}", tokens=2**d_r),
    ),
    finding=refuted("d_r features give Gram matrices of rank ≤ d_r; [2^{ij}] has more"),
    nearest="ren2024/kernel/finite-mercer@finite-set",
)

FINITE_SET = Claim(
    id="ren2024/kernel/finite-mercer@finite-set",
    title="a finite feature map on the tokens at hand",
    says=(
        "For any n tokens there is a map φ to R^n such that K_sm(x, y) = φ(x)ᵀφ(y) for "
        "all of them; fewer features do not suffice for all sets of n tokens."
    ),
    latex=(
        r"\forall z_1, \dots, z_n \ \exists \phi: \{z_i\} \to R^n, \ "
        r"e^{z_i^\top z_j} = \phi(z_i)^\top \phi(z_j)"
    ),
    quantifiers="for all n ≥ 1, all d_o ≥ 1, all tokens",
    source=SOURCE,
    wording=Wording.DERIVED,
    assumes=(FINITE,),
    parameters={"tokens": n, "features": n},
    mutants=(
        Mutant("n - 1 features", why="[2^{ij}] has rank n", features=n - 1),
        Mutant("half as many", why="[2^{ij}] has rank n", features=sp.ceiling(n / 2)),
        Mutant("two features", why="tokens count", features=sp.Integer(2)),
    ),
)

BINARY = Claim(
    id="ren2024/kernel/finite-mercer/binary",
    title="an integer feature map on binary tokens",
    says=(
        "On {0,1}^d the kernel 2^{xᵀy} has the integer features Π_{i in S} x_i, one "
        "for each set S of coordinates; fewer than 2^d features do not suffice."
    ),
    latex=r"2^{x^\top y} = \sum_{S} \prod_{i \in S} x_i y_i, \quad x, y \in \{0, 1\}^d",
    quantifiers="for all d ≥ 1",
    source=SOURCE,
    wording=Wording.OURS,
    parameters={"features": 2**d},
    mutants=(
        Mutant("one feature less", why="the matrix has rank 2^d", features=2**d - 1),
        Mutant("d + 1 features", why="products are needed", features=d + 1),
        Mutant("d² features", why="at d = 1 two tokens need two", features=d**2),
    ),
)


# ---------------------------------------------------------------- any finite set


@functools.cache
def vandermonde() -> tuple[str, ...]:
    """[2^{ij}] for i, j < n has rank n: it is the Vandermonde matrix of nodes 2^i."""
    nodes = sp.symbols("t_0:3")
    matrix = sp.Matrix(3, 3, lambda i, j: nodes[i] ** j)
    product = sp.prod(b - a for a, b in itertools.combinations(nodes, 2))
    steps = [equal("Vandermonde: det [t_i^j] = Π_{i<j} (t_j - t_i), n = 3",
                   sp.expand(matrix.det()), sp.expand(product))]  # fmt: skip
    for size in (2, 5, 8):
        _, pivots = gram.factored(gram.gram(line(size)))
        det = sp.prod(sp.Rational(p.numerator, p.denominator) for p in pivots)
        ends = itertools.combinations((2**i for i in range(size)), 2)
        steps.append(
            need(
                f"det [2^ij], n = {size}, by elimination",
                det == sp.prod(b - a for a, b in ends),
            )
        )
    return (
        *steps,
        "standard: Vandermonde for all n; 2^j > 2^i for j > i, so that det > 0",
        "φ(x_i)ᵀφ(x_j) with φ in R^r is a product n x r x n: its rank is at most r",
    )


@functools.cache
def gram_factor() -> tuple[str, ...]:
    """The kernel between any n tokens is positive semidefinite, and has a factor."""
    t = sp.Symbol("t")
    return (
        "[x_iᵀx_j] is positive semidefinite (standard: cᵀXᵀXc = ‖Xc‖²)",
        "so are its entrywise powers (standard: Schur's product theorem)",
        need(
            "e^t = Σ t^k/k!: all coefficients are positive",
            all(sp.series(sp.exp(t), t, 0, 8).removeO().coeff(t, k) > 0
                for k in range(8)),
        ),
        "limits of positive semidefinite matrices are positive semidefinite",
        "standard: a positive semidefinite G is LᵀL with L n x n; φ(z_j) = L e_j",
    )  # fmt: skip


def line(size: int) -> list[tuple[int, ...]]:
    """The tokens 0, 1, ..., size - 1 on one axis."""
    return [(i,) for i in range(size)]


def shortage(claim: Claim) -> tuple[int, int] | None:
    """The least numbers of tokens and features of which the latter are too few."""
    for size in range(1, 9):
        values = {n: size, d_r: size}
        features = int(claim.features.subs(values))
        tokens = claim.tokens.subs(values) if claim.tokens != sp.oo else features + 1
        if tokens > features:
            return int(tokens), features
    return None


@check(EVERYWHERE, FINITE_SET, grade="symbolic", scope="all")
def as_many_features_as_tokens(claim: Claim) -> Outcome:
    """A Gram matrix of n tokens always has n features; [2^{ij}] has no fewer."""
    found = shortage(claim)
    if found:
        tokens, features = found
        return Refuted(
            f"too few for any number of features: {features} for {tokens} tokens on a "
            "line, between which the kernel has full rank",
            witness=gram.independent(line(tokens), features),
            steps=vandermonde(),
        )
    spare = sp.simplify(claim.features - claim.tokens)
    if spare.is_nonnegative:
        return Holds(
            "every Gram matrix of n tokens has a factor with n rows",
            steps=(*gram_factor(), *vandermonde()),
            certificate=gram.factors(line(3)),
        )
    return undecided(f"features less tokens: {spare}")


@check(
    EVERYWHERE,
    FINITE_SET,
    grade="property",
    scope="sets of up to 5 integer tokens, d ≤ 2, kernel 2^(x·y)",
)
def factors_of_drawn_tokens(claim: Claim, search: Search) -> Outcome:
    """Factor the kernel of drawn sets exactly, and count the features it takes."""

    def split(tokens: list[tuple[int, ...]]) -> tuple[list[tuple[int, ...]], int]:
        size = len(tokens)
        everywhere = claim.tokens == sp.oo
        values = {n: size, d_r: size}
        asked = size if everywhere else int(claim.tokens.subs(values))
        allowed = size - 1 if everywhere else int(claim.features.subs(values))
        return [*tokens, *extra(asked - size, tokens)], allowed

    def violated(tokens: list[tuple[int, ...]]) -> bool:
        everything, allowed = split(tokens)
        kernel = gram.gram(everything)
        lower, pivots = gram.factored(kernel)
        enough = gram.reproduces(kernel, lower, pivots)
        return not enough or sum(p != 0 for p in pivots) > allowed

    return search.for_all(
        token_sets(),
        violated,
        lambda tokens: gram.independent(*split(tokens)),
        searched="distinct integer tokens in [-2, 2]^d",
        pinned=[line(2), line(3), line(4)],
        scale=0.5,
    )


def token_sets() -> st.SearchStrategy[list[tuple[int, ...]]]:
    """Up to 5 distinct integer tokens in one or two dimensions."""
    entry = st.integers(-2, 2)
    planes = st.lists(st.tuples(entry, entry), min_size=1, max_size=5, unique=True)
    lines = st.lists(st.tuples(entry), min_size=1, max_size=5, unique=True)
    return st.one_of(planes, lines)


def extra(count: int, tokens: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Further tokens, distinct from all of [-2, 2]^d."""
    width = len(tokens[0])
    return [(3 + i, *[0] * (width - 1)) for i in range(min(count, 6))]


@necessity(
    FINITE_SET,
    assumption="finite-set",
    needed=True,
    grade="property",
    scope="n = 2 features, tokens anywhere",
)
def without_a_finite_set(claim: Claim) -> Outcome:
    """With n features, n + 1 tokens of the line have a kernel of rank n + 1."""
    features = int(claim.features.subs(n, 2))
    tokens = line(features + 1)
    return Refuted(
        f"{features} features do not serve {len(tokens)} tokens",
        witness=gram.independent(tokens, features),
    )


# ---------------------------------------------------------------- binary tokens


def cube(size: int) -> list[tuple[int, ...]]:
    """All binary tokens of a dimension."""
    return [*itertools.product((0, 1), repeat=size)]


@functools.cache
def subsets() -> tuple[str, ...]:
    """The expansion over sets of coordinates, and the rank by Kronecker products."""
    a, b = sp.symbols("a b")
    corners = [(i, j) for i in (0, 1) for j in (0, 1)]
    return (
        need("2^{ab} = 1 + ab for a, b in {0, 1}",
             all(2 ** (i * j) == (1 + a * b).subs({a: i, b: j}) for i, j in corners)),
        "2^{xᵀy} = Π_i (1 + x_i y_i) = Σ_S Π_{i in S} x_i Π_{i in S} y_i",
        equal("det [[1, 1], [1, 2]]", sp.Matrix([[1, 1], [1, 2]]).det(), sp.S.One),
        "the matrix for d coordinates is the d-th Kronecker power: rank 2^d (standard)",
    )  # fmt: skip


def fewest(claim: Claim) -> Iterator[tuple[int, int]]:
    """Dimensions and claimed features, smallest first."""
    for size in range(1, 5):
        yield size, int(claim.features.subs(d, size))


@check(BINARY, grade="symbolic", scope="all")
def sets_of_coordinates(claim: Claim) -> Outcome:
    """Expand the product over coordinates; the Kronecker power has full rank."""
    for size, features in fewest(claim):
        if features < 2**size:
            return Refuted(
                f"{features} features for all {2**size} binary tokens",
                witness=gram.independent(cube(size), features),
            )
    if sp.simplify(claim.features - 2**d) == 0:
        return Holds(
            "2^d features are exact, and the matrix has rank 2^d",
            steps=subsets(),
            certificate=gram.factors(cube(2)),
        )
    return undecided(f"{claim.features} features")


@check(BINARY, grade="property", scope="all binary tokens, d ≤ 4")
def all_binary_tokens(claim: Claim, search: Search) -> Outcome:
    """Multiply the features of all pairs of tokens, and factor the kernel."""

    def violated(case: tuple[int, int]) -> bool:
        size, features = case
        tokens, sets = cube(size), cube(size)
        maps = [
            [all(a or not s for a, s in zip(token, chosen, strict=True))
             for chosen in sets]
            for token in tokens
        ]  # fmt: skip
        kernel = gram.gram(tokens)
        exact = all(
            sum(a and b for a, b in zip(maps[i], maps[j], strict=True)) == kernel[i][j]
            for i in range(len(tokens))
            for j in range(len(tokens))
        )
        _, pivots = gram.factored(kernel)
        return not exact or sum(p != 0 for p in pivots) > features

    return search.exhaust(
        fewest(claim),
        violated,
        lambda case: gram.independent(cube(case[0]), case[1]),
        searched="d ≤ 4: all 4^d pairs of tokens",
    )
