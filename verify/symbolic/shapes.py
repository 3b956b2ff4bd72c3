"""Which inputs an expression needs, and what their shapes say about dimensions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import sympy as sp

from verify.symbolic.errors import SymbolicError


@dataclass(frozen=True)
class Signature:
    """The names an expression reads.

    Attributes:
        matrices: Matrix symbols by name.
        scalars: Scalar symbols by name, dimensions excepted.
        dimensions: Dimension symbols by name: those in the shape of some matrix.
    """

    matrices: Mapping[str, Any]
    scalars: Mapping[str, Any]
    dimensions: Mapping[str, Any]

    def inferred(self) -> set[str]:
        """Name the dimensions that stand alone in the shape of an input.

        Returns:
            Names of dimension symbols that need not be given.
        """
        axes = [size for one in self.matrices.values() for size in one.shape]
        return {size.name for size in axes if size.is_Symbol}

    @property
    def required(self) -> set[str]:
        """Names that must be given: dimensions only if no input's shape shows them."""
        axes = [size for one in self.matrices.values() for size in one.shape]
        inferred = {size.name for size in axes if size.is_Symbol}
        return {*self.matrices, *self.scalars, *(self.dimensions.keys() - inferred)}

    def counts(self, inputs: Mapping[str, Any]) -> dict[str, int]:
        """Pick the dimensions among the inputs.

        Args:
            inputs: Values by name.

        Returns:
            The dimensions given as numbers.

        Raises:
            SymbolicError: If one is no count.
        """
        found = {}
        for name in sorted(self.dimensions.keys() & inputs.keys()):
            found[name] = count = int(inputs[name])
            if count != inputs[name] or count < 0:
                raise SymbolicError(
                    f"dimension {name} must be an integer >= 0, not {inputs[name]!r}"
                )
        return found

    def sizes(
        self, shapes: Mapping[str, tuple[int, ...]], given: Mapping[str, int]
    ) -> dict[sp.Symbol, int]:
        """Infer every dimension from the shapes of the inputs.

        Args:
            shapes: Last two axes of each matrix, by name.
            given: Dimensions given as numbers, by name.

        Returns:
            An integer for every dimension symbol.

        Raises:
            SymbolicError: If two inputs disagree, naming both, or if a dimension
                cannot be inferred.
        """
        found = {name: (n, f"the input {name} = {n}") for name, n in given.items()}
        axes = [
            (dimension, size, f"{name} of shape {shapes[name]}")
            for name, matrix in self.matrices.items()
            for dimension, size in zip(matrix.shape, shapes[name], strict=True)
        ]
        for dimension, size, where in axes:
            if dimension.is_Symbol:
                known, origin = found.setdefault(dimension.name, (size, where))
                _agree(dimension, known, origin, size, where)
        if lost := sorted(self.dimensions.keys() - found.keys()):
            raise SymbolicError(
                f"dimension {lost[0]} is in the shape of no input; give it as a number "
                "among the inputs"
            )
        sizes = {self.dimensions[name]: n for name, (n, _) in found.items()}
        for dimension, size, where in axes:
            if dimension.is_Symbol:
                continue  # compared above
            value = int(dimension if dimension.is_Integer else dimension.subs(sizes))
            _agree(dimension, value, "the other inputs", size, where)
        return sizes


@lru_cache(maxsize=1024)
def signature(*expressions: sp.Basic) -> Signature:
    """Collect the names that expressions read.

    Args:
        expressions: Scalars or matrix expressions.

    Returns:
        Matrices, scalars and dimensions by name.

    Raises:
        SymbolicError: If two different symbols share a name.

    >>> n = sp.Symbol("n", integer=True)
    >>> one = signature(sp.MatrixSymbol("x", n, 1) * sp.Symbol("eta") / n)
    >>> [*one.matrices, *one.scalars, *one.dimensions]
    ['x', 'eta', 'n']
    """
    dimensions: set[Any] = set()
    symbols: set[Any] = set()
    matrices: set[Any] = set()
    for expr in expressions:
        bound = {limit[0] for total in expr.atoms(sp.Sum) for limit in total.limits}
        matrices |= expr.atoms(sp.MatrixSymbol)
        symbols |= expr.atoms(sp.Symbol) - bound
        for matrix in expr.atoms(sp.MatrixExpr):
            dimensions |= set().union(*(size.free_symbols for size in matrix.shape))
    _unique(matrices | symbols | dimensions)
    return Signature(_named(matrices), _named(symbols - dimensions), _named(dimensions))


def require_names(needed: Iterable[str], given: Iterable[str], known: set[str]) -> None:
    """Compare the names given with those that are needed.

    Args:
        needed: Names without which nothing can be computed.
        given: Names of the inputs.
        known: Names that may be given.

    Raises:
        SymbolicError: Naming the missing and the unknown ones.
    """
    given = set(given)
    missing, unknown = sorted(set(needed) - given), sorted(given - known)
    if missing or unknown:
        parts = [f"missing inputs: {', '.join(missing)}"] if missing else []
        parts += [f"unknown inputs: {', '.join(unknown)}"] if unknown else []
        raise SymbolicError(f"{'; '.join(parts)}; known are {', '.join(sorted(known))}")


def _agree(dimension: Any, known: int, origin: str, size: int, where: str) -> None:
    if known != size:
        raise SymbolicError(
            f"dimension {dimension} is {known} in {origin} but {size} in {where}"
        )


def _named(symbols: Iterable[Any]) -> dict[str, Any]:
    return {one.name: one for one in sorted(symbols, key=lambda one: str(one.name))}


def _unique(symbols: set[Any]) -> None:
    names = sorted(one.name for one in symbols)
    if twice := [a for a, b in pairwise(names) if a == b]:
        raise SymbolicError(
            f"two different symbols are called {twice[0]} (in shape, kind or "
            "assumptions); make it once and share it"
        )
