"""Elementary inequalities with explicit constants, each with a machine-checked proof.

    tilt        one token: E_w u, A(w), R(w)
    harmonics   d_k(w) for every degree, and the weights b_k of ReLU tasks
    estimator   V and E_k for all n: what n tokens add to one
    neighbour   the nearest token: no scale does better
    scale       what follows for the minimiser of the loss

A module keeps its bounds as sympy expressions in d, n, w, and its proofs as functions
that return their steps and refuse a step that the machine does not confirm.
"""
