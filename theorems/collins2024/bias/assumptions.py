"""Hypotheses of the appendix's lemmas."""

from verify import Assumption

RANGE = Assumption(
    "range-of-g.5",
    "w_KQ ≥ (d + √d)/2 (twice that in Lemma D.1), n ≥ 2, n/log n ≥ 45 √d w_KQ^{d/2}: "
    "where Corollary G.5, which the proof uses, is stated",
)
WIDE = Assumption("large-scale", "w_KQ ≥ (d + √d)/2")
SPHERE = Assumption("sphere", "covariates and query are uniform on the unit sphere")
LIPSCHITZ = Assumption("lipschitz", "the task is L-Lipschitz on the sphere")
WINDOW = Assumption(
    "window",
    "c_1 Λ^β ≤ w ≤ c_2 Λ^{2β}, the conclusion of Theorem 3.4 for ReLU tasks",
)
