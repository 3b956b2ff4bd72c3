"""Arithmetic behind an evaluated expression: exact rationals, numpy or torch.

Each back-end offers the same few operations to the generated code. Leading axes are
runs and broadcast; the last two axes of a matrix are its rows and columns. Plain
Python numbers stay weak, so that constants never widen float32 data.
"""

import importlib
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import sympy as sp

from verify.symbolic.errors import SymbolicError


class Backend:
    """What the back-ends share; `xp` is the array module, numpy or torch.

    Attributes:
        xp: The array module.
        inputs: The inputs, converted, by name; dimensions are added to them.
    """

    xp: Any = np
    inputs: dict[str, Any]

    def lift(self, value: Any) -> Any:
        """Give a batched scalar two axes, so that it multiplies matrices."""
        return value[..., None, None] if getattr(value, "ndim", 0) else value

    def entry(self, matrix: Any, i: Any, j: Any) -> Any:
        """Read one entry of every run."""
        return matrix[..., int(i), int(j)]

    def transpose(self, matrix: Any) -> Any:
        """Swap rows and columns."""
        return matrix.swapaxes(-1, -2)

    def trace(self, matrix: Any) -> Any:
        """Add up the diagonal of every run."""
        return np.trace(matrix, axis1=-2, axis2=-1)

    def inverse(self, matrix: Any) -> Any:
        """Invert a square matrix."""
        return self.xp.linalg.inv(matrix)

    def matrix_power(self, matrix: Any, exponent: int) -> Any:
        """Multiply a matrix with itself."""
        base = matrix if exponent > 0 else self.inverse(matrix)
        return reduce(lambda a, b: a @ b, [base] * abs(exponent))

    def power(self, base: Any, exponent: Any) -> Any:
        """Raise a scalar to a power."""
        return base**exponent

    def total(self, body: Callable[[int], Any], low: Any, high: Any) -> Any:
        """Add up what no matrix product expresses."""
        return sum(map(body, range(int(low), int(high) + 1)))

    def dimension(self, size: int) -> Any:
        """Turn a dimension into a number."""
        return size

    def call(self, name: str, value: Any) -> Any:
        """Apply exp, log or sqrt; to a Python number without making an array."""
        weak = isinstance(value, int | float)
        return getattr(math if weak else self.xp, name)(value)

    def extreme(self, name: str, *values: Any) -> Any:
        """Take the maximum or minimum."""
        return reduce(getattr(self.xp, name), values)

    def choose(self, condition: Any, value: Any, otherwise: Any) -> Any:
        """Choose run by run; both values are computed."""
        if isinstance(condition, bool):
            return value if condition else otherwise
        return self.xp.where(condition, value, otherwise)


class Numpy(Backend):
    """numpy arrays in the common floating type of the inputs."""

    def __init__(self, inputs: Mapping[str, Any]) -> None:
        arrays = {name: np.asarray(value) for name, value in inputs.items()}
        types = [
            one.dtype
            for one in arrays.values()
            if one.ndim and np.issubdtype(one.dtype, np.inexact)
        ]
        self.dtype = np.result_type(*types) if types else np.dtype(np.float64)
        self.inputs = {name: self._convert(one) for name, one in arrays.items()}

    def _convert(self, array: Any) -> Any:
        keep = array.ndim and np.issubdtype(array.dtype, np.inexact)
        return array if keep else array.astype(self.dtype)

    def ones(self, rows: Any, columns: Any) -> Any:
        """Make a matrix of ones."""
        return np.ones((int(rows), int(columns)), self.dtype)

    def zeros(self, rows: Any, columns: Any) -> Any:
        """Make a zero matrix."""
        return np.zeros((int(rows), int(columns)), self.dtype)

    def eye(self, size: Any) -> Any:
        """Make an identity matrix."""
        return np.eye(int(size), dtype=self.dtype)

    def finish(self, result: Any) -> Any:
        """Hand out an array."""
        weak = isinstance(result, int | float)
        return np.asarray(result, self.dtype if weak else None)


class Exact(Backend):
    """Object arrays of `fractions.Fraction`; nothing is ever rounded."""

    def __init__(self, inputs: Mapping[str, Any]) -> None:
        self.inputs = {name: _fractions(name, one) for name, one in inputs.items()}

    def fraction(self, p: int, q: int) -> Fraction:
        """Make a rational constant."""
        return Fraction(p, q)

    def dimension(self, size: int) -> Any:
        """Turn a dimension into a number that divides exactly."""
        return Fraction(size)

    def ones(self, rows: Any, columns: Any) -> Any:
        """Make a matrix of ones."""
        return np.full((int(rows), int(columns)), Fraction(1), object)

    def zeros(self, rows: Any, columns: Any) -> Any:
        """Make a zero matrix."""
        return np.full((int(rows), int(columns)), Fraction(0), object)

    def eye(self, size: Any) -> Any:
        """Make an identity matrix."""
        return self.zeros(size, size) + np.eye(int(size), dtype=int)

    def inverse(self, matrix: Any) -> Any:
        """Invert over the rationals."""
        flat = matrix.reshape(-1, *matrix.shape[-2:])
        inverses = [sp.Matrix(one).inv() for one in flat]
        entries = [Fraction(int(x.p), int(x.q)) for one in inverses for x in one]
        result = np.empty(len(entries), object)
        result[:] = entries
        return result.reshape(matrix.shape)

    def power(self, base: Any, exponent: Any) -> Any:
        """Raise to an integer power."""
        return np.frompyfunc(_exact_power, 2, 1)(base, exponent)

    def finish(self, result: Any) -> Any:
        """Hand out a Fraction or an object array of Fractions."""
        array = np.asarray(result, object)
        for one in array.flat:
            if not isinstance(one, Fraction | int):
                raise SymbolicError(f"{one!r} in an exact result is not exact")
        result = np.frompyfunc(Fraction, 1, 1)(array)
        return result[()] if isinstance(result, np.ndarray) else result


class Torch(Backend):
    """torch tensors in the type and on the device of the inputs; differentiable."""

    def __init__(self, inputs: Mapping[str, Any]) -> None:
        self.xp = importlib.import_module("torch")
        main = {
            name: one
            for name, one in inputs.items()
            if self.xp.is_tensor(one) and one.ndim and one.is_floating_point()
        }
        kinds = {(one.dtype, one.device): name for name, one in main.items()}
        if len(kinds) > 1:
            listed = ", ".join(f"{n} is {t} on {d}" for (t, d), n in kinds.items())
            raise SymbolicError(f"tensors differ in type or device: {listed}")
        first = next((one for one in inputs.values() if self.xp.is_tensor(one)), None)
        device = first.device if first is not None else None
        self.dtype, self.device = next(iter(kinds), (self.xp.float64, device))
        self.inputs = {name: self._convert(one) for name, one in inputs.items()}

    def _convert(self, value: Any) -> Any:
        if not self.xp.is_tensor(value):
            value = self.xp.as_tensor(np.asarray(value).astype(np.float64))
        return value.to(dtype=self.dtype, device=self.device)

    def _tensor(self, value: Any) -> Any:
        return self.xp.as_tensor(value, dtype=self.dtype, device=self.device)

    def ones(self, rows: Any, columns: Any) -> Any:
        """Make a matrix of ones."""
        shape = (int(rows), int(columns))
        return self.xp.ones(shape, dtype=self.dtype, device=self.device)

    def zeros(self, rows: Any, columns: Any) -> Any:
        """Make a zero matrix."""
        return 0 * self.ones(rows, columns)

    def eye(self, size: Any) -> Any:
        """Make an identity matrix."""
        return self.xp.eye(int(size), dtype=self.dtype, device=self.device)

    def trace(self, matrix: Any) -> Any:
        """Add up the diagonal of every run."""
        return matrix.diagonal(dim1=-2, dim2=-1).sum(-1)

    def extreme(self, name: str, *values: Any) -> Any:
        """Take the maximum or minimum."""
        return super().extreme(name, *map(self._tensor, values))

    def finish(self, result: Any) -> Any:
        """Hand out a tensor."""
        return result if self.xp.is_tensor(result) else self._tensor(result)


def _fractions(name: str, value: Any) -> Any:
    array = np.asarray(value, object)
    result = np.empty(array.shape, object)
    for place, one in np.ndenumerate(array):
        result[place] = as_fraction(name, one)
    return result if array.ndim else result[()]


def as_fraction(name: str, value: Any) -> Fraction:
    """Convert an exact number.

    Args:
        name: The input it belongs to, for the message.
        value: An int, a Fraction or a sympy Rational.

    Returns:
        The same number.

    Raises:
        SymbolicError: If the number is of any other type.
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, int | np.integer):
        return Fraction(int(value))
    if isinstance(value, sp.Rational):
        return Fraction(int(value.p), int(value.q))
    raise SymbolicError(
        f"{name} holds {value!r} of type {type(value).__name__}; exact evaluation "
        "takes int and Fraction only"
    )


def _exact_power(base: Fraction, exponent: Fraction | int) -> Fraction:
    whole = Fraction(exponent)
    if whole.denominator != 1:
        raise SymbolicError(f"{base} ** {exponent} is not a rational operation")
    return Fraction(base) ** whole.numerator
