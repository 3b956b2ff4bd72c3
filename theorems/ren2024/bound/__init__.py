"""Generalisation of the dual model: Theorem 3.2, Lemma C.2 and Appendix C.2.

The objective is linear on a ball, so that everything is a matter of two matrices: with
M = E v φᵀ and M̂ its mean over the sample (v = W_V x, φ = φ(W_K x)),

    L(f) = -⟨W, M⟩,   sup_f |L - L̂| = w ‖M̂ - M‖_F,   f̂: W = w M̂/‖M̂‖_F.

Kernels at hand are 2^{x·y} at integer keys, which is the softmax kernel at keys scaled
by √log 2: M, M̂ and Tr K_S are exact.
"""
