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
        Item("Theorem 3.2", not_stated="generalisation bound of the dual model"),
        Item("Theorem C.1", alias_of="Theorem 3.2"),
        Item("Theorem B.1", not_stated="one Transformer layer"),
        Item("Theorem B.2", not_stated="L attention layers"),
        Item("Lemma C.2", not_stated="vector contraction of Rademacher averages"),
        Item("Lemma D.1", not_stated="full rank of A + alpha I"),
        Item("Equations (1)-(2)", not_a_claim="definition of the layer"),
        Item("Equations (3)-(4)", not_a_claim="the known linear case, recalled"),
        Item("Equations (5)-(6)", not_a_claim="definition of the attention block"),
        Item("Equation (7)", not_stated="softmax kernel, its feature maps"),
        Item("Equation (8)", not_a_claim="definition of the dual model"),
        Item("Equation (9)", alias_of="Theorem 3.1"),
        Item("Equation (10)", not_a_claim="definition of the risk"),
        Item("Equation (11)", alias_of="Theorem 3.2"),
        Item("Equation (12)", not_stated="dual of the regularised attention"),
        Item("Equation (13)", not_stated="regularised attention"),
        Item("Equation (14)", not_stated="augmented attention"),
        Item("Equation (15)", not_stated="attention with negative samples"),
        Item("Equations (16)-(19)", alias_of="Theorem 3.1"),
        Item("Equations (20)-(23)", alias_of="Theorem B.1"),
        Item("Equations (24)-(25)", alias_of="Theorem B.2"),
        Item("Equations (26)-(31)", alias_of="Theorem 3.2"),
        Item("Equation (32)", alias_of="Equation (12)"),
        Item("Equation (33)", not_stated="ridge form"),
        Item("Equations (35)-(37)", not_stated="construction of Appendix F"),
        Item("Equation (38)", not_stated="optimality of the construction"),
        Item("Figure 1", not_a_claim="illustration"),
        Item("Figure 2", not_a_claim="illustration"),
        Item("Figure 3", not_stated="equivalence and modifications, linear task"),
        Item("Figure 4", not_a_claim="illustration"),
        Item("Figure 5", not_a_claim="illustration"),
        *(
            Item(f"Figure {n}", not_stated="accuracy of random features")
            for n in (6, 7, 8, 9)
        ),
        Item("Figure 10", not_stated="more seeds of Figure 3"),
        Item("Figure 11", not_stated="trigonometric task"),
        Item("Figure 12", not_stated="exponential task"),
        Item("Figure 13", not_stated="combinations"),
        Item("Figure 14", not_stated="one Transformer layer, rank of I_M"),
        Item("Table 1", not_stated="fine-tuned BERT"),
    ),
)
