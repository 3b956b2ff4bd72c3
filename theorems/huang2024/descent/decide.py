"""Verdicts: proved from the steps for all data, or refuted at an exact instance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from theorems.huang2024.descent.exact import Instance
from theorems.huang2024.descent.notation import L, N, S, X, eta, phi, pi_min, t
from theorems.huang2024.stage_one.signs import nonnegative
from verify import Cause, Holds, Inconclusive, Outcome, Refuted
from verify.symbolic import Compiled, formula

EXCESS = 1e-9  # where floating point looks for a violation; the witness is exact

p, y = sp.symbols("p y", nonnegative=True)
# What the symbols of the claims are at least: a sample with a constraint has two
# tokens, 1 <= w_o - w_m <= sqrt(2) ||W*||, and 0 < phi <= 1.
RANGES: Mapping[sp.Symbol, sp.Expr] = {phi: 1 / (1 + p), pi_min: 1 / (1 + y)}
LOW = {p: 0, y: 0, S: sp.sqrt(2) / 2, L: 2, N: 1, eta: 0, t: 0, X: 0}


@dataclass(frozen=True)
class Bound:
    """A claimed inequality ``left op right`` beside what the proof gives.

    Attributes:
        says: In words.
        left: Observed side, over the symbols of ``notation``.
        op: ``>=`` or ``<=``.
        right: Claimed side.
        proved: What the proof gives in place of ``right``.
        low: Lower bounds of symbols, where they differ from ``LOW``.
    """

    says: str
    left: sp.Expr
    op: str
    right: sp.Expr
    proved: sp.Expr
    low: Mapping[sp.Symbol, Any] | None = None

    def follows(self) -> bool:
        """Whether the claimed side is no stronger than the proved one."""
        slack = self.proved - self.right
        slack = (slack if self.op == ">=" else -slack).subs(RANGES)
        low = LOW | dict(self.low or {})
        used = {symbol: low[symbol] for symbol in slack.free_symbols}
        return nonnegative(slack, used)

    def violation(self, instance: Instance) -> dict[str, Any] | None:
        """A record that it is false at an instance; nothing where it is true."""
        left, right = (side.subs(instance.values) for side in (self.left, self.right))
        names = {symbol.name for symbol in (left - right).free_symbols}
        if not names <= instance.inputs.keys():
            return None  # the instance says nothing about this quantity
        floats = {name: float(x) for name, x in instance.inputs.items()}
        a, b = (float(Compiled(side, "numpy")(floats)) for side in (left, right))
        over = b - a if self.op == ">=" else a - b
        if over <= EXCESS * max(abs(a), abs(b)):
            return None
        against = {">=": "<", "<=": ">"}[self.op]
        says = f"{self.says} is false for {instance.says}"
        return formula(left, against, right, instance.inputs, says)


def bounds(
    claimed: Sequence[Bound], instances: Iterable[Instance], steps: Sequence[str]
) -> Outcome:
    """Decide inequalities: all follow from the proof, or one fails at an instance.

    Args:
        claimed: The inequalities.
        instances: Runs in closed form.
        steps: The steps of the proof.

    Returns:
        HOLDS with the steps, REFUTED with a formula, or INCONCLUSIVE.
    """
    rest = [one for one in claimed if not one.follows()]
    if not rest:
        said = [f"claimed, {b.says}: {b.right}; proved: {b.proved}" for b in claimed]
        return Holds("follows from the steps, for all data", steps=(*steps, *said))
    instances = list(instances)
    for bound in rest:
        for instance in instances:
            witness = bound.violation(instance)
            if witness is not None:
                return Refuted(witness["says"], witness=witness)
    reason = f"no proof and no counterexample: {rest[0].says}"
    return Inconclusive(reason, cause=Cause.NO_PROOF)
