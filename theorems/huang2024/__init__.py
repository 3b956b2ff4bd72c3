"""huang2024: non-asymptotic convergence of training Transformers on next tokens.

Huang, Liang and Yang, "Non-asymptotic Convergence of Training Transformers for
Next-token Prediction", NeurIPS 2024, arXiv 2409.17335.

Notation (paper -> here):

    V, d            vocabulary, width of its embedding; tokens are 0..|V|-1
    n               the next-token map V -> V (the collocation), ``successor``
    In(x)           index of n(x)
    X^(n), pi^(n)   the N distinct samples and their frequencies
    In(X^(n)), y    index of the token that follows a sample, its ``label``
    q, X_{-1}       the query, last token of a sample
    D_0^q           the samples with query q
    l^(n)           the positions of a sample whose token is followed by its label
    x >_q x'        Definition 1; ``order(q)``, as pairs (x, x')
    L_max           length of the longest sample
    W_ov, W_kq      feed-forward layer |V| x d, key-query matrix d x d
    W*_ov, W*_kq    solutions of the max-margin problems (2) and (3)
    phi, phi_+      attention weights of a sample, their sum over l^(n)
    T_theta         output probabilities
    Delta           margin of the feed-forward layer after stage 1
    eta_0, T        step size and number of steps of stage 1
    eta, t          step size and step of stage 2

What the text gets wrong or leaves open, beyond what a claim decides:

    1. Whether n is injective is not said. Several claims turn on it: readings
       @injective and @any-map.
    2. Whether samples are all prefixes of some texts, as in Example 1, or any
       sentences, as in the definitions, is not said: readings @prefixes, @sentences.
    3. "Optimal: no token is greater" makes every non-comparable token optimal and
       non-optimal too; "four disjoint types" and "strict" take them out, as here.
    4. Orders without confused tokens are well defined by themselves: irreflexive since
       n(x) = x_{L+1} != n(x) is impossible, transitive since no x > x' > x'' occurs.
    5. That the next token of a sample follows one of its tokens is not an assumption.
       It is needed to "regenerate the training dataset" and counts here as a part of
       Assumption 1.
    6. Assumption 3 in words compares numbers of tokens; its formula counts each
       non-optimal token on its own. The formula is used.
    7. In "l^(n)" a token followed by the label is optimal under Assumption 1, so that
       the first half of its definition is redundant.
    8. Sentences of one token are samples: they have no constraint and no gradient, but
       they count in N and in the frequencies.
    9. Section 6 recalls that non-comparable tokens never appear in samples with their
       query. They do, where all tokens of a sample are followed by its label.
    10. A next token is a function of its prefix, so that texts which begin alike go on
       alike: prefix data have at most |V| texts, one for each first token, and cuts of
       these.
    11. The text says "the collocation can be obtained through extracting all length-2
       sentences"; these are one-token samples with their next token.
"""

from verify import Item, Paper


def _claims(*names: str) -> tuple[str, ...]:
    return tuple(f"huang2024/{name}" for name in names)


PAPER = Paper(
    key="huang2024",
    title=(
        "Non-asymptotic Convergence of Training Transformers for Next-token Prediction"
    ),
    authors="Ruiquan Huang, Yingbin Liang and Jing Yang",
    venue="NeurIPS 2024",
    arxiv="2409.17335",
    items=(
        Item(
            "Definition 1",
            claims=_claims(
                "definition-1", "definition-1/absent", "definition-1/comparable"
            ),
        ),
        Item("Assumption 1", claims=_claims("assumption-1")),
        Item("Assumption 2", claims=_claims("assumption-2")),
        Item("Assumption 3", claims=_claims("assumption-3")),
        Item("Example 1", claims=_claims("example-1")),
        Item("Example 2", claims=_claims("example-2")),
        Item("Algorithm 1", not_a_claim="definition of the two-stage training"),
        Item(
            "Proposition 1",
            claims=_claims(
                "proposition-1/direction",
                "proposition-1/norm",
                "proposition-1/loss",
                "proposition-1/max-margin",
                "proposition-1/sharp",
                "proposition-1/weighted",
            ),
        ),
        Item(
            "Proposition 2",
            claims=_claims(
                "proposition-2",
                "proposition-2/repaired",
                "proposition-2/hall",
                "proposition-2/signs",
            ),
        ),
        Item("Proposition 3", alias_of="Proposition 1"),
        Item("Proposition 4", alias_of="Proposition 2"),
        Item(
            "Theorem 1",
            claims=_claims(
                "theorem-1/direction",
                "theorem-1/direction/repaired",
                "theorem-1/direction/frequencies",
                "theorem-1/direction/sharp",
                "theorem-1/direction/degenerate",
                "theorem-1/norm",
                "theorem-1/norm/repaired",
            ),
        ),
        Item(
            "Theorem 2",
            claims=_claims(
                "theorem-2/weight",
                "theorem-2/weight/repaired",
                "theorem-2/loss",
                "theorem-2/loss/sharp",
            ),
        ),
        Item(
            "Theorem 3",
            claims=_claims(
                "theorem-3/order",
                "theorem-3/order/repaired",
                "theorem-3/order/signs",
                "theorem-3/prediction",
                "theorem-3/prediction/counts",
                "theorem-3/prediction/majority",
            ),
        ),
        Item("Lemma 1", claims=_claims("lemma-1", "lemma-1/weighted")),
        Item("Lemma 2", claims=_claims("lemma-2", "lemma-2/weighted")),
        Item("Lemma 3", claims=_claims("lemma-3")),
        Item("Corollary 1", claims=_claims("corollary-1")),
        Item("Lemma 4", claims=_claims("lemma-4")),
        Item("Lemma 5", claims=_claims("lemma-5", "lemma-5/repaired")),
        Item("Lemma 6", claims=_claims("lemma-6", "lemma-6/sharp")),
        Item("Lemma 7", claims=_claims("lemma-7", "lemma-7/repaired")),
        Item("Equation (1)", not_a_claim="definition of the loss"),
        Item("Equation (2)", not_a_claim="max-margin problem of stage 1"),
        Item("Equation (3)", not_a_claim="max-margin problem of stage 2"),
        Item("Equation (4)", not_a_claim="lost; no surviving text refers to it"),
        Item("Equation (5)", not_stated="gradient of the feed-forward layer"),
        Item("Equation (6)", alias_of="Lemma 4"),
        Item("Equation (7)", not_a_claim="the step of stage 1, of Algorithm 1"),
        Item("Equation (8)", alias_of="Lemma 1"),
        Item("Equation (9)", not_a_claim="lost; no surviving text refers to it"),
        Item("Equation (10)", not_a_claim="the step of stage 2, of Algorithm 1"),
        Item("Equation (11)", not_stated="bound on attention weights by score gaps"),
        Item("Equation (12)", not_a_claim="lost; no surviving text refers to it"),
        Item("Equation (13)", alias_of="Theorem 1"),
        Item("Equations (14)-(15)", alias_of="Proposition 2"),
        Item("Figure 1", not_a_claim="illustration of Example 1"),
        Item("Figure 2", claims=_claims("figure-2", "figure-2/distance")),
    ),
)
