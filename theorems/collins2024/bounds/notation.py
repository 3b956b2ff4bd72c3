"""Symbols of the elementary bounds, and the quantities that they bound.

x, x_1, ..., x_n are uniform on the sphere of R^d, t = x_i . x, u = 1 - t in [0, 2]:

    density of u    c_d (u (2 - u))^(m - 1),  m = (d - 1)/2,  nu = d/2 - 1
    a = e^{-wu}     S = sum a_i,  gamma_i = a_i / S
    A(w) = E a      R(w) = A(2w) / A(w)^2 = E a^2 / (E a)^2
    E_w             mean under the law with density proportional to e^{-wu} f(u)
    P_k             Gegenbauer polynomial, P_k(1) = 1;  D_k = 1 - P_k, G_k = 1 - P_k^2
    d_k(w)          E_w D_k = 1 - I_{nu+k}(w) / I_nu(w);  d_1 = E_w u
    E_k             E |Y(x) - sum gamma_i Y(x_i)|^2 for a random normalised harmonic Y
    V               E sum gamma_i^2

With L = 1: affine tasks have bias² = E_1/(3d), ReLU tasks (E_1/d + sum b_k E_k)/6 over
even k >= 2, where E |omega.x| |omega.y| = sum b_k P_k(x.y). The scale w is that of
exp(w x_i . x): twice the appendix's.
"""

import sympy as sp

d = sp.Symbol("d", positive=True)  # an integer, at least 2
n = sp.Symbol("n", positive=True)  # an integer
k = sp.Symbol("k", positive=True)  # a degree
w = sp.Symbol("w", positive=True)

m = (d - 1) / 2
nu = d / 2 - 1

DENSITY = sp.gamma(d / 2) / (sp.sqrt(sp.pi) * sp.gamma(m))
"""c_d, also the density of t at 0."""

MASS = sp.gamma(d / 2) * 2 ** (m - 1) / sp.sqrt(sp.pi)
"""K_d = c_d 2^(m-1) Γ(m), the limit of w^m A(w)."""

PEAK = 8 * DENSITY / sp.pi
"""B_d, the limit of k^4 b_k."""
