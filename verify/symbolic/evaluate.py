"""The proved expression as a function of numbers.

The generated code is a literal transcription of the expression, through sympy's
``lambdify`` and the printer below: nothing is simplified or reordered on the way,
except that index sums which are matrix products are written as such.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, TypeAlias

import sympy as sp
from sympy.core.symbol import Str
from sympy.functions.elementary.piecewise import ExprCondPair
from sympy.matrices.expressions.matexpr import MatrixElement
from sympy.printing.numpy import NumPyPrinter

from verify.symbolic.backends import Backend, Exact, Numpy, Torch
from verify.symbolic.errors import SymbolicError
from verify.symbolic.proof import check_shapes
from verify.symbolic.scalars import is_divisor, is_matrix, split_fraction
from verify.symbolic.shapes import Signature, require_names, signature
from verify.symbolic.text import contract_sums

Evaluator: TypeAlias = Callable[[Mapping[str, Any]], Any]

_BACKENDS: Mapping[str, type[Exact | Numpy | Torch]] = {
    "exact": Exact,
    "numpy": Numpy,
    "torch": Torch,
}
_SUPPORTED = (
    *(sp.Symbol, sp.Number, sp.NumberSymbol, sp.Add, sp.Mul, sp.Pow, Str, sp.Tuple),
    *(sp.exp, sp.log, sp.Abs, sp.Max, sp.Min, sp.Piecewise, ExprCondPair),
    *(sp.core.relational.Relational, sp.And, sp.Or, sp.logic.boolalg.BooleanAtom),
    *(sp.MatrixSymbol, sp.MatAdd, sp.MatMul, sp.MatPow, sp.Transpose, sp.Trace),
    *(
        sp.OneMatrix,
        sp.ZeroMatrix,
        sp.Identity,
        sp.HadamardProduct,
        sp.HadamardPower,
        sp.Sum,
    ),
    MatrixElement,
)


def evaluator(
    expr: sp.Basic, backend: Literal["exact", "numpy", "torch"] = "numpy"
) -> Evaluator:
    """Turn an expression into a function of arrays.

    The function takes a mapping from the names of matrices and symbols to values.
    Matrices are arrays of at least two axes; leading axes are runs and broadcast
    with each other and with batched scalars. Dimensions are inferred from the shapes;
    one that is in no shape must be given as an integer.

    * ``exact`` takes int and Fraction, alone or in arrays of objects, and returns
      Fraction. Only rational operations are possible.
    * ``numpy`` keeps the floating type of the arrays; other numbers are converted.
    * ``torch`` keeps type and device of the tensors and is differentiable.

    Args:
        expr: A scalar or a matrix expression.
        backend: Where to compute.

    Returns:
        The function. It raises `SymbolicError` on missing or unknown names and on
        dimensions that disagree.

    Raises:
        SymbolicError: If the back-end or a part of the expression is unsupported.

    >>> from fractions import Fraction
    >>> n = sp.Symbol("n", integer=True, positive=True)
    >>> x = sp.MatrixSymbol("x", n, 1)
    >>> mean = evaluator((x.T * x)[0, 0] / n, "exact")
    >>> mean({"x": [[1], [2], [Fraction(1, 2)]]})
    Fraction(7, 4)
    """
    if backend not in _BACKENDS:
        known = ", ".join(_BACKENDS)
        raise SymbolicError(f"no back-end {backend!r}; there are {known}")
    expr = contract_sums(sp.sympify(expr))
    check_shapes(expr)
    _check_supported(expr)
    code = sp.lambdify(
        [sp.Symbol("_ops"), sp.Symbol("_x")],
        expr,
        modules=[{}],
        printer=_Printer(exact=backend == "exact"),
        docstring_limit=0,  # printing the expression again takes most of the time
    )
    return partial(_evaluate, code, signature(expr), _BACKENDS[backend])


def _evaluate(
    code: Callable[[Backend, Mapping[str, Any]], Any],
    names: Signature,
    backend: type[Exact | Numpy | Torch],
    inputs: Mapping[str, Any],
) -> Any:
    known = names.required | set(names.dimensions)
    require_names(names.required, inputs, known)
    counts = names.counts(inputs)
    ops = backend({k: v for k, v in inputs.items() if k not in counts})
    shapes = {name: _last_axes(name, ops.inputs[name]) for name in names.matrices}
    for symbol, size in names.sizes(shapes, counts).items():
        ops.inputs[symbol.name] = ops.dimension(size)
    return ops.finish(code(ops, ops.inputs))


def _last_axes(name: str, value: Any) -> tuple[int, int]:
    shape = tuple(getattr(value, "shape", ()))
    if len(shape) < 2:
        raise SymbolicError(
            f"{name} is a matrix and needs at least two axes; its shape is {shape}"
        )
    return int(shape[-2]), int(shape[-1])


def _check_supported(expr: Any) -> None:
    for part in sp.preorder_traversal(expr):
        odd = (isinstance(part, sp.MatPow) and not part.exp.is_Integer) or (
            isinstance(part, sp.Number) and not part.is_finite
        )
        if odd or not isinstance(part, _SUPPORTED):
            raise SymbolicError(
                f"cannot evaluate {type(part).__name__} in {expr}: {part} has no "
                "transcription in numpy, torch and rationals"
            )


class _Printer(NumPyPrinter):  # type: ignore[misc]
    """Python code that reads its inputs from ``_x`` and computes through ``_ops``."""

    def __init__(self, *, exact: bool) -> None:
        super().__init__({"fully_qualified_modules": False, "inline": True})
        self._exact = exact
        self._bound: dict[Any, str] = {}
        self._count = 0

    def _print(self, expr: Any, **kwargs: Any) -> str:
        closed = isinstance(expr, sp.Expr) and not is_matrix(expr)
        if closed and not expr.atoms(sp.Symbol, sp.MatrixExpr):
            return self._constant(expr)
        return str(super()._print(expr, **kwargs))

    def _constant(self, expr: Any) -> str:
        if expr.is_Integer and (self._exact or abs(expr) < 2**53):
            return f"({int(expr)})"
        if self._exact and expr.is_Rational:
            return f"_ops.fraction({int(expr.p)}, {int(expr.q)})"
        if self._exact:
            raise SymbolicError(f"the constant {expr} is not an exact rational")
        if expr.is_Rational:
            return f"({int(expr.p) / int(expr.q)!r})"
        return f"({float(expr.evalf(40))!r})"

    def _join(self, mark: str, parts: Any) -> str:
        return "(" + mark.join(map(self._print, parts)) + ")"

    def _irrational(self, name: str, value: Any) -> str:
        if self._exact:
            raise SymbolicError(f"{name}({value}) is not a rational operation")
        return f"_ops.call({name!r}, {self._print(value)})"

    def _print_Symbol(self, expr: Any) -> str:
        return self._bound.get(expr) or f"_x[{expr.name!r}]"

    def _print_MatrixSymbol(self, expr: Any) -> str:
        return self._print_Symbol(expr)

    def _print_Add(self, expr: Any, **_: Any) -> str:
        return self._join(" + ", expr.args)

    def _print_MatAdd(self, expr: Any) -> str:
        return self._join(" + ", expr.args)

    def _print_HadamardProduct(self, expr: Any) -> str:
        return self._join(" * ", expr.args)

    def _print_HadamardPower(self, expr: Any) -> str:
        return f"_ops.power({self._print(expr.base)}, {self._print(expr.exp)})"

    def _print_Mul(self, expr: Any) -> str:
        if not any(map(is_divisor, expr.args)):
            return self._join(" * ", expr.args)
        return self._join(" / ", split_fraction(expr))

    def _print_Pow(self, expr: Any, **_: Any) -> str:
        if is_divisor(expr):
            return self._join(" / ", (sp.S.One, 1 / expr))
        if expr.exp == sp.S.Half:
            return self._irrational("sqrt", expr.base)
        return f"_ops.power({self._print(expr.base)}, {self._print(expr.exp)})"

    def _print_exp(self, expr: Any) -> str:
        return self._irrational("exp", expr.args[0])

    def _print_log(self, expr: Any) -> str:
        return self._irrational("log", expr.args[0])

    def _print_Abs(self, expr: Any) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _print_Max(self, expr: Any) -> str:
        return f"_ops.extreme('maximum', {', '.join(map(self._print, expr.args))})"

    def _print_Min(self, expr: Any) -> str:
        return f"_ops.extreme('minimum', {', '.join(map(self._print, expr.args))})"

    def _print_Piecewise(self, expr: Any) -> str:
        code = "float('nan')"
        for value, condition in reversed(expr.args):
            if condition is sp.true:
                code = self._print(value)
                continue
            test = self._print(condition)
            code = f"_ops.choose({test}, {self._print(value)}, {code})"
        return code

    def _print_Relational(self, expr: Any) -> str:
        left, right = map(self._print, expr.args)
        return f"({left} {expr.rel_op} {right})"

    def _print_And(self, expr: Any) -> str:
        return self._join(" & ", expr.args)

    def _print_Or(self, expr: Any) -> str:
        return self._join(" | ", expr.args)

    def _print_MatMul(self, expr: Any) -> str:
        scalars = [part for part in expr.args if not is_matrix(part)]
        matrices = [part for part in expr.args if is_matrix(part)]
        code = self._join(" @ ", matrices)
        if not scalars:
            return code
        return f"(_ops.lift({self._print(sp.Mul(*scalars))}) * {code})"

    def _print_MatPow(self, expr: Any) -> str:
        return f"_ops.matrix_power({self._print(expr.base)}, {int(expr.exp)})"

    def _print_Inverse(self, expr: Any) -> str:
        return self._print_MatPow(expr)

    def _print_Transpose(self, expr: Any) -> str:
        return f"_ops.transpose({self._print(expr.arg)})"

    def _print_Trace(self, expr: Any) -> str:
        return f"_ops.trace({self._print(expr.arg)})"

    def _print_MatrixElement(self, expr: Any) -> str:
        return f"_ops.entry({', '.join(map(self._print, expr.args))})"

    def _print_OneMatrix(self, expr: Any) -> str:
        return f"_ops.ones({', '.join(map(self._print, expr.shape))})"

    def _print_ZeroMatrix(self, expr: Any) -> str:
        return f"_ops.zeros({', '.join(map(self._print, expr.shape))})"

    def _print_Identity(self, expr: Any) -> str:
        return f"_ops.eye({self._print(expr.shape[0])})"

    def _print_Sum(self, expr: Any) -> str:
        for index, *_ in expr.limits:
            self._count += 1
            self._bound[index] = f"_k{self._count}"
        code = self._print(expr.function)
        for index, low, high in expr.limits:
            name = self._bound.pop(index)
            code = f"lambda {name}: {code}, {self._print(low)}, {self._print(high)}"
            code = f"_ops.total({code})"
        return code
