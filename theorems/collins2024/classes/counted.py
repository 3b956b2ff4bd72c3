"""The loss of linear attention counted exactly, for n = d = 2.

Covariates, the query and w run over +-e_1, +-e_2, coefficients over +-1 and noise over
+-s: these have the second moments of the sphere and of uniform coefficients with
L^2 = 3, and the loss depends on no others: E over x of f(x)^2 x x^T is averaged over w.
"""

import functools
import itertools
from fractions import Fraction
from typing import Any

import numpy as np

from theorems.collins2024.classes.tasks import TaskLaw, z

POINTS = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]], dtype=object)
Matrix = tuple[Fraction, Fraction, Fraction, Fraction]


@functools.cache
def second_moments(law: TaskLaw) -> Any:
    """E f(p) f(q) over the four points, for every w and all signs of coefficients."""
    total, cases = np.zeros((4, 4), dtype=object), 0
    for w in POINTS:
        inner = POINTS @ w
        # at 0 both sides of a feature agree
        features = [
            [int(f[0 if t >= 0 else 1].subs(z, t)) for t in inner] for f in law.features
        ]
        for signs in itertools.product((1, -1), repeat=len(features)):
            task = np.array(signs, dtype=object) @ np.array(features, dtype=object)
            total, cases = total + np.outer(task, task), cases + 1
    return total * Fraction(1, cases)


def loss(law: TaskLaw, M: Matrix, noise: Fraction) -> Fraction:
    """Average the squared error over all cases; L^2 = 3.

    The error is sum_i (f(x_i) + e_i) s_i - f(x) with s_i = x_i.M x: for given f and x a
    sum of two independent terms of mean m and second moment q, so that its square is
    2 (q - m^2) + (2 m - f(x))^2 on average.

    Args:
        law: The class.
        M: Entries by rows.
        noise: s, the standard deviation.

    Returns:
        The loss, exactly.
    """
    score = POINTS @ np.array(M, dtype=object).reshape(2, 2) @ POINTS.T  # [x_i, x]
    moments = second_moments(law)
    quarter = Fraction(1, len(POINTS))
    total = Fraction(0)
    for k in range(len(POINTS)):
        s = score[:, k]
        mean_squared = s @ moments @ s * quarter**2  # E m^2
        second = (np.diag(moments) + noise**2) @ s**2 * quarter  # E q
        cross = moments[k] @ s * quarter  # E m f(x)
        total += 2 * second + 2 * mean_squared - 4 * cross + moments[k, k]
    return total * quarter
