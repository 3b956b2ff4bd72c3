"""Deciding an identity: proved for all sizes, or refuted by an exact instance."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
import sympy as sp

from verify.outcome import Holds, Inconclusive, Outcome, Refuted
from verify.search import Search
from verify.symbolic.evaluate import Evaluator, evaluator
from verify.symbolic.proof import Proof, prove_equal
from verify.symbolic.shapes import signature
from verify.symbolic.text import contract_sums
from verify.symbolic.witness import formula
from verify.verdict import Cause

Instance = Mapping[str, Any]
Backend = Literal["exact", "numpy", "torch"]
POLE = "a side divides by zero"


class Compiled:
    """An expression as a function of instances that may name more than it needs.

    Args:
        expr: A scalar or a matrix expression.
        backend: ``exact``, ``numpy`` or ``torch``.
    """

    def __init__(self, expr: sp.Basic, backend: Backend) -> None:
        self._function: Evaluator = evaluator(expr, backend)
        self._names = _names(expr)

    def __call__(self, instance: Instance) -> Any:
        """Evaluate on arrays and numbers by name; others are passed over."""
        return self._function({
            name: x for name, x in instance.items() if name in self._names
        })


@lru_cache(maxsize=1024)  # a claim and its mutants share a side
def _exact(expr: sp.Basic) -> Compiled:
    return Compiled(expr, "exact")


def _names(expr: sp.Basic) -> frozenset[str]:
    """What an expression reads: its inputs, and sizes that stand in no shape."""
    names = signature(contract_sums(expr))
    in_shapes = {
        size.name
        for matrix in names.matrices.values()
        for size in matrix.shape
        if size.is_Symbol
    }
    return frozenset(names.required) | (names.dimensions.keys() - in_shapes)


def evaluate(expr: sp.Basic, instance: Instance, backend: Backend) -> Any:
    """Evaluate an expression once, on an instance that may name more than it needs.

    Args:
        expr: A scalar or a matrix expression.
        instance: Arrays and numbers by name.
        backend: ``exact``, ``numpy`` or ``torch``.

    Returns:
        The value, as :func:`verify.symbolic.evaluator` gives it.

    >>> a, b = sp.symbols("a b")
    >>> evaluate(a / 3, {"a": 2, "b": 5}, "exact")
    Fraction(2, 3)
    """
    return Compiled(expr, backend)(instance)


@dataclass(frozen=True)
class Identity:
    """Two sides that should be equal, whatever the sizes and the values.

    Attributes:
        left: One side.
        right: The other side.
        says: What a difference between them means, for witnesses.

    >>> n = sp.Symbol("n", integer=True, positive=True)
    >>> x = sp.MatrixSymbol("x", n, 1)
    >>> one, two = {"x": [[1]]}, {"x": [[1], [2]]}
    >>> norm = (x.T * x)[0, 0]
    >>> Identity(norm, sp.Trace(x * x.T)).decide([one]).verdict.value
    'HOLDS'
    >>> Identity(norm, x[0, 0] ** 2).decide([one, two]).verdict.value
    'REFUTED'
    """

    left: sp.Basic
    right: sp.Basic
    says: str = "the two sides differ"

    @cached_property
    def _sides(self) -> tuple[Compiled, Compiled]:
        return _exact(sp.sympify(self.left)), _exact(sp.sympify(self.right))

    def violated(self, instance: Instance) -> bool:
        """Whether the sides differ on an exact instance.

        Where a side divides by zero the identity says nothing: :meth:`decide` and
        :meth:`search` count such instances as discards.

        Args:
            instance: Fractions and object arrays of them, by name; names that neither
                side reads are passed over.

        Returns:
            Whether any entry differs.

        Raises:
            ZeroDivisionError: A side divides by zero on the instance.
        """
        instance = padded(instance)
        left, right = (np.asarray(side(instance)) for side in self._sides)
        return bool(np.any(left != right))

    def witness(self, instance: Instance) -> dict[str, Any]:
        """Record that the sides differ on an exact instance."""
        return formula(self.left, "!=", self.right, padded(instance), self.says)

    def certificate(self, instance: Instance) -> dict[str, Any]:
        """Record that the sides are equal on an exact instance."""
        says = "an exact instance of the identity"
        return formula(self.left, "==", self.right, padded(instance), says)

    def search(self, search: Search, instances: Any, **options: Any) -> Outcome:
        """Hunt for an exact instance on which the sides differ.

        Args:
            search: The engine's search.
            instances: A Hypothesis strategy of instances.
            **options: Passed on to :meth:`verify.search.Search.for_all`.

        Returns:
            HOLDS, or REFUTED with the smallest instance.
        """

        def violated(instance: Instance) -> bool:
            try:
                return self.violated(instance)
            except ZeroDivisionError:
                search.discard(POLE)
                raise

        return search.for_all(instances, violated, self.witness, **options)

    def decide(self, instances: Iterable[Instance]) -> Outcome:
        """Refute the identity on one of the instances, or prove it for all sizes.

        An instance is decided in a fraction of the time that a proof takes, and where
        the sides differ there is none.

        Args:
            instances: Exact instances, smallest first; the last is recorded as a
                certificate of a proof.

        Returns:
            HOLDS with the steps of the proof, REFUTED with a witness, or INCONCLUSIVE
            with the residual that was left.
        """
        judged: list[Instance] = []
        discards: Counter[str] = Counter()
        for instance in instances:
            try:
                differs = self.violated(instance)
            except ZeroDivisionError:
                discards[POLE] += 1
                continue
            judged.append(instance)
            if differs:
                return Refuted(
                    self.says,
                    witness=self.witness(instance),
                    n=len(judged),
                    discards=discards,
                )
        proof: Proof = prove_equal(self.left, self.right)
        if proof.proved:
            where = ", wherever neither divides by zero" if discards else ""
            return Holds(
                f"the difference of both sides is zero for all sizes{where}",
                steps=proof.steps,
                certificate=self.certificate(judged[-1]) if judged else None,
                discards=discards,
            )
        return Inconclusive(
            f"residual {proof.residual} did not vanish, and {len(judged)} exact "
            "instances show no difference",
            cause=Cause.NO_PROOF,
            discards=discards,
        )


def padded(instance: Instance) -> dict[str, Any]:
    """Write an empty block of columns as one column of zeros, which adds nothing.

    Records hold no empty matrices; a token without value and without features
    contributes to no sum.

    Args:
        instance: Arrays and numbers by name.

    Returns:
        The same with ``m x 0`` arrays replaced by ``m x 1`` zeros.

    >>> padded({"x": np.zeros((2, 0))})["x"].tolist()
    [[0], [0]]
    """
    return {
        name: np.zeros((value.shape[0], 1), dtype=object)
        if getattr(value, "ndim", 0) == 2 and value.shape[1] == 0
        else value
        for name, value in instance.items()
    }
