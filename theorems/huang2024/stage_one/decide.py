"""Verdicts: proved for every |V| ≥ 2, or refuted at exact numbers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import sympy as sp

from theorems.huang2024.stage_one.notation import S, V, by_norm, eta, explicit, t
from theorems.huang2024.stage_one.signs import nonnegative
from verify import Cause, Holds, Inconclusive, Outcome, Refuted, recheck
from verify.symbolic import Compiled, formula, prove_equal

Instance = Mapping[str, Fraction | int]

SIZES = (2, 3, 4, 6, 20, 101)
STEPS = (2, 3, 10, 1_000, 10_000, 10**9)
LENGTHS = (Fraction(1, 10), Fraction(1, 2), Fraction(3))  # of a step


@dataclass(frozen=True)
class Relation:
    """``left >= right``, or ``left == right``, over the symbols of stage 1."""

    says: str
    left: sp.Expr
    right: sp.Expr
    op: str = ">="

    @cached_property
    def _sides(self) -> tuple[Compiled, Compiled]:
        left, right = (explicit(side) for side in (self.left, self.right))
        return Compiled(left, "numpy"), Compiled(right, "numpy")

    def proved(self, low: Mapping[sp.Symbol, int]) -> bool:
        """Whether it is proved for every value of its symbols above ``low``."""
        left, right = explicit(self.left), explicit(self.right)
        if self.op == "==":
            return prove_equal(left, right).proved
        difference = by_norm(left - right)
        return nonnegative(difference, {S: 1, **low})

    def excess(self, instance: Instance) -> float:
        """By how much an instance violates it, relative to the sides; 0 if it holds."""
        values = {name: float(x) for name, x in instance.items()}
        left, right = (float(side(values)) for side in self._sides)
        over = abs(left - right) if self.op == "==" else right - left
        return over / max(abs(left), abs(right), 1e-300) if over > 0 else 0.0

    def witness(self, instance: Instance, *, against: bool = True) -> dict[str, Any]:
        """Record that it fails, or with ``against=False`` that it holds."""
        op = {">=": "<", "==": "!="}[self.op] if against else self.op
        says = f"{self.says} is {'false' if against else 'true'} here"
        return formula(explicit(self.left), op, explicit(self.right), instance, says)


def grid(
    admissible: Callable[[Instance], bool] = lambda _: True,
    *,
    step: str = t.name,
    lengths: Sequence[Fraction] = LENGTHS,
) -> list[Instance]:
    """Exact instances of |V|, the step and η_0, smallest first."""
    instances = (
        {V.name: size, step: steps, eta.name: length}
        for size, steps, length in product(SIZES, STEPS, lengths)
    )
    return [one for one in instances if admissible(one)]


def small_step(instance: Instance) -> bool:
    """Whether 2 η_0 ≤ ‖W*_ov‖ at an instance."""
    return 4 * instance[eta.name] ** 2 <= instance[V.name] - 1


def everywhere(
    relations: Iterable[Relation],
    low: Mapping[sp.Symbol, int],
    instances: Sequence[Instance],
    steps: Sequence[str],
) -> Outcome:
    """Prove relations for all |V| ≥ 2 or refute one at an exact instance.

    Args:
        relations: What is claimed, the closed forms of stage 1 written in.
        low: Lower bounds of the symbols besides |V|.
        instances: Where a violation is sought.
        steps: Steps that lead to the closed forms.

    Returns:
        HOLDS with the steps and an instance, REFUTED with a formula, or INCONCLUSIVE.
    """
    relations = list(relations)
    # A proof of what is plainly false is not tried: simplifying takes seconds.
    plainly = [max(map(one.excess, instances), default=0.0) > 1e-6 for one in relations]
    open_ones = [
        one
        for one, false in zip(relations, plainly, strict=True)
        if false or not one.proved(low)
    ]
    if not open_ones:
        said = [f"{r.says}: {r.left} {r.op} {r.right}" for r in relations]
        return Holds(
            "proved for all |V| ≥ 2, maps n and step sizes",
            steps=(*steps, *said),
            certificate=relations[0].witness(instances[0], against=False),
        )
    for relation in open_ones:
        excess = [relation.excess(one) for one in instances]
        worst = int(np.argmax(excess))
        if excess[worst] > 0:  # perhaps by rounding alone: the witness decides
            witness = relation.witness(instances[worst])
            if recheck.decide(witness).valid:
                return Refuted(f"{relation.says} fails", witness=witness)
    return Inconclusive(
        f"no proof and no counterexample: {open_ones[0].says}", cause=Cause.NO_PROOF
    )
