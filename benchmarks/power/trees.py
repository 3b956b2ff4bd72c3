"""Expressions whose value is known without sympy, rewritten by rules that keep it.

A tree is a tuple: an operation and its arguments. It is read twice: as a sympy
expression for the engine, and modulo a large prime for the truth. By the lemma of
Schwartz and Zippel two trees that differ agree at a random point of the field with
probability below 1e-16; exponentials are powers of random numbers there, since their
exponents are whole combinations of the variables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp

Tree = tuple[Any, ...]
PRIME = 2**61 - 1
SIZES = {"n": 4, "m": 3}  # of matrices, when the truth is decided
n, m = (sp.Symbol(name, integer=True, positive=True) for name in SIZES)
SCALARS = [sp.Symbol(name, positive=True) for name in "xyz"]
MATRICES = {
    "A": (n, n),
    "B": (n, n),
    "C": (n, m),
    "D": (m, n),
    "E": (m, m),
}
SYMBOLS = {name: sp.MatrixSymbol(name, *shape) for name, shape in MATRICES.items()}
Rng = np.random.Generator


class UnusableError(ValueError):
    """A tree divides by zero at the point that decides its truth; draw another."""


def number(value: int, below: int = 1) -> Tree:
    """A rational constant."""
    return ("number", value, below)


def one_of(rng: Rng, values: Sequence[Any]) -> Any:
    """An element."""
    return values[int(rng.integers(len(values)))]


# ------------------------------------------------------------------------------ reading


def expression(tree: Tree) -> Any:
    """The tree in sympy, as the generator wrote it."""
    op, *parts = tree
    match op:
        case "number":
            return sp.Rational(*parts)
        case "scalar":
            return SCALARS[parts[0]]
        case "matrix":
            return SYMBOLS[parts[0]]
        case "exp":
            return sp.exp(sp.Add(*(k * x for k, x in zip(parts, SCALARS, strict=True))))
        case "power":
            return expression(parts[0]) ** parts[1]
    inner = [expression(part) for part in parts]
    match op:
        case "add":
            return inner[0] + inner[1]
        case "mul" | "scale" | "matmul":
            return inner[0] * inner[1]
        case "div":
            return inner[0] / inner[1]
        case "transpose":
            return inner[0].T
        case "trace":
            return sp.Trace(inner[0])
    raise AssertionError(op)


def residue(tree: Tree, at: Mapping[Any, Any]) -> Any:
    """The value modulo the prime; matrices are arrays of integers.

    Raises:
        UnusableError: A denominator vanishes there.
    """
    op, *parts = tree
    match op:
        case "number":
            return parts[0] * _inverse(parts[1]) % PRIME
        case "scalar" | "matrix":
            return at[parts[0]]
        case "exp":
            value = 1
            for k, base in zip(parts, at["bases"], strict=True):
                value = value * pow(base, k, PRIME) % PRIME
            return value
        case "power":
            return pow(residue(parts[0], at), parts[1], PRIME)
    inner = [residue(part, at) for part in parts]
    match op:
        case "add":
            return (inner[0] + inner[1]) % PRIME
        case "mul" | "scale":
            return inner[0] * inner[1] % PRIME
        case "matmul":
            return inner[0].dot(inner[1]) % PRIME
        case "div":
            return inner[0] * _inverse(inner[1]) % PRIME
        case "transpose":
            return inner[0].T
        case "trace":
            return sum(inner[0].diagonal()) % PRIME
    raise AssertionError(op)


def _inverse(value: int) -> int:
    if value % PRIME == 0:
        raise UnusableError("a denominator vanishes")
    return pow(value, -1, PRIME)


def point(rng: Rng) -> dict[Any, Any]:
    """A random point of the field."""

    def some() -> int:
        return int(rng.integers(1, PRIME))

    sizes = {n: SIZES["n"], m: SIZES["m"]}
    at: dict[Any, Any] = {i: some() for i in range(len(SCALARS))}
    at["bases"] = [some() for _ in SCALARS]
    for name, shape in MATRICES.items():
        rows, columns = (sizes[size] for size in shape)
        at[name] = np.array([[some() for _ in range(columns)] for _ in range(rows)],
                            dtype=object)  # fmt: skip
    return at


def equal(left: Tree, right: Tree, rng: Rng) -> bool:
    """Whether two trees are equal, decided at two points of the field."""
    for _ in range(2):
        at = point(rng)
        if np.any((residue(left, at) - residue(right, at)) % PRIME):
            return False
    return True


def vanishes(tree: Tree, rng: Rng) -> bool:
    """Whether a tree is 0 everywhere."""
    return not np.any(residue(tree, point(rng)) % PRIME)


# ---------------------------------------------------------------------------- rewriting


def rewritten(tree: Tree, rng: Rng, times: int) -> Tree:
    """Apply rules that keep the value, at random places."""
    for _ in range(times):
        tree = changed(tree, rng, _rule)
    return tree


def changed(tree: Tree, rng: Rng, rule: Callable[[Tree, Rng], Tree | None]) -> Tree:
    """Apply a rule at a random place where it fits; the tree itself if at none."""
    places = [*_places(tree)]
    for at in rng.permutation(len(places)):
        found = rule(_at(tree, places[at]), rng)
        if found is not None:
            return _put(tree, places[at], found)
    return tree


def _places(tree: Tree, here: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    found = [here]
    for i, part in enumerate(tree):
        if isinstance(part, tuple):
            found += _places(part, (*here, i))
    return found


def _at(tree: Tree, place: tuple[int, ...]) -> Tree:
    for i in place:
        tree = tree[i]
    return tree


def _put(tree: Tree, place: tuple[int, ...], new: Tree) -> Tree:
    if not place:
        return new
    i = place[0]
    return (*tree[:i], _put(tree[i], place[1:], new), *tree[i + 1 :])


def _rule(tree: Tree, rng: Rng) -> Tree | None:
    """One of the rules that fit, or none."""
    found = [*_arithmetic(tree), *_words(tree)]
    if tree[0] in {"scalar", "power", "mul", "exp"} and rng.random() < 0.3:
        found.append(_inserted(tree, rng))
    return one_of(rng, found) if found else None


def _arithmetic(tree: Tree) -> list[Tree]:
    match tree:
        case ("add", a, ("add", b, c)):
            return [("add", ("add", a, b), c), ("add", ("add", a, c), b)]
        case ("add", ("div", a, b), ("div", c, d)):
            over = ("add", ("mul", a, d), ("mul", c, b))
            return [("div", over, ("mul", b, d))]
        case ("add", a, b):
            return [("add", b, a)]
        case ("mul", a, ("add", b, c)):
            return [("add", ("mul", a, b), ("mul", a, c))]
        case ("mul", ("exp", *a), ("exp", *b)):
            return [("exp", *(x + y for x, y in zip(a, b, strict=True)))]
        case ("mul", a, b):
            return [("mul", b, a)]
        case ("power", ("add", a, b), 2):
            twice = ("mul", number(2), ("mul", a, b))
            return [("add", ("power", a, 2), ("add", twice, ("power", b, 2)))]
        case ("power", a, k) if k > 1:
            return [("mul", a, ("power", a, k - 1))]
        case ("exp", *k) if any(k):
            half = [x // 2 for x in k]
            rest = [x - y for x, y in zip(k, half, strict=True)]
            return [("mul", ("exp", *half), ("exp", *rest))]
    return []


def _words(tree: Tree) -> list[Tree]:
    match tree:
        case ("matmul", a, ("add", b, c)):
            return [("add", ("matmul", a, b), ("matmul", a, c))]
        case ("matmul", ("add", a, b), c):
            return [("add", ("matmul", a, c), ("matmul", b, c))]
        case ("matmul", a, ("matmul", b, c)):
            return [("matmul", ("matmul", a, b), c)]
        case ("matmul", ("scale", s, a), b):
            return [("scale", s, ("matmul", a, b))]
        case ("scale", s, ("add", a, b)):
            return [("add", ("scale", s, a), ("scale", s, b))]
        case ("transpose", ("matmul", a, b)):
            return [("matmul", ("transpose", b), ("transpose", a))]
        case ("transpose", ("add", a, b)):
            return [("add", ("transpose", a), ("transpose", b))]
        case ("transpose", ("transpose", a)):
            return [a]
        case ("trace", ("matmul", a, b)):
            return [("trace", ("matmul", b, a))]
        case ("trace", ("add", a, b)):
            return [("add", ("trace", a), ("trace", b))]
        case ("trace", a):
            return [("trace", ("transpose", a))]
    return []


def _inserted(tree: Tree, rng: Rng) -> Tree:
    """Write t as (t u + t v)/(u + v), u and v positive, or as (t + u) - u."""
    u = ("scalar", int(rng.integers(len(SCALARS))))
    if rng.random() < 0.5:
        v = number(int(rng.integers(1, 9)))
        over = ("add", ("mul", tree, u), ("mul", tree, v))
        return ("div", over, ("add", u, v))
    return ("add", ("add", tree, u), ("mul", number(-1), u))
