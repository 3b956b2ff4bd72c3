"""Self-checks: the population loss by ways that share no code.

`theorems.collins2024.loss` integrates in floating point, `enclosure` in balls, from the
definition on and with every truncation bounded; `loss.literal` draws prompts as
Equation (3) has them, `loss.reference` draws weights. Where two tokens on the sphere of
R^3 compete all is elementary.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from verify import Compared, compare, self_check

# About 300 rounded operations stand behind a moment: exponentials, sums of positive
# terms, a power whose logarithm is bounded.
OPERATIONS = 300
# A normal mean is off by more than six standard errors with probability 2e-9.
SIGMAS = 6
SEED = 0


@self_check(
    says="The population loss and its slope: by quadrature in floating point, and "
    "enclosed in balls.",
    why="The ball's radius, and γ_300 of the loss; of its slope four times that, since "
    "a product of two weights changes by at most 4 of itself per unit of w",
)
def quadrature_and_balls() -> Iterator[Compared]:
    """Compare both classes at scales below, near and above their minimisers."""
    from theorems.collins2024.enclosure import enclose
    from theorems.collins2024.loss import affine, evaluate, relu
    from verify.numerics import gamma

    cases = (
        ("affine", affine, 5, 20, Fraction(1, 10_000), Fraction(27, 4)),
        ("affine", affine, 2, 5, Fraction(9, 100), Fraction(1, 2)),
        ("relu", relu, 3, 6, Fraction(1, 4), Fraction(5, 2)),
    )
    for name, make, d, n, variance, w in cases:
        # sigma as a double: its square is what both sides are given
        sigma = math.sqrt(variance)
        balls = enclose(name, d, n, Fraction(sigma) ** 2, w, 1e-13)
        found = evaluate(make(d), float(w), n, sigma, order=1)
        loss = float(found.value)
        pairs = (("loss", found.value, 1), ("slope", found.slope, 4))
        for ball, (what, value, factor) in zip(balls, pairs, strict=True):
            assert value is not None  # order=1
            middle = float(ball.mid())
            yield compare(
                f"{what} of the {name} class, d = {d}, n = {n}, w = {w}",
                float(value),
                middle,
                float(ball.rad()) + gamma(OPERATIONS) * factor * loss,
            )


@self_check(
    says="The mean sum of squared weights of two tokens: by quadrature, and in closed "
    "form, 1 - log cosh(w)/w² in R^3.",
    why="γ_300 of the moment; the closed form is computed in 30 digits",
)
def quadrature_and_closed_form() -> Iterator[Compared]:
    """Compare at scales where all, some and hardly any tokens count.

    With s = x·x_1 - x·x_2, of density (2 - |s|)/4, V is 1 - E sech²(ws/2)/2, and
    integrating by parts leaves log cosh.
    """
    import mpmath

    from theorems.collins2024.loss import moments
    from verify.numerics import gamma

    for w in (0.25, 1.0, 6.5, 40.0, -3.0):
        with mpmath.workdps(30):
            closed = float(1 - mpmath.log(mpmath.cosh(w)) / mpmath.mpf(w) ** 2)
        found = float(moments(w, 2, 3, (1,)).V)
        yield compare(f"V at w = {w}", found, closed, gamma(OPERATIONS) * closed)


@self_check(
    says="The population loss and its moments: by quadrature, and by drawing tokens, "
    "and whole prompts as Equation (3) has them.",
    why="Six standard errors of the sampled mean: exceeded by chance with probability "
    "2e-9 per comparison",
)
def quadrature_and_sampling() -> Iterator[Compared]:
    """Compare moments of drawn tokens, and errors of drawn prompts."""
    import numpy as np

    from theorems.collins2024.loss import (
        affine,
        evaluate,
        literal,
        moments,
        reference,
        relu,
    )

    rng = np.random.default_rng(SEED)
    degrees = (1, 2, 5)
    for w, n, d in ((3.0, 7, 4), (-6.0, 30, 2), (100.0, 20, 5)):
        drawn = reference.sample(w, n, d, degrees, 20_000, rng)
        found = moments(w, n, d, degrees)
        values = [float(found.V), *found.E.tolist()]
        for name, value, mean, error in zip(
            ("V", *(f"E_{k}" for k in degrees)),
            values,
            drawn.mean.tolist(),
            drawn.error.tolist(),
            strict=True,
        ):
            what = f"{name} at w = {w}, n = {n}, d = {d}"
            yield compare(what, value, mean, SIGMAS * error)
    for task in (affine(3, 2.0), relu(3, 2.0)):
        errors = [
            literal.squared_error(task.name, 3, 4.0, 6, 0.5, 2.0, rng)
            for _ in range(4000)
        ]
        mean, error = literal.average(errors)
        loss = float(evaluate(task, 4.0, 6, 0.5).value)
        yield compare(f"loss of the {task.name} class", loss, mean, SIGMAS * error)
