"""Max-margin problems, solved exactly, with certificates that anyone can recheck.

`order_margin` solves difference constraints on tokens in rationals; `solve` any problem
min |x|²/2 subject to A x >= b, numerically and then exactly; `frobenius` a matrix
problem with given embeddings in floating point; `cross_check` asks a second solver.
"""

from verify.max_margin.exact import Exact, InfeasibleError, minimise
from verify.max_margin.orders import (
    Block,
    CycleError,
    OrderMargin,
    matrix_certificate,
    order_margin,
)
from verify.max_margin.records import kkt
from verify.max_margin.solvers import (
    CrossCheck,
    Margin,
    MatrixMargin,
    Numerical,
    Residuals,
    cross_check,
    frobenius,
    numerical,
    solve,
)

__all__ = [
    "Block",
    "CrossCheck",
    "CycleError",
    "Exact",
    "InfeasibleError",
    "Margin",
    "MatrixMargin",
    "Numerical",
    "OrderMargin",
    "Residuals",
    "cross_check",
    "frobenius",
    "kkt",
    "matrix_certificate",
    "minimise",
    "numerical",
    "order_margin",
    "solve",
]
