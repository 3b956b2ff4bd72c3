"""Identities: proved by `prove_equal`, or refuted at an exact instance.

The two sides of a true identity are one random tree and the same tree after up to 25
rewritings; the truth of every claim is decided apart from sympy, modulo a prime
(`trees`). False ones have one constant changed by the relative amount ``wrongness``, or
a sign, a power, the order of a product or a transpose; or their difference vanishes at
the first instances that are tried. Rational identities go through `Identity.decide`;
those with exponentials through the rule of `huang2024/stage_one/decide.py`: a proof, or
the instance with the largest excess whose formula stands (there every instance is
defined and the largest alone is tried).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter
from typing import Any

import numpy as np

from benchmarks.power.cases import Drawn, Family
from benchmarks.power.trees import (
    MATRICES,
    SCALARS,
    Rng,
    Tree,
    UnusableError,
    changed,
    equal,
    expression,
    number,
    one_of,
    rewritten,
    vanishes,
)
from verify import Cause, Claim, Holds, Inconclusive, Outcome, Refuted, recheck
from verify.profiles import profile
from verify.symbolic import Compiled, Identity, formula, prove_equal
from verify.verdict import Grade

REWRITINGS = 25
HIDDEN = 3  # values of x at which a hidden difference vanishes: 1, 2, 3
SORTS = ("scalars", "matrices", "traces", "exponentials")


@dataclass(frozen=True)
class Where:
    """Exact instances, smallest first, and whether there are exponentials."""

    instances: tuple[Mapping[str, Any], ...]
    exponential: bool

    def __str__(self) -> str:
        return "rational and exponential functions" if self.exponential else "rational"


def decide(claim: Claim) -> Outcome:
    """Prove the identity, or refute it on an instance."""
    if not claim.domain.exponential:
        return Identity(claim.left, claim.right).decide(claim.domain.instances)
    proof = prove_equal(claim.left, claim.right)
    if proof.proved:
        return Holds("proved for all values", steps=proof.steps)
    sides = [Compiled(side, "numpy") for side in (claim.left, claim.right)]

    def excess(instance: Mapping[str, Any]) -> float:
        values = {name: float(x) for name, x in instance.items()}
        left, right = (float(side(values)) for side in sides)
        return abs(left - right) / max(abs(left), abs(right), 1e-300)

    with np.errstate(all="ignore"):  # what overflows is no excess
        over = [(excess(one), one) for one in claim.domain.instances]
    suspects = [pair for pair in over if pair[0] > 0]  # perhaps by rounding alone
    for _, instance in sorted(suspects, key=itemgetter(0), reverse=True):
        witness = formula(claim.left, "!=", claim.right, instance, "the sides differ")
        if _stands(witness):
            return Refuted("the sides differ", witness=witness)
    return Inconclusive("no proof and no counterexample", cause=Cause.NO_PROOF)


def _stands(witness: dict[str, Any]) -> bool:
    """Whether the exact sides differ; not where one of them is undefined."""
    try:
        return recheck.decide(witness).valid
    except recheck.RecheckError:  # exact numbers divide by zero, floats need not
        return False


# ---------------------------------------------------------------------------- instances


def _fraction(rng: Rng) -> Fraction:
    return Fraction(int(rng.integers(1, 10)), int(rng.integers(1, 6)))


def instances(rng: Rng) -> tuple[dict[str, Any], ...]:
    """Ones everywhere at size 1, whole numbers at size 2, and fractions."""
    draws: tuple[Callable[[], Any], ...] = (
        lambda: 1,
        lambda: int(rng.integers(1, HIDDEN + 1)),
        lambda: _fraction(rng),
    )
    found = []
    for some, rows, columns in zip(draws, (1, 2, 2), (1, 1, 2), strict=True):
        sizes = {"n": rows, "m": columns}
        one: dict[str, Any] = {**sizes, **{x.name: some() for x in SCALARS}}
        for name, shape in MATRICES.items():
            height, width = (sizes[size.name] for size in shape)
            cells = [[some() for _ in range(width)] for _ in range(height)]
            one[name] = np.array(cells, dtype=object)
        found.append(one)
    return tuple(found)


# -------------------------------------------------------------------------------- trees


def scalar(rng: Rng, depth: int, exponential: bool = False) -> Tree:
    """A random rational function, with positive denominators."""
    if depth == 0:
        if exponential and rng.random() < 0.4:
            return ("exp", *(int(k) for k in rng.integers(-2, 4, len(SCALARS))))
        if rng.random() < 0.3:
            return number(
                int(one_of(rng, (-3, -2, -1, 1, 2, 5))), int(rng.integers(1, 4))
            )
        return ("scalar", int(rng.integers(len(SCALARS))))

    def inner() -> Tree:
        return scalar(rng, depth - 1, exponential)

    kind = rng.random()
    if kind < 0.4:
        return ("add", inner(), inner())
    if kind < 0.75:
        return ("mul", inner(), inner())
    if kind < 0.88:
        return ("power", inner(), int(rng.integers(2, 4)))
    x = ("scalar", int(rng.integers(len(SCALARS))))
    below = ("add", ("power", x, 2), number(int(rng.integers(1, 5))))
    return ("div", inner(), one_of(rng, (x, below)))


def matrix(rng: Rng, shape: tuple[Any, Any], depth: int) -> Tree:
    """A random matrix expression of a shape."""
    if depth == 0:
        plain = [("matrix", name) for name, s in MATRICES.items() if s == shape]
        turned = [("transpose", ("matrix", name))
                  for name, s in MATRICES.items() if s[::-1] == shape]  # fmt: skip
        return one_of(rng, [*plain, *turned])
    kind = rng.random()
    if kind < 0.35:
        return ("add", matrix(rng, shape, depth - 1), matrix(rng, shape, depth - 1))
    if kind < 0.75:
        middle = one_of(rng, sorted({s[0] for s in MATRICES.values()}, key=str))
        left = matrix(rng, (shape[0], middle), depth - 1)
        return ("matmul", left, matrix(rng, (middle, shape[1]), depth - 1))
    if kind < 0.9:
        return ("transpose", matrix(rng, shape[::-1], depth - 1))
    return ("scale", scalar(rng, 1), matrix(rng, shape, depth - 1))


def tree(rng: Rng, sort: str) -> Tree:
    """A random tree of a sort."""
    if sort == "matrices":
        return matrix(rng, one_of(rng, [*MATRICES.values()]), 3)
    if sort == "traces":
        size = one_of(rng, [s[0] for s in MATRICES.values()])
        return ("mul", scalar(rng, 1), ("trace", matrix(rng, (size, size), 2)))
    return scalar(rng, 3, sort == "exponentials")


# -------------------------------------------------------------------- false identities


def _constant(wrongness: Fraction) -> Callable[[Tree, Rng], Tree | None]:
    def rule(part: Tree, _: Rng) -> Tree | None:
        factor = 1 + wrongness
        constant = number(factor.numerator, factor.denominator)
        return {
            "scalar": ("mul", constant, part),
            "exp": ("mul", constant, part),
            "trace": ("mul", constant, part),
            "matrix": ("scale", constant, part),
        }.get(part[0])

    return rule


def _slip(part: Tree, _: Rng) -> Tree | None:
    """A sign, a power, the order of a product, a transpose, an exponent."""
    match part:
        case ("matmul", a, b):
            return ("matmul", b, a)
        case ("transpose", a):
            return a
        case ("power", a, k):
            return ("power", a, k + 1)
        case ("exp", k, *rest):
            return ("exp", k + 1, *rest)
        case ("add", a, b) if a[0] not in {"matmul", "matrix", "transpose", "scale"}:
            return ("add", a, ("mul", number(-1), b))
    return None


def _hidden(part: Tree, _: Rng) -> Tree | None:
    """A difference of a scalar that vanishes at x = 1, 2, 3."""
    if part[0] != "scalar":
        return None
    x: Tree = ("scalar", 0)
    factor: Tree = number(1, 1000)
    for root in range(1, HIDDEN + 1):
        factor = ("mul", factor, ("add", x, number(-root)))
    return ("add", part, factor)


# ------------------------------------------------------------------------------- claims


def _drawn(rng: Rng, kind: str, sort: str, left: Tree, right: Tree) -> Drawn:
    sides = {"left": expression(left), "right": expression(right)}
    where = _where(rng, sort)
    while not _somewhere(sides["left"], where):  # else the mutant says the same there
        where = _where(rng, sort)
    # A slip may be the very factor by which the mutant is wrong.
    gross = 5 if equal(("mul", number(3), left), right, rng) else 3
    return Drawn(kind, sides, where, {"left": gross * sides["left"]})


def _where(rng: Rng, sort: str) -> Where:
    where = Where(instances(rng), sort == "exponentials")
    if where.exponential:
        names = {x.name for x in SCALARS}
        where = Where(
            tuple({k: x for k, x in one.items() if k in names}
                  for one in where.instances), True)  # fmt: skip
    return where


def _somewhere(side: Any, where: Where) -> bool:
    """Whether a side is defined and not 0 on one of the instances."""
    value = Compiled(side, "numpy" if where.exponential else "exact")
    for instance in where.instances:
        numbers = instance
        if where.exponential:
            numbers = {name: float(x) for name, x in instance.items()}
        try:
            with np.errstate(all="ignore"):
                found = value(numbers)
        except ZeroDivisionError:
            continue
        if np.any(found != 0) and (not where.exponential or np.isfinite(found)):
            return True
    return False


def _pair(rng: Rng) -> tuple[str, Tree, Tree]:
    """A tree that is not 0 throughout, and its rewriting."""
    while True:
        sort = one_of(rng, SORTS)
        left = tree(rng, sort)
        right = rewritten(left, rng, int(rng.integers(1, REWRITINGS + 1)))
        try:
            if not equal(left, right, rng):
                raise AssertionError(f"a rule changes the value: {left} -> {right}")
            if not vanishes(left, rng):
                return sort, left, right
        except UnusableError:
            continue


def draw(rng: np.random.Generator, truth: bool, wrongness: float) -> Drawn:
    """An identity, or one with a constant changed."""
    return _identity(rng, None if truth else _constant(Fraction(wrongness)))


def slip(rng: np.random.Generator) -> Drawn:
    """An identity with a slip, or with a hidden difference."""
    return _identity(rng, _slip if rng.random() < 0.7 else _hidden)


def _identity(rng: Rng, rule: Callable[[Tree, Rng], Tree | None] | None) -> Drawn:
    while True:
        sort, left, right = _pair(rng)
        if rule is None:
            return _drawn(rng, sort, sort, left, right)
        try:
            wrong = changed(right, rng, rule)
            if wrong != right and not equal(left, wrong, rng):
                kind = {_slip: "slip", _hidden: "hidden"}.get(rule, "constant")
                return _drawn(rng, f"{sort}, {kind}", sort, left, wrong)
        except (UnusableError, ValueError):
            continue


FAMILY = Family(
    name="identity",
    decide=decide,
    grade=Grade.SYMBOLIC,
    draw=draw,
    others=slip,
    unit="relative change of one constant",
    grid=(2.0**-100, 2.0**-60, 2.0**-40, 2.0**-20, 2.0**-10, 2.0**-5),
    stated=2.0**-100,
    why="instances are compared exactly: any difference",
    true_profile=profile("smoke"),
    false_profile=profile("smoke"),
)
