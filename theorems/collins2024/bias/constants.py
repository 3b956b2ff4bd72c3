"""Constants of the proved bounds, as formulas in d; ``proof`` derives each of them.

They are meant to be simple, not sharp. All hold for w >= d + sqrt(d); those that use
``r`` also need n / log n >= 45 sqrt(d) w_KQ^(d/2), where Corollary G.5 is stated.
"""

import sympy as sp

from theorems.collins2024.bounds.notation import DENSITY, d, m
from theorems.collins2024.bounds.tilt import R_HIGH, R_LOW

HALF, THIRD = sp.Rational(1, 2), sp.Rational(1, 3)

# w^m / n <= r / sqrt(w) in the range of Corollary G.5
r = 2 ** (d / 2) / (45 * sp.sqrt(d))

# 1 + 1/(nA) <= J there, for w >= d, since A >= w^-m / 3
J = 1 + 3 * r / sp.sqrt(d)

# P(S < nA/2) is at most FEW_W / w, and at most FEW_N w^(m-1) / n
FEW_W = (16 * R_HIGH * r / sp.E) ** 2
FEW_N = (24 * R_HIGH / sp.E) ** 3 * r**2

# E u-bar >= NEAR / w, for all n
NEAR = sp.Min(m / 4, (6 * sp.E) ** (-1 / m) / (2 * m))

# L_relu >= L_aff/2 >= (L^2/(6d)) (E u_(1))^2 >= NEAREST n^(-2/m) L^2, for all w and n
NEAREST = (2 * sp.E) ** (-2 / m) / (24 * d * m**2)

# E_1 = E|x - sum gamma x_i|^2
E1_BIAS, E1_SPREAD = d**2, 2 * d * R_HIGH + 5 * FEW_N
E1_BIAS_LOW, E1_SPREAD_LOW = NEAR**2, sp.Rational(3, 4) * m * R_LOW / J**2

# E_w sqrt(u (2 - u)) >= ROOT / sqrt(w), for w >= d
ROOT = m ** sp.Rational(3, 2) * sp.sqrt(d - 1) / (sp.sqrt(2 * d) * (d + 1))
# Mean of |s| for the first coordinate s of a uniform point of S^(d-2)
ABS = sp.gamma(m) / (sp.sqrt(sp.pi) * sp.gamma(d / 2))
# E (sum gamma |z_i| - |z|)^2 >= KINK_LOW w^(-3/2)
KINK_HALF = sp.sqrt(3) / 4 * ROOT * ABS / J
KINK_LOW = 2 * KINK_HALF**3 * DENSITY * sp.Rational(3, 4) ** m
# E_w of z_1^2 where z and z_1 differ in sign is at most CROSS w^(-3/2)
CROSS = sp.pi**2 * sp.sqrt(2) / 12 * (d + 1) / sp.sqrt(d - 1)

# V = E sum gamma^2, times n w^-m
V_LOW, V_HIGH = R_LOW / J**2, 7 * R_HIGH
