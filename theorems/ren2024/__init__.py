"""ren2024: in-context learning through a representation learning lens.

Ren and Liu, "Towards Understanding How Transformers Learn In-context Through a
Representation Learning Lens", NeurIPS 2024, arXiv 2310.13220.

Notation (paper -> here); columns of a matrix are tokens:

    X_D, X_T        demonstrations (N of them) and query tokens (T of them)
    x'_{T+1}        the query at hand
    V_D, V_T        W_V X_D, W_V X_T                d_o x N, d_o x T
    K_D, K_T        W_K X_D, W_K X_T
    q               W_Q x'_{T+1}
    phi             feature map of the kernel, Eq. (7)
    Phi_D, Phi_T    phi(K_D), phi(K_T)              d_r x N, d_r x T
    p               phi(q)                          d_r x 1
    v_q, phi_k      value and key features of the query's own token
    W, W_0          weights of the dual model and their initial value, d_o x d_r
    eta, D          learning rate, normaliser

What the text gets wrong or leaves open, beyond what a claim decides:

    1. Section 2.1 and Theorem 3.1 keep the query out of the keys; Appendix E.1 calls
       self-attention the case T = 0, where the query is among its own keys. Both are
       readings here. (Literally, T = 0 without the query gives W_0 = 0.)
    2. D is called "a constant"; like W_0 it depends on the query.
    3. Eq. (9) is called a cosine similarity; nothing is normalised.
    4. "N = 15 epochs" (Figure 3) are 15 single-sample gradient steps.
    5. "There exists phi: R^{d_o} -> R^{d_r}" with Eq. (7) is false on all of R^{d_o}
       for finite d_r; on the finitely many tokens at hand it is true.
"""

from verify import Item, Paper


def _claims(*names: str) -> tuple[str, ...]:
    return tuple(f"ren2024/{name}" for name in names)


PAPER = Paper(
    key="ren2024",
    title=(
        "Towards Understanding How Transformers Learn In-context Through a "
        "Representation Learning Lens"
    ),
    authors="Ruifeng Ren and Yong Liu",
    venue="NeurIPS 2024",
    arxiv="2310.13220",
    items=(
        Item("Theorem 3.1", claims=("ren2024/theorem-3.1",)),
        Item("Theorem A.1", alias_of="Theorem 3.1"),
        Item(
            "Theorem 3.2",
            claims=_claims(
                "theorem-3.2",
                "theorem-3.2/uniform",
                "theorem-3.2/hoeffding",
                "theorem-3.2/constants",
                "theorem-3.2/lipschitz",
                "theorem-3.2/contraction",
                "theorem-3.2/class",
            ),
        ),
        Item("Theorem C.1", alias_of="Theorem 3.2"),
        Item("Theorem B.1", claims=_claims("theorem-b.1")),
        Item("Theorem B.2", claims=_claims("theorem-b.2")),
        Item("Lemma C.2", claims=_claims("lemma-c.2")),
        Item("Lemma D.1", claims=_claims("lemma-d.1")),
        Item("Equations (1)-(2)", not_a_claim="definition of the layer"),
        Item("Equations (3)-(4)", not_a_claim="the known linear case, recalled"),
        Item("Equations (5)-(6)", not_a_claim="definition of the attention block"),
        Item(
            "Equation (7)",
            claims=_claims(
                "kernel/softmax-gaussian",
                "kernel/random-features",
                "kernel/finite-mercer",
            ),
        ),
        Item("Equation (8)", not_a_claim="definition of the dual model"),
        Item("Equation (9)", alias_of="Theorem 3.1"),
        Item("Equation (10)", not_a_claim="definition of the risk"),
        Item("Equation (11)", alias_of="Theorem 3.2"),
        Item("Equation (12)", claims=_claims("equation-12/dual")),
        Item(
            "Equation (13)",
            claims=_claims(
                "equation-13", "equation-13/self-attention", "equation-13/own-score"
            ),
        ),
        Item("Equation (14)", claims=_claims("equation-14")),
        Item("Equation (15)", claims=_claims("equation-15")),
        Item("Equations (16)-(19)", alias_of="Theorem 3.1"),
        Item("Equations (20)-(23)", alias_of="Theorem B.1"),
        Item("Equations (24)-(25)", alias_of="Theorem B.2"),
        Item("Equations (26)-(31)", alias_of="Theorem 3.2"),
        Item("Equation (32)", alias_of="Equation (12)"),
        Item("Equation (33)", claims=_claims("equation-33")),
        Item(
            "Appendix B.1, rank of W_F",
            claims=_claims("rank-wf", "rank-wf/upper", "rank-wf/lower"),
        ),
        Item("Appendix C.2", claims=_claims("bound-c.2")),
        Item("Equations (35)-(37)", claims=_claims("appendix-f/construction")),
        Item("Equation (38)", claims=_claims("appendix-f/optimality")),
        Item("Figure 1", not_a_claim="illustration"),
        Item("Figure 2", not_a_claim="illustration"),
        Item(
            "Figure 3",
            claims=_claims(
                "figure-3/equivalence",
                "figure-3/regularised",
                "figure-3/augmented",
                "figure-3/negative",
            ),
        ),
        Item("Figure 4", not_a_claim="illustration"),
        Item("Figure 5", not_a_claim="illustration"),
        Item("Figure 6", claims=_claims("figure-6")),
        Item("Figure 7", claims=_claims("figure-7")),
        Item("Figure 8", claims=_claims("figure-8")),
        Item(
            "Figure 9",
            claims=_claims(
                "figure-9/attention", "figure-9/output", "figure-9/large-values"
            ),
        ),
        Item(
            "Figure 10",
            claims=_claims(
                "figure-10/regularised", "figure-10/augmented", "figure-10/negative"
            ),
        ),
        Item(
            "Figure 11",
            claims=_claims(
                "figure-11/equivalence",
                "figure-11/regularised",
                "figure-11/augmented",
                "figure-11/negative",
            ),
        ),
        Item(
            "Figure 12",
            claims=_claims(
                "figure-12/equivalence",
                "figure-12/regularised",
                "figure-12/augmented",
                "figure-12/negative",
            ),
        ),
        Item(
            "Figure 13",
            claims=_claims(
                "figure-13/linear", "figure-13/trigonometric", "figure-13/exponential"
            ),
        ),
        Item("Figure 14", claims=_claims("figure-14/equivalence", "figure-14/rank")),
        Item(
            "Table 1",
            claims=_claims(
                "table-1/regularised",
                "table-1/augmented",
                "table-1/negative",
                "table-1/combined",
            ),
        ),
    ),
)
