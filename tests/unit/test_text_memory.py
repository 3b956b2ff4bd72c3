"""Printers that remember parts print what a new printer prints, in any order."""

import pytest
import sympy as sp

from verify.symbolic import text
from verify.symbolic.text import describe, plain

x, n = sp.Symbol("x"), sp.Symbol("n", integer=True, positive=True)
A = sp.MatrixSymbol("A", n, n)
EXPRESSIONS = (
    sp.Float("0.10"),
    sp.Float("0.10") + x,
    sp.Float(2),
    2.0 * x,
    sp.Integer(2) * x,
    x**-2,
    (x + 1) ** (x + 1) / (x + 1),
    sp.exp(-n * x) / (1 + sp.exp(-n * x)),
    A * A.T - sp.Identity(n),
    sp.OneMatrix(n, 1) * sp.OneMatrix(1, n) * A,
    (A + A.T)[0, 0] ** 2,
    sp.Trace(A) ** 2,
    sp.ImmutableMatrix([[x, 1], [0, x + 1]]),
    sp.Symbol("x", positive=True),
)


def printed(expr):
    return plain(expr), describe(expr)["text"], describe(expr)["latex"]


@pytest.mark.parametrize("order", [1, -1])
def test_memory_changes_nothing(monkeypatch, order):
    alone = {}
    for expr in EXPRESSIONS:
        monkeypatch.setattr(text, "_TEXT", text._Text())
        monkeypatch.setattr(text, "_LATEX", text._Latex())
        alone[expr] = printed(expr)
    together = {expr: printed(expr) for expr in (*EXPRESSIONS, *EXPRESSIONS)[::order]}
    assert together == alone
    assert len(set(alone.values())) == len(EXPRESSIONS)


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(text, "MOST", 10)
    printer = text._Text()
    sums = [x + k for k in range(30)]
    assert [printer.doprint(s) for s in sums] == [sp.sstr(s) for s in sums]
    assert 0 < len(printer._known) <= 11
