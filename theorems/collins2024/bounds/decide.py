"""Verdicts on Theorem 3.4: an interval of exponents, or an exponent and a constant."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

import sympy as sp

from theorems.collins2024.bounds import limit, scale
from theorems.collins2024.bounds.notation import d, m, n
from theorems.collins2024.bounds.scale import LAWS, Law, above, below
from theorems.collins2024.bounds.steps import nonnegative
from verify import Cause, Claim, Holds, Inconclusive, Outcome, Refuted
from verify.outcome import Tightness
from verify.symbolic import family, formula

DIMENSIONS = (5, 3, 4, 2, 6, 8, 12)
"""Tried in turn for a counterexample: the paper's experiments have d = 5."""

FACTORS = (10, 1000)  # by which the instances of a family miss a constant of 1
MANY_TOKENS = sp.Integer(10) ** 60
"""n from which n ≥ (log² n)^{d+2}, E.2's condition at σ = L = 1, in every dimension
tried: (log 10^60)^28 = 138.2^28 < 10^60."""

LONGEST = 4000  # digits of an instance

Lambda = sp.Symbol("Lambda", positive=True)


def law_of(claim: Claim) -> Law:
    """The class of tasks of a claim."""
    return LAWS[str(claim.task)]


def distinct(steps: tuple[str, ...]) -> tuple[str, ...]:
    """Steps without repetitions, in order."""
    return tuple(dict.fromkeys(steps))


def interval(claim: Claim) -> Outcome:
    """Decide c Λ^low <= w* <= C Λ^high for 1 <= Λ <= n^condition, n >= n_0(d).

    Args:
        claim: With parameters ``task``, and ``low``, ``high``, ``condition`` in d.

    Returns:
        HOLDS with the constants of ``scale``, REFUTED with a family on which the ratio
        of w* to a claimed power is proved to go to 0 or infinity, or INCONCLUSIVE.
    """
    law = law_of(claim)
    refuted = _outside(claim, law) or _crowded(claim, law)
    if refuted:
        return refuted
    low, high = sp.sympify(claim.low), sp.sympify(claim.high)
    gaps = (law.edge - claim.condition, law.order - low, high - law.order)
    if not all(nonnegative(gap, {d: 2}) for gap in gaps):
        return Inconclusive("no proof, and no family", cause=Cause.NO_PROOF)
    return Holds(
        f"LOW Λ^({law.order}) ≤ w* ≤ HIGH Λ^({law.order}) for n ≥ ENOUGH, closed "
        f"formulas in d; at d = 5 LOW = {_short(law.low)} (LATE = {_short(law.late)}), "
        f"HIGH = {_short(law.high)}, ENOUGH = {_short(law.enough)}",
        steps=distinct(scale.window(law)),
        certificate=_instance(claim, law),
        tightness=_tightness(law),
    )


def _short(expr: sp.Expr) -> str:
    return f"{float(expr.subs(d, DIMENSIONS[0])):.2g}"


def _instance(claim: Claim, law: Law) -> dict[str, Any]:
    """The exponents at d = 5, and that the condition is the noise-dominated one."""
    worst = sp.Max(
        claim.low - law.order, law.order - claim.high, claim.condition - law.edge
    )
    says = f"d = 5: the exponent {law.order} lies in the claimed interval"
    return formula(worst, "<=", sp.S.Zero, {"d": DIMENSIONS[0]}, says)


def _tightness(law: Law) -> tuple[Tightness, ...]:
    """The limit of w*/Λ^ORDER against both constants, at d = 5."""
    at = DIMENSIONS[0]
    middle = limit.kappa(law)
    return (
        Tightness(
            "w* ≤ HIGH Λ^ORDER (d = 5, Λ → ∞)",
            float((middle / law.high).subs(d, at)),
        ),
        Tightness(
            "LATE Λ^ORDER ≤ w* (d = 5, Λ → ∞)",
            float((law.late / middle).subs(d, at)),
        ),
    )


def _outside(claim: Claim, law: Law) -> Outcome | None:
    """Refute an end of the interval where noise dominates: σ = L = 1, Λ = n."""
    for at in DIMENSIONS:
        order, low, high, claimed = (
            sp.sympify(expr).subs(d, at)
            for expr in (law.order, claim.low, claim.high, claim.condition)
        )
        if claimed <= 1:
            continue
        if order > high:
            return _to_infinity(law, at, high)
        if low > order:
            return _to_zero(law, at, low)
    return None


def _to_infinity(law: Law, at: int, high: sp.Expr) -> Outcome:
    constant, order = below(law.late, at), law.order.subs(d, at)
    least = sp.Max(MANY_TOKENS, above(law.after, at) ** (1 / order))
    instances = _instances(constant, order - high, least)
    if not instances:
        return _too_close(law, at)
    witness = family(
        constant * n ** (order - high),
        n,
        instances,
        toward="infinity",
        says=f"d = {at}, σ = L = 1, Λ = n: w*/Λ^({high}) is at least this",
        limit=f"w* ≥ {float(constant):.4g} Λ^({order}) for these n; {order} > {high}",
    )
    return Refuted(
        f"w* is of order Λ^({law.order}): at d = {at} no constant C gives "
        f"w* ≤ C Λ^({high})",
        witness=witness,
        steps=distinct(scale.lower(law)),
    )


def _to_zero(law: Law, at: int, low: sp.Expr) -> Outcome:
    constant, order = above(law.high, at), law.order.subs(d, at)
    least = above(law.enough, at)
    instances = _instances(1 / constant, low - order, sp.Max(least, MANY_TOKENS))
    if not instances:
        return _too_close(law, at)
    witness = family(
        constant * n ** (order - low),
        n,
        instances,
        toward="0",
        says=f"d = {at}, σ = L = 1, Λ = n: w*/Λ^({low}) is at most this",
        limit=(
            f"w* ≤ {float(constant):.4g} Λ^({order}) for n ≥ {float(least):.4g}, and "
            f"{order} < {low}"
        ),
    )
    return Refuted(
        f"w* is of order Λ^({law.order}): at d = {at} no constant c gives "
        f"w* ≥ c Λ^({low})",
        witness=witness,
        steps=distinct(scale.higher(law)),
    )


def _crowded(claim: Claim, law: Law) -> Outcome | None:
    """Refute the lower end where tokens, not noise, limit it: Λ = n^condition."""
    for at in DIMENSIONS:
        claimed, edge, low, power = (
            sp.sympify(expr).subs(d, at)
            for expr in (claim.condition, law.edge, claim.low, law.crowded)
        )
        rate = claimed * low - power
        if at < 4 or claimed <= edge or rate <= 0:
            continue
        constant, least = above(law.cap, at), above(law.many, at)
        instances = _instances(1 / constant, rate, least)
        if not instances:
            return _too_close(law, at)
        says = (
            f"d = {at}, σ² = n^({1 - claimed}), Λ = n^({claimed}): w*/Λ^({low}) is at "
            "most this"
        )
        why = f"w* ≤ {float(constant):.4g} n^({power}) whatever the noise; {rate} > 0"
        witness = family(
            constant * n**-rate, n, instances, toward="0", says=says, limit=why
        )
        return Refuted(
            f"d = {at}: with so little noise w* is at most of order n^({power}), less "
            f"than Λ^({low}) = n^({claimed * low})",
            witness=witness,
            steps=distinct(scale.crowded(law)),
        )
    return None


def _instances(constant: sp.Expr, rate: sp.Expr, least: sp.Expr) -> tuple[int, ...]:
    """Powers of 10, above ``least``, at which constant n^rate passes the factors."""
    start = int(sp.ceiling(sp.log(least, 10).evalf())) + 1
    powers = []
    for factor in FACTORS:
        need = sp.log(factor / constant, 10).evalf() / rate
        powers.append(max(start + len(powers), int(sp.ceiling(need)) + 1))
    powers[1] = max(powers[1], powers[0] + 1)
    return tuple(10**power for power in powers) if max(powers) < LONGEST else ()


def _too_close(law: Law, at: int) -> Outcome:
    return Inconclusive(
        f"d = {at}: too close to {law.order} for an instance of {LONGEST} digits",
        cause=Cause.BUDGET,
    )


def constant(claim: Claim) -> Outcome:
    """Decide w*/(constant Λ^(numerator/(d + offset))) -> 1.

    Args:
        claim: With parameters ``task``, ``numerator`` and ``offset``, two numbers, and
            ``constant`` in d.

    Returns:
        HOLDS when both are those of ``limit``; REFUTED by another power of Λ, or by the
        two constants at one dimension.
    """
    law, claimed = law_of(claim), sp.sympify(claim.constant)
    steps = distinct(limit.limit(law))
    exponent = sp.sympify(claim.numerator) / (d + sp.sympify(claim.offset))
    if sp.cancel(exponent - law.order) != 0:
        return _other_power(law, exponent, claimed, steps)
    for at in DIMENSIONS:
        if abs(float((claimed / limit.kappa(law)).subs(d, at)) - 1) > CLOSE:
            says = f"another constant than the limit of w*/Λ^({law.order.subs(d, at)})"
            witness = _constants(law, claimed, at, ">")
            return Refuted(says, witness=witness, steps=steps)
    if not _equal(law, claimed):
        return Inconclusive("neither equal nor apart", cause=Cause.NO_PROOF)
    return Holds(
        f"w*/(κ Λ^({law.order})) → 1 with κ = (p BIAS/(m SPREAD))^({law.order}); at "
        f"d = 5 κ = {float(limit.kappa(law).subs(d, 5)):.6f}",
        steps=steps,
        certificate=_constants(law, claimed, DIMENSIONS[0], "<="),
    )


@functools.cache
def _equal(law: Law, claimed: sp.Expr) -> bool:
    """Whether a constant is KAPPA for every d: their quotient, to the power m + p."""
    quotient = sp.powdenest((claimed / limit.kappa(law)) ** (m + law.p), True)
    reduced = sp.powsimp(sp.expand_func(sp.gammasimp(quotient)))
    return bool(sp.simplify(reduced) == 1)


CLOSE = 1e-9
"""Relative distance of two constants that 30 digits tell apart for certain."""


def _constants(law: Law, claimed: sp.Expr, at: int, op: str) -> dict[str, Any]:
    """The claimed constant and the limit of w*/Λ^ORDER, rounded to 20 digits."""
    values = {
        "claimed": _rounded(claimed, at),
        "kappa": _rounded(limit.kappa(law), at),
    }
    apart = sp.Abs(sp.Symbol("claimed") / sp.Symbol("kappa") - 1)
    says = f"d = {at}: the claimed constant, and that of the proof, to 20 digits"
    tolerance = sp.Rational(1, 10**9 if op == ">" else 10**18)
    return formula(apart, op, tolerance, values, says)


def _rounded(expr: sp.Expr, at: int) -> Any:
    return Fraction(str(sp.N(expr.subs(d, at), 20)))


def _other_power(
    law: Law, exponent: sp.Expr, claimed: sp.Expr, steps: tuple[str, ...]
) -> Outcome:
    """Another power of Λ: with n = Λ² noise dominates."""
    at = next(i for i in DIMENSIONS if (exponent - law.order).subs(d, i) != 0)
    gap = (law.order - exponent).subs(d, at)
    size = sp.Rational(_rounded(claimed, at))
    reason = f"w* is of order Λ^({law.order}), not Λ^({exponent})"
    if gap > 0:
        factor, toward = below(law.low, at) / size, "infinity"
        instances = _instances(factor, gap, sp.Integer(10))
    else:
        factor, toward = above(law.high, at) / size, "0"
        instances = _instances(1 / factor, -gap, above(law.enough, at))
    if not instances:
        says = f"d = {at}: the claimed power of Λ, and that of w*"
        order = law.order.subs(d, at)
        witness = formula(exponent.subs(d, at), "!=", order, {}, says)
        return Refuted(reason, witness=witness, steps=steps)
    witness = family(
        factor * Lambda**gap,
        Lambda,
        instances,
        toward=toward,
        says=f"d = {at}, n = Λ²: bounds w* over the claimed law",
        limit=f"w* is between LOW and HIGH times Λ^({law.order.subs(d, at)})",
    )
    return Refuted(reason, witness=witness, steps=steps)
