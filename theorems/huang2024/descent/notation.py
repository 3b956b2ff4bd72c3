"""What the claims about the descent of stage 2 are written in."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import sympy as sp

from theorems.huang2024.data.dataset import Dataset
from theorems.huang2024.model import COUNTS, MARGIN, ORTHONORMAL
from verify import Assumption

L = sp.Symbol("L", positive=True)  # L_max, length of the longest sample
N = sp.Symbol("N", positive=True)  # number of distinct samples
S = sp.Symbol("S", positive=True)  # norm of W*_kq
X = sp.Symbol("X", positive=True)  # norm of W_kq^(t)
cosine = sp.Symbol("cosine", real=True)  # of the negative gradient and W*_kq
cosine_W = sp.Symbol("cosine_W", real=True)  # of the negative gradient and W_kq^(t)
phi = sp.Symbol("phi", positive=True)  # min over samples of phi_+
pi_min = sp.Symbol("pi_min", positive=True)  # least frequency of a sample
carriers = sp.Symbol("carriers", positive=True)  # |l^(n)| of one sample
length = sp.Symbol("length", positive=True)  # L^(n) of one sample
eta = sp.Symbol("eta", positive=True)  # step size
t = sp.Symbol("t", positive=True)  # step


@dataclass(frozen=True)
class Data:
    """The datasets of a claim; all satisfy Assumptions 1 and 3.

    Attributes:
        injective: Whether n is injective.
        grouped: Whether the carriers of a sample are at least as many as the tokens
            that share any other next token. Follows from Assumption 3 for injective n.
        equal: Whether all samples have the same frequency.
    """

    injective: bool
    grouped: bool = True
    equal: bool = False

    def __str__(self) -> str:
        words = ["n injective" if self.injective else "any map n"]
        if self.grouped and not self.injective:
            words.append("counts grouped by next token")
        if self.equal:
            words.append("equal frequencies")
        return ", ".join(words)


INJECTIVE = Data(injective=True)
ANY_MAP = Data(injective=False, grouped=False)
GROUPED = Data(injective=False)
EQUAL = Data(injective=True, equal=True)


def has_grouped_counts(dataset: Dataset) -> bool:
    """Whether |l| >= sum_l 1{In(x_l) = i} in every sample, for all i but the label."""
    n = dataset.successor
    for sentence, label in zip(dataset.sentences, dataset.labels, strict=True):
        counts = Counter(n[x] for x in sentence)
        if max(counts.values()) > counts[label]:
            return False
    return True


REALIZABLE = Assumption(
    "realizable",
    "Assumption 1, with a carrier of its label in every sample; see no-confused",
)
NO_CONFUSED = Assumption("no-confused", "no token is confused (part of Assumption 1)")
GROUPED_COUNTS = Assumption(
    "grouped-counts",
    "in no sample do the tokens with one other next token outnumber the carriers",
)
ZERO_START = Assumption("zero-start", "W_kq^(0) = 0")
NORMALISED = Assumption("normalised", "steps are gradients divided by their norm")
CONSTRAINED = Assumption(
    "constrained", "problem (3) has a constraint, so that W*_kq and gradients are not 0"
)
SMALL_STEP = Assumption("small-step", "η < O(1); the proof uses η ≤ ‖W*_kq‖/e")

COMMON = (
    REALIZABLE,
    NO_CONFUSED,
    ORTHONORMAL,
    MARGIN,
    ZERO_START,
    NORMALISED,
    CONSTRAINED,
)
AS_PRINTED = (*COMMON, COUNTS)
REPAIRED = (*COMMON, GROUPED_COUNTS)
