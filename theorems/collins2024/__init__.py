"""collins2024: softmax attention adapts to function Lipschitzness.

Collins, Parulekar, Mokhtari, Sanghavi and Shakkottai, "In-Context Learning with
Transformers: Softmax Attention Adapts to Function Lipschitzness", NeurIPS 2024, arXiv
2402.11639.

Notation (paper -> here):

    d, n, sigma     size of a covariate, labelled tokens, standard deviation of noise
    L               Lipschitz constant of the class of functions
    M               M_K^T M_Q; with tied weights W^T W
    w_KQ            scale of the optimal M: gamma_i is proportional to exp(w x_i . x)
    Lambda          n L^2 / sigma^2

What the text gets wrong or leaves open, beyond what a claim decides:

    1. The appendix writes exp(-w |x_i - x|^2); its w is half of the main text's.
    2. Equation (1): "first n columns of W_V" are the first d columns.
    3. Section 3.2 does not give the values of L, sigma and n of Figures 3 and 4, nor
       the number of steps.
"""

from verify import Item, Paper

PAPER = Paper(
    key="collins2024",
    title=(
        "In-Context Learning with Transformers: Softmax Attention Adapts to Function "
        "Lipschitzness"
    ),
    authors=(
        "Liam Collins, Advait Parulekar, Aryan Mokhtari, Sujay Sanghavi and Sanjay "
        "Shakkottai"
    ),
    venue="NeurIPS 2024",
    arxiv="2402.11639",
    items=(
        Item("Remark 2.1", not_stated="two extreme cases of the window"),
        Item("Remark 2.2", not_a_claim="motivation; linear attention has no window"),
        Item("Definition 3.1", not_stated="Lipschitzness"),
        Item("Definition 3.2", not_stated="affine and ReLU classes"),
        Item("Assumption 3.3", not_stated="distribution of the covariates"),
        Item("Theorem 3.4", not_stated="the window scales with Lambda"),
        Item("Theorem 3.5", not_stated="generalisation to other tasks"),
        Item("Theorem 3.6", not_stated="linear attention"),
        Item("Definition 4.1", not_stated="direction-wise Lipschitzness"),
        Item("Definition 4.2", not_stated="low-rank linear class"),
        Item("Assumption 4.3", not_stated="low-rank covariates"),
        Item("Theorem 4.4", not_stated="recovery of a subspace"),
        Item("Lemma B.1", not_stated="zero block of the value weights"),
        Item("Assumption B.2", not_stated="covariates of the appendix"),
        Item("Definition B.3", alias_of="Definition 3.2"),
        Item("Assumption B.4", not_stated="classes that the proof covers"),
        Item("Lemma B.5", not_stated="M is a multiple of the identity"),
        Item("Definition C.1", alias_of="Definition 3.2"),
        Item("Lemma C.2", not_stated="bias at most 4 L^2"),
        Item("Lemma C.3", not_stated="the affine class satisfies Assumption B.4"),
        Item("Lemma C.4", not_stated="bias of the affine class, from above"),
        Item("Lemma C.5", not_stated="bias of the affine class, from below"),
        Item("Corollary C.6", not_stated="bias of the affine class"),
        Item("Lemma C.7", not_stated="the ReLU class satisfies Assumption B.4"),
        Item("Lemma C.8", not_stated="bias of the ReLU class, from above"),
        Item("Lemma C.9", not_stated="bias of the ReLU class, from below"),
        Item("Lemma D.1", not_stated="order of the variance"),
        Item("Lemma D.2", not_stated="the variance grows with the scale"),
        Item("Theorem E.1", not_stated="Theorem 3.4, ReLU class"),
        Item("Theorem E.2", not_stated="Theorem 3.4, affine class"),
        Item("Theorem E.3", alias_of="Theorem 3.5"),
        Item("Lemma F.1", alias_of="Theorem 3.6"),
        Item("Lemma G.1", not_stated="area of a spherical cap"),
        Item("Definition G.2", not_stated="partial sums of i^d exp(-a i)"),
        Item("Lemma G.3", not_stated="order of these sums"),
        Item("Lemma G.4", not_stated="order of g_p, from above"),
        Item("Lemma G.5", not_stated="order of g_p, from below"),
        Item("Lemma G.6", not_stated="Stirling's approximation"),
        Item("Lemma G.7", not_stated="concentration of counts"),
        Item("Lemma G.8", not_stated="an inequality for the logarithm"),
        Item("Lemma H.1", not_stated="the loss falls at zero"),
        Item("Lemma H.2", not_stated="form of the minimiser"),
        Item("Lemma H.3", not_stated="bias grows with a weight"),
        Item("Lemma H.4", not_stated="variance grows with a weight"),
        Item("Theorem H.5", alias_of="Theorem 4.4"),
        Item("Lemma I.1", not_stated="sum and integral"),
        Item("Lemma I.2", not_stated="rearrangement"),
        Item("Lemma I.3", not_stated="similarly ordered weights"),
        Item("Equations (1)-(3)", not_a_claim="definitions of prompt, task and loss"),
        Item("Equation (ICL)", not_stated="the loss in M"),
        Item("Figure 1", not_a_claim="illustration; its bottom row has no recipe"),
        Item("Figure 2", not_a_claim="illustration"),
        Item("Figure 3", claims=("collins2024/figure-3",)),
        Item("Figure 4", claims=("collins2024/figure-4",)),
        Item("Figure 5", not_stated="tasks of another class or Lipschitzness"),
        Item("Figure 6", not_a_claim="illustration"),
        Item("Figure 7", not_a_claim="illustration"),
        Item("Figure 8", not_a_claim="illustration"),
        Item("Figure 9", not_stated="low-rank tasks"),
    ),
)
