"""Certified values of the population loss, its derivative and its minimiser.

Ball arithmetic (python-flint) from the definition on; docs/certified-minimiser.md has
the derivation. The classes are the affine and the ReLU class with isotropic covariates,
x and x_i uniform on the sphere, labels with noise of variance sigma^2.

    population  the loss in harmonics, constants
    discrete    a finite law in place of that of x_i . x, with the error of the exchange
    laplace     the loss under that law as a trapezoid sum
    point       L(w) and L'(w) to a requested accuracy
    brackets    intervals that hold a minimiser
    tail, line  the whole line: that there is one stationary point only
"""

from theorems.collins2024.enclosure.brackets import (
    Bracket,
    BracketError,
    bracket,
    enclose,
    prove,
    scale_brackets,
    slope_at,
)
from theorems.collins2024.enclosure.line import CertificateError, Line, certify
from theorems.collins2024.enclosure.population import Population, PopulationError

__all__ = [
    "Bracket",
    "BracketError",
    "CertificateError",
    "Line",
    "Population",
    "PopulationError",
    "bracket",
    "certify",
    "enclose",
    "prove",
    "scale_brackets",
    "slope_at",
]
