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


def _claims(*names: str) -> tuple[str, ...]:
    return tuple(f"collins2024/{name}" for name in names)


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
        Item("Remark 2.1", claims=_claims("remark-2.1/constant", "remark-2.1/rapid")),
        Item("Remark 2.2", claims=_claims("remark-2.2")),
        Item("Definition 3.1", claims=_claims("definition-3.1")),
        Item("Definition 3.2", claims=_claims("definition-3.2")),
        Item("Assumption 3.3", claims=_claims("assumption-3.3")),
        Item(
            "Theorem 3.4",
            claims=_claims(
                "theorem-3.4/affine",
                "theorem-3.4/relu",
                "theorem-3.4/condition",
                "theorem-3.4/form",
            ),
        ),
        Item(
            "Theorem 3.5",
            claims=_claims(
                "theorem-3.5/upper",
                "theorem-3.5/lower-steeper",
                "theorem-3.5/lower-flatter",
            ),
        ),
        Item("Theorem 3.6", claims=_claims("theorem-3.6", "theorem-3.6/remark")),
        Item(
            "Section 3.1",
            claims=_claims(
                "section-3.1/bias",
                "section-3.1/signal",
                "section-3.1/noise",
                "section-3.1/modified-attention",
                "section-3.1/balance",
            ),
        ),
        Item("Definition 4.1", claims=_claims("definition-4.1")),
        Item("Definition 4.2", claims=_claims("definition-4.2")),
        Item("Assumption 4.3", claims=_claims("assumption-4.3")),
        Item(
            "Theorem 4.4",
            claims=_claims("theorem-4.4/noiseless", "theorem-4.4/two-samples"),
        ),
        Item(
            "Lemma B.1",
            claims=_claims("lemma-b.1", "lemma-b.1/normalisation", "lemma-b.1/classes"),
        ),
        Item("Assumption B.2", claims=_claims("assumption-b.2")),
        Item("Definition B.3", claims=_claims("definition-b.3")),
        Item("Assumption B.4", claims=_claims("assumption-b.4")),
        Item("Lemma B.5", claims=_claims("lemma-b.5")),
        Item("Definition C.1", claims=_claims("definition-c.1/covariance")),
        Item("Lemma C.2", claims=_claims("lemma-c.2")),
        Item("Lemma C.3", claims=_claims("lemma-c.3")),
        Item("Lemma C.4", claims=_claims("lemma-c.4")),
        Item("Lemma C.5", claims=_claims("lemma-c.5")),
        Item("Corollary C.6", claims=_claims("corollary-c.6")),
        Item(
            "Lemma C.7",
            claims=_claims("lemma-c.7", "lemma-c.7/sides", "lemma-c.7/conditional"),
        ),
        Item("Lemma C.8", claims=_claims("lemma-c.8")),
        Item(
            "Lemma C.9",
            claims=_claims("lemma-c.9", "lemma-c.9/rate", "lemma-c.9/independence"),
        ),
        Item("Lemma D.1", claims=_claims("lemma-d.1/upper", "lemma-d.1/lower")),
        Item("Lemma D.2", claims=_claims("lemma-d.2")),
        Item("Theorem E.1", alias_of="Theorem 3.4"),
        Item("Theorem E.2", alias_of="Theorem 3.4"),
        Item("Theorem E.3", alias_of="Theorem 3.5"),
        Item("Lemma F.1", claims=_claims("lemma-f.1/independence")),
        Item("Lemma G.1", claims=_claims("lemma-g.1")),
        Item("Definition G.2", claims=_claims("definition-g.2")),
        Item(
            "Lemma G.3",
            claims=_claims(
                "lemma-g.3/partial", "lemma-g.3/complete", "lemma-g.3/stirling-step"
            ),
        ),
        Item("Lemma G.4", claims=_claims("lemma-g.4", "lemma-g.4/counts")),
        Item("Corollary G.5", claims=_claims("corollary-g.5")),
        Item("Lemma G.6", claims=_claims("lemma-g.6")),
        Item("Lemma G.7", claims=_claims("lemma-g.7")),
        Item("Lemma G.8", claims=_claims("lemma-g.8")),
        Item("Lemma H.1", claims=_claims("lemma-h.1")),
        Item(
            "Lemma H.2",
            claims=_claims("lemma-h.2", "lemma-h.2/symmetry", "lemma-h.2/constraint"),
        ),
        Item("Lemma H.3", claims=_claims("lemma-h.3", "lemma-h.3/pairs")),
        Item(
            "Lemma H.4",
            claims=_claims(
                "lemma-h.4",
                "lemma-h.4/polynomial",
                "lemma-h.4/grouping",
                "lemma-h.4/assignments",
            ),
        ),
        Item(
            "Theorem H.5",
            claims=_claims("theorem-h.5/noiseless", "theorem-4.4/two-samples"),
        ),
        Item("Lemma I.1", claims=_claims("lemma-i.1")),
        Item("Lemma I.2", claims=_claims("lemma-i.2")),
        Item("Lemma I.3", claims=_claims("lemma-i.3")),
        Item("Equations (1)-(3)", not_a_claim="definitions of prompt, task and loss"),
        Item("Equation (ICL)", claims=_claims("equation-icl")),
        Item("Figure 1", claims=_claims("figure-1")),
        Item("Figure 2", claims=_claims("figure-2")),
        Item("Figure 3", claims=_claims("figure-3")),
        Item("Figure 4", claims=_claims("figure-4")),
        Item(
            "Figure 5",
            claims=_claims(
                "figure-5/matched", "figure-5/mismatched", "figure-5/necessary"
            ),
        ),
        Item("Figure 6", not_a_claim="illustration"),
        Item("Figure 7", not_a_claim="illustration"),
        Item("Figure 8", not_a_claim="illustration"),
        Item(
            "Figure 9",
            claims=_claims("figure-9/affine", "figure-9/quadratic", "figure-9/cosine"),
        ),
    ),
)
