"""Identities proved by computer algebra, and evaluated as they were proved.

A claim's parameters are sympy expressions, scalars or matrices of symbolic size. One
expression serves every purpose: `gradient` differentiates it, `prove_equal` brings a
difference to zero in normal form, `prove_equal_at` does so entry by entry at small
sizes, `evaluator` computes it in exact rationals, numpy or torch, `tree`,
`formula`, `family` and `enclosure` export it to witnesses, and `describe` prints it.

"Not proved" is never "refuted": a residual may vanish for a reason that the normal
form does not know. Matrices are real.
"""

from verify.symbolic.calculus import gradient
from verify.symbolic.errors import SymbolicError
from verify.symbolic.evaluate import evaluator
from verify.symbolic.explicit import components, prove_equal_at
from verify.symbolic.identity import Compiled, Identity, evaluate, padded
from verify.symbolic.proof import Proof, normal_form, prove_equal
from verify.symbolic.text import describe
from verify.symbolic.witness import enclosure, family, formula, tree

__all__ = [
    "Compiled",
    "Identity",
    "Proof",
    "SymbolicError",
    "components",
    "describe",
    "enclosure",
    "evaluate",
    "evaluator",
    "family",
    "formula",
    "gradient",
    "normal_form",
    "padded",
    "prove_equal",
    "prove_equal_at",
    "tree",
]
