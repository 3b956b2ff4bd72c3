"""Lemma B.5 proved for every d and n of at least 2, by one reflection.

Write x_i = C u_i, C = Sigma^a, tasks f(x) = F(C^-1 x) with F of a class that satisfies
Assumption B.4. Scores are u_i.M'u with M' = C M C: the loss is the isotropic one at M'.
Fix the query y and v = M'y, |v| = c, e = v/c.

    1. E[(S g_i F(u_i))^2] and E S g_i^2 depend on c alone (B.4, part 3; u_i uniform).
    2. The cross term is -2n E[k(u.e) rho(u.y)], k(s) = E[g_1 | u_1.e = s] increasing.
       The reflection t that exchanges e and y turns its gain at e = y into
           n E[(k(u.y) - k(u.e)) (rho(u.y) - rho(u.e))] >= 0,
       strict unless e = y or c = 0. No rearrangement inequality is needed.
    3. So the loss is at least E_y q(|M'y|), q(c) the loss with M'y = c y, and equal
       only if M'y = c(y) y for almost all y: every y is an eigenvector.
    4. q'(0) = -2 (1 - 1/n) E[s rho(s)] < 0 for n >= 2: c = 0 is no minimiser.
Hence M' = w I with w > 0, and M = w Sigma^{-2a}.

There are minimisers whenever sigma^2 > q(0), for instance for sigma = L and n >= 3: as
|M'| -> infinity attention tends to one token, and the loss to at least sigma^2.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st

from theorems.collins2024.classes.decide import nonnegative
from theorems.collins2024.classes.plane import Least, Setting
from theorems.collins2024.classes.tasks import d, n
from verify import Cause, Claim, Holds, Outcome, Refuted, Undecided
from verify.numerics import table
from verify.search import Search
from verify.symbolic import formula


@dataclass(frozen=True)
class Whitening:
    """Covariates Sigma^a u, tasks F(Sigma^-a x) with F of an isotropic class.

    Attributes:
        covariates: a.
    """

    covariates: sp.Rational


def need(says: str, proved: bool) -> str:
    """Keep a step that was proved, and refuse one that was not."""
    if not proved:
        raise Undecided(f"not proved: {says}", Cause.NO_PROOF)
    return says


def zero(says: str, expr: sp.Expr) -> str:
    """Keep an identity that was brought to zero."""
    return need(says, sp.cancel(sp.together(sp.expand(expr))) == 0)


@functools.cache
def reflection() -> tuple[str, ...]:
    """Step 2: the reflection, and the gain as a product of two differences."""
    uy, ue, cosine = sp.symbols("uy ue cosine", real=True)
    # t u = u - 2 (h.u) h, h = (y - e)/|y - e|, |y - e|^2 = 2 - 2 cosine
    moved = uy - 2 * (uy - ue) * (1 - cosine) / (2 - 2 * cosine)
    k_y, k_e, r_y, r_e = sp.symbols("k_y k_e r_y r_e", real=True)
    gain = (k_y - k_e) * r_y + (k_e - k_y) * r_e
    s, c, rest = sp.symbols("s c rest", positive=True)
    rise = sp.diff(sp.exp(c * s) / (sp.exp(c * s) + rest), s)
    shown = c * rest * sp.exp(c * s) / (sp.exp(c * s) + rest) ** 2
    return (
        zero("t u.y = u.e for the reflection t across y - e", moved - ue),
        zero(
            "gain at u and at t u: (k - k')(rho - rho')",
            gain - (k_y - k_e) * (r_y - r_e),
        ),
        zero("d g_1/ds = c R e^{cs}/(e^{cs} + R)^2 > 0: k increases", rise - shown),
        "U_d is invariant under t, so the gain is n E of this product, >= 0",
    )


@functools.cache
def start() -> tuple[str, ...]:
    """Step 4: the slope of q at 0."""
    own, other = sp.symbols("own other")  # E s_i rho(s_i), E s_j rho(s_i) for j != i
    mean = (own + (n - 1) * other) / n
    slope = -2 * n * (1 / n) * (own - mean)
    s, rise = sp.symbols("s rise", positive=True)  # rho(s) - rho(-s) for s > 0
    return (
        "d g_i/dc at c = 0 is (s_i - mean s)/n; E of (S g F(u_i))^2 and of S g^2 has "
        "slope 0, being even in c (u -> -u for the query)",
        zero("q'(0)", slope.subs(other, 0) + 2 * (1 - 1 / n) * own),
        need("1 - 1/n ≥ 1/2 for n ≥ 2", nonnegative(1 - 1 / n - sp.S.Half, {n: 2})),
        need(
            "E[s rho(s)] = E[s (rho(s) - rho(-s)); s > 0] > 0", (s * rise).is_positive
        ),
    )


@functools.cache
def existence() -> str:
    """Show that sigma^2 exceeds q(0) for affine or ReLU tasks, sigma = L, n >= 3."""
    at_zero = (1 + 1 / n) / (3 * d) + 1 / n  # upper bound of q(0)/L^2
    return need(
        "there is a minimiser, for instance for σ = L, n ≥ 3: far out the loss is at "
        "least σ² > L(0)",
        nonnegative(1 - at_zero, {n: 3, d: 2}),
    )


@functools.cache
def proof() -> tuple[str, ...]:
    """All steps to: every minimiser is M' = w I with w > 0."""
    return (
        "the loss at query y is q-terms of |M'y| and -2n E[k(u.e) rho(u.y)]",
        *reflection(),
        *start(),
        "M'y = c(y) y with c(y) > 0 for almost all y, so for all: M' = w I, w > 0",
        existence(),
    )


PROBES = ((1, 1), (1, 0), (0, 1), (1, -1), (1, 2))
STRETCH = sp.Integer(4)  # Sigma = diag(1, 4) in witnesses: its square root is rational


def whitened(claim: Claim) -> sp.Matrix:
    """M' = C M C for the form claimed, at Sigma = diag(1, 4)."""
    power = 2 * claim.domain.covariates + claim.power
    return sp.diag(1, STRETCH**power) * sp.Matrix(claim.turn)


def decide(claim: Claim) -> Outcome:
    """Prove the form, or show a query whose attention it does not centre.

    Args:
        claim: With parameters ``power`` (of Sigma) and ``turn`` (a matrix), of the form
            M = w Sigma^power turn, w > 0; its domain is a :class:`Whitening`.

    Returns:
        HOLDS with the proof, or REFUTED by a query y for which M'y is no positive
        multiple of y: there the loss at M' exceeds that at w I.
    """
    form = whitened(claim)
    for probe in PROBES:
        y = sp.Matrix(probe)
        image = form * y
        along, size = y.dot(image), sp.sqrt(y.dot(y) * image.dot(image))
        if (along < size) is sp.true:
            says = (
                f"for y = {probe}, Sigma = diag(1, 4): y.M'y < |y| |M'y|, so that M' "
                "is no minimiser, by the reflection"
            )
            f, g, p, q = sp.symbols("f g p q", real=True)
            witness = formula(
                f * p + g * q,
                "<",
                sp.sqrt((f**2 + g**2) * (p**2 + q**2)),
                dict(zip("fgpq", map(exactly, [*probe, *image]), strict=True)),
                says,
            )
            return Refuted(says, witness=witness, steps=proof())
    return Holds("M' = w I, by one reflection", steps=proof())


def exactly(x: Any) -> Any:
    """A sympy rational as a fraction."""
    return Fraction(int(sp.Rational(x).p), int(sp.Rational(x).q))


# --- hunts ---------------------------------------------------------------------------

Instance = tuple[float, float, tuple[float, ...]]


@st.composite
def settings(draw: st.DrawFn) -> Instance:
    """Stretch of Sigma, variance of noise, and a direction in which to leave M."""
    stretch = draw(st.sampled_from((0.5, 1.5, 2.0)))
    variance = draw(st.sampled_from((0.05, 0.1, 0.3)))
    step = st.floats(-0.5, 0.5, width=32)
    return stretch, variance, tuple(draw(step) for _ in range(4))


def compared(claim: Claim, instance: Instance) -> tuple[Least, float, float]:
    """Best multiple of the form claimed; the best loss elsewhere; error of both."""
    stretch, variance, step = instance
    a = float(claim.domain.covariates)
    setting = Setting(np.diag([1, stretch**a]), np.diag([1, stretch**-a]), variance)
    turn = np.array(sp.Matrix(claim.turn).tolist(), dtype=float)
    shape = np.diag([1, stretch ** float(claim.power)]) @ turn
    best = setting.least(shape)
    other = setting.least(np.diag([1, stretch ** (-2 * a)]))
    near = setting.loss(best.scale * shape + np.reshape(step, (2, 2)), 32)
    # The golden section leaves 2e-5 in w, 2e-10 of the curvature, which is below 4;
    # grids agree to `error`, and converge geometrically: it bounds the finer one's.
    return best, min(other.value, near), best.error + other.error + 1e-9


def hunt(claim: Claim, search: Search) -> Outcome:
    """Look for a matrix with a lower loss than any multiple of the form claimed."""

    def violated(instance: Instance) -> bool:
        best, elsewhere, error = compared(claim, instance)
        search.aim(best.value - elsewhere, "loss saved")
        return elsewhere < best.value - error

    def witness(instance: Instance) -> dict[str, Any]:
        best, elsewhere, error = compared(claim, instance)
        return table(
            {"claimed": [best.value], "elsewhere": [elsewhere], "error": [error]},
            relation=[
                "<",
                ["in", "elsewhere"],
                ["sub", ["in", "claimed"], ["in", "error"]],
            ],
            aggregate="all",
            says=f"least loss along the form, and a lower one; setting {instance[:2]}",
        )

    return search.for_all(
        settings(),
        violated,
        witness,
        searched="d = n = 2, affine tasks, Sigma = diag(1, s), quadrature",
        scale=0.03,
    )
