"""Stage 1, the training of W_ov: notation, proofs, bounds and observed paths.

``notation`` names what the claims are written in; ``signs`` proves inequalities;
``closed`` proves the closed form of stage 1 and ``skewed`` what remains of it under
token weights; ``paths`` runs Algorithm 1 in floating point, and ``trained`` by
autograd; ``decide`` and ``observed`` turn all of it into verdicts.
"""
