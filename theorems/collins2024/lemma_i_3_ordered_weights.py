"""Lemma I.3: weights become less even when multiplied by similarly ordered ones.

Collins et al. (NeurIPS 2024), Lemma I.3: if a_i > a_j ⇔ b_i > b_j then

    Σ a_i² / (Σ a_i)² ≤ Σ a_i² b_i² / (Σ a_i b_i)².

Lemma D.2 uses it for exponentials. It holds for positive numbers: with the weights a_i²
the mean of b² is at least the square of the mean of b, which is at least the mean of b
with the weights a_i. With other signs it fails.

Deviations from the text:
    1. The display is lost; it is rebuilt from its proof and from Lemma D.2.
    2. Whether the numbers were assumed positive cannot be seen: both are decided.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.caps.steps import equal
from verify import (
    Anchor,
    Assumption,
    Cause,
    Claim,
    Holds,
    Inconclusive,
    Mutant,
    Outcome,
    Refuted,
    Tightness,
    Verdict,
    Wording,
    check,
    necessity,
    refuted,
)
from verify.search import Search
from verify.slack import slack
from verify.symbolic import formula

s = sp.Function("s")  # s(j, k) = Σ a_i^j b_i^k
POSITIVE, ANY = "positive numbers", "any numbers"
SAME, OPPOSITE = sp.Symbol("same"), sp.Symbol("opposite")

LEFT = s(2, 0) / s(1, 0) ** 2
RIGHT = s(2, 2) / s(1, 1) ** 2

ORDERED = Assumption("ordered", "a_i > a_j if and only if b_i > b_j")
SIGNS = Assumption("positive", "all a_i and b_i are positive")
DEFINED = Assumption("defined", "Σ a_i and Σ a_i b_i are not 0")

MUTANTS = (
    Mutant("opposite order", why="a = (2, 1), b = (1, 2): ab is even", order=OPPOSITE),
    Mutant("reversed", why="a = b = (2, 1)", left=RIGHT, right=LEFT),
    Mutant("b alone on the right", why="b may be even", right=s(0, 2) / s(0, 1) ** 2),
    Mutant("a² b on the right", why="not homogeneous", right=s(2, 1) / s(1, 1) ** 2),
    Mutant("twice the left side", why="a = b = 1", left=2 * LEFT),
)
STATEMENT: dict[str, Any] = {
    "latex": (
        r"\frac{\sum_i a_i^2}{(\sum_i a_i)^2} \le "
        r"\frac{\sum_i a_i^2 b_i^2}{(\sum_i a_i b_i)^2}"
    ),
    "source": PAPER.at("Lemma I.3", "Appendix I"),
    "parameters": {"left": LEFT, "right": RIGHT, "order": SAME},
    "mutants": MUTANTS,
}

CLAIM = Claim(
    id="collins2024/lemma-i.3@positive",
    title="similarly ordered weights",
    says="Multiplying positive weights by similarly ordered ones makes them less even.",
    quantifiers="for all n and all positive a_i, b_i in the same order",
    wording=Wording.DERIVED,
    domain=POSITIVE,
    assumes=(ORDERED, SIGNS),
    **STATEMENT,
)

SIGNED = Claim(
    id="collins2024/lemma-i.3@any-sign",
    title="similarly ordered weights of any sign",
    says="Multiplying weights by similarly ordered ones makes them less even.",
    quantifiers="for all n and all real a_i, b_i in the same order",
    wording=Wording.GUESSED,
    domain=ANY,
    assumes=(ORDERED, DEFINED),
    anchors=(Anchor("positive numbers", why="proved", domain=POSITIVE),),
    finding=refuted(
        "a = (2, -1), b = (1, 0): 5 is above 1; with a positive and b negative, "
        "a = (2, 1), b = (-1, -2): 5/9 is above 8/16"
    ),
    nearest=CLAIM.id,
    **STATEMENT,
)

Pair = tuple[tuple[Fraction, Fraction], ...]  # of (a_i, b_i)


@functools.cache
def pairs_and_variance() -> tuple[str, ...]:
    """The proof for all n: two sums over pairs i, j, each term not negative."""
    a, b, x, y = sp.symbols("a b x y", positive=True)  # a_i, b_i, a_j, b_j
    X, Y, Z, P, Q = sp.symbols("X Y Z P Q", positive=True)
    pair = a * x * (a - x) * (b - y)
    spread = a**2 * x**2 * (b - y) ** 2
    return (
        equal(
            "terms of Σ_ij a_i a_j (a_i - a_j)(b_i - b_j)",
            pair,
            a**2 * b * x + a * x**2 * y - a**2 * x * y - a * b * x**2,
        ),
        "summed: 2 (Σa²b Σa - Σa² Σab); each term is ≥ 0 in the same order",
        equal(
            "terms of Σ_ij a_i² a_j² (b_i - b_j)²",
            spread,
            a**2 * b**2 * x**2 + a**2 * x**2 * y**2 - 2 * a**2 * b * x**2 * y,
        ),
        "summed: 2 (Σa²b² Σa² - (Σa²b)²); each term is ≥ 0",
        "with X = Σa², Y = Σa²b, Z = Σa²b², P = Σa, Q = Σab, all positive: ZX ≥ Y² "
        "and YP ≥ XQ",
        equal(
            "(right - left) X P² Q²",
            sp.expand((Z / Q**2 - X / P**2) * X * P**2 * Q**2),
            P**2 * (Z * X - Y**2) + (Y * P - X * Q) * (Y * P + X * Q),
        ),
    )


def value(expr: sp.Expr, pairs: Pair) -> Fraction:
    """A side in exact rationals."""

    def power_sum(j: Any, k: Any) -> sp.Expr:
        total = sum((a ** int(j) * b ** int(k) for a, b in pairs), Fraction(0))
        return sp.Rational(total)

    exact = expr.replace(s, power_sum)
    return Fraction(int(exact.p), int(exact.q))


def admitted(claim: Claim, pairs: Pair) -> bool:
    """Whether the hypotheses hold: order, signs, and sums that are not 0."""
    sign = 1 if claim.order == SAME else -1
    for a, b in pairs:
        for x, y in pairs:
            if (a > x) != (sign * b > sign * y):
                return False
    if claim.domain == POSITIVE:
        return all(a > 0 and b > 0 for a, b in pairs)
    return sum(a for a, _ in pairs) != 0 and sum(a * b for a, b in pairs) != 0


def violated(claim: Claim, pairs: Pair) -> bool:
    """Whether the claim is false for these numbers."""
    return value(claim.left, pairs) > value(claim.right, pairs)


def witness(claim: Claim, pairs: Pair) -> dict[str, Any]:
    """Record both sides, from the numbers themselves."""
    inputs = {f"a{i}": a for i, (a, _) in enumerate(pairs, 1)}
    inputs |= {f"b{i}": b for i, (_, b) in enumerate(pairs, 1)}
    places = range(1, len(pairs) + 1)

    cells = [(sp.Symbol(f"a{i}"), sp.Symbol(f"b{i}")) for i in places]

    def power_sum(j: Any, k: Any) -> sp.Expr:
        return sp.Add(*(a**j * b**k for a, b in cells))

    left, right = (side.replace(s, power_sum) for side in (claim.left, claim.right))
    shown = "; ".join(f"a = {a}, b = {b}" for a, b in pairs)
    return formula(left, ">", right, inputs, f"left side above the right one: {shown}")


def smallest(claim: Claim, n: int = 2, size: int = 3) -> Iterator[Pair]:
    """Pairs of small integers, by the sum of their sizes."""
    cells = sorted(
        product(range(-size, size + 1), repeat=2 * n),
        key=lambda row: (sum(map(abs, row)), [-x for x in row]),
    )
    for row in cells:
        pairs = tuple((Fraction(row[i]), Fraction(row[n + i])) for i in range(n))
        if admitted(claim, pairs):
            yield pairs


def by_hand(claim: Claim) -> Outcome | None:
    """The smallest counterexample among pairs of integers up to 3."""
    for pairs in smallest(claim):
        if violated(claim, pairs):
            found = witness(claim, pairs)
            return Refuted(str(found["says"]), witness=found)
    return None


@check(CLAIM, SIGNED, grade="symbolic", scope="all")
def sums_over_pairs(claim: Claim) -> Outcome:
    """Expand two sums over pairs; or go through small integers."""
    stated = (claim.left, claim.right, claim.order) == (LEFT, RIGHT, SAME)
    if stated and claim.domain == POSITIVE:
        example = ((Fraction(2), Fraction(3)), (Fraction(1), Fraction(2)))
        certificate = witness(claim.at(left=RIGHT, right=LEFT), example)
        return Holds(
            "proved for all n", steps=pairs_and_variance(), certificate=certificate
        )
    found = by_hand(claim)
    return found or Inconclusive("no proof, none small fails", cause=Cause.NO_PROOF)


@check(CLAIM, SIGNED, grade="property", scope="n ≤ 6, rational numbers, exact")
def exact_weights(claim: Claim, search: Search) -> Outcome:
    """Hunt over ordered weights with rational entries."""
    from hypothesis import strategies as st

    low = 1 if claim.domain == POSITIVE else -9
    sign = 1 if claim.order == SAME else -1

    def make(drawn: tuple[list[int], list[int]]) -> Pair:
        first, second = (sorted(set(numbers)) for numbers in drawn)
        pairs = zip(first, second[::sign], strict=False)
        return tuple((Fraction(a), Fraction(b, 3)) for a, b in pairs)

    ratios: list[float] = []

    def fails(pairs: Pair) -> bool:
        if not admitted(claim, pairs):
            search.discard("a sum is 0")
        left, right = (value(side, pairs) for side in (claim.left, claim.right))
        if right > 0:
            ratios.append(float(left / right))
        return left > right

    numbers = st.lists(st.integers(low, 40), min_size=1, max_size=6)
    outcome = search.for_all(
        st.tuples(numbers, numbers).map(make),
        fails,
        lambda pairs: witness(claim, pairs),
        searched="n ≤ 6, a up to 40, b up to 40/3, in the claimed order",
        pinned=_pinned(claim),
        scale=0.4,
    )
    if outcome.verdict is not Verdict.HOLDS:
        return outcome
    close = ((Fraction(1000), Fraction(1001)), (Fraction(999), Fraction(1000)))
    ratio = value(claim.left, close) / value(claim.right, close)
    return outcome.but(
        tightness=(Tightness("nearly even weights", float(ratio)),),
        figures=(slack({"left over right side": ratios}, title="Slack of the lemma"),),
    )


def _pinned(claim: Claim) -> Sequence[Pair]:
    """The counterexample with signs, and cases of equality."""
    one, two = Fraction(1), Fraction(2)
    rows = [
        ((two, -one), (one, -two)),
        ((two, two), (one, one)),
        ((two, one), (one, two)),
        ((one, one),),
    ]
    return [row for row in rows if admitted(claim, row)]


@necessity(
    CLAIM,
    assumption="positive",
    needed=True,
    grade="certified",
    scope="pairs of integers up to 3",
)
def with_signs(claim: Claim) -> Outcome:
    """The smallest counterexample with signs, by the sum of sizes."""
    return by_hand(_signed(claim)) or Holds("none", searched="integers up to 3")


def _signed(claim: Claim) -> Claim:
    return SIGNED.at(left=claim.left, right=claim.right, order=claim.order)


@necessity(
    CLAIM,
    assumption="ordered",
    needed=True,
    grade="certified",
    scope="pairs of integers up to 3",
)
def without_order(claim: Claim) -> Outcome:
    """The opposite order breaks it."""
    found = by_hand(claim.at(order=OPPOSITE))
    return found or Holds("none", searched="integers up to 3")
