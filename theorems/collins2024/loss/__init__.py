"""The population loss of isotropic softmax attention, by quadrature.

Covariates and the query are uniform on the unit sphere of R^d, ``u_i = 1 - x_i . x``,
``gamma_i`` is proportional to ``exp(-w u_i)``; tasks have an offset that cancels, and
labels carry independent noise of standard deviation sigma. Then

    L(w) = sum_k c_k E_k(w) + rest (1 + V(w)) + sigma^2 V(w),
    E_k = E |Y_k(x) - sum_i gamma_i Y_k(x_i)|^2,    V = E sum_i gamma_i^2,

with ``c_k`` the mass of the class in the harmonics of degree ``k`` (``tasks``), and
``E_k``, ``V`` one-dimensional integrals of positive terms (``integrals``).
"""

from theorems.collins2024.loss.moments import Moments, moments
from theorems.collins2024.loss.optimum import Optimum, Sensitivity, minimise
from theorems.collins2024.loss.population import Loss, evaluate
from theorems.collins2024.loss.tasks import TaskClass, affine, cosine, isotropic, relu

__all__ = [
    "Loss",
    "Moments",
    "Optimum",
    "Sensitivity",
    "TaskClass",
    "affine",
    "cosine",
    "evaluate",
    "isotropic",
    "minimise",
    "moments",
    "relu",
]
