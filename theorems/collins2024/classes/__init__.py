"""Function classes and laws of covariates: generators, validators, kernels.

A class is a law of tasks f(x) = sum_j c_j phi_j(w.x), c_j iid uniform on [-R, R], with
features phi_j that are polynomials on each side of 0 (Definitions 3.2 and C.1):

    affine   z, 1             E f(x) f(y) = L^2/3 (1 + x.y/d)
    ReLU     z_+, (-z)_+, 1   E f(x) f(y) = L^2/3 (1 + (sin t + (pi - t) cos t)/(pi d))

with t the angle of x and y. :mod:`kernels` derives both, :mod:`validate` decides
Assumption B.4 for any such class, :mod:`sampled` draws tasks, :mod:`plane` has the loss
in M by quadrature for d = n = 2, :mod:`minimiser` the proof of Lemma B.5.
"""

from theorems.collins2024.classes.tasks import (
    AFFINE,
    AXES,
    RELU,
    SQUARES,
    STEEP,
    TaskLaw,
)

__all__ = ["AFFINE", "AXES", "RELU", "SQUARES", "STEEP", "TaskLaw"]
