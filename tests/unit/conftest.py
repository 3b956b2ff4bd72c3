"""No test leaves a precision or a default behind."""

import sys

import pytest


@pytest.fixture(autouse=True)
def undisturbed():
    """Put back what tests may have set in libraries with global state."""
    mpmath, flint, torch = map(sys.modules.get, ("mpmath", "flint", "torch"))
    digits = mpmath and mpmath.mp.dps
    bits = flint and flint.ctx.prec
    dtype = torch and torch.get_default_dtype()
    yield
    if mpmath:
        mpmath.mp.dps = digits
    if flint:
        flint.ctx.prec = bits
    if torch:
        torch.set_default_dtype(dtype)
