"""Assumptions that the claims of huang2024 share, in words."""

from verify import Assumption

REALIZABLE = Assumption(
    "realizable",
    "Assumption 1: the data admit a collocation n, and every query-dependent partial "
    "order is well defined and has no confused tokens",
)
ORTHONORMAL = Assumption(
    "orthonormal", "Assumption 2: the embeddings of the tokens are orthonormal"
)
COUNTS = Assumption(
    "counts",
    "Assumption 3: in no sample does a non-optimal token stand more often than all "
    "optimal tokens together",
)
INJECTIVE = Assumption("injective", "no two tokens have the same next token n(x)")
PREFIXES = Assumption("prefixes", "the samples are all proper prefixes of some texts")
SENTENCES = Assumption("sentences", "the samples are any sentences with next tokens")
MARGIN = Assumption(
    "equal-margin",
    "stage 1 ended with W_ov x = Δ e_{In(x)} + c(x) 1, for all tokens x",
)
