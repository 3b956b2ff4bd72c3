"""On which data and by which training a statement about scores is made."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from theorems.huang2024.data.dataset import Dataset
from verify import Assumption

NORMALISED = Assumption(
    "normalised", "steps of stage 2 are gradients divided by their norm"
)
ZERO_START = Assumption("zero-start", "W_kq^(0) = 0")
ONE_OPTIMAL = Assumption(
    "one-optimal", "all tokens of a sample that its label follows are the same token"
)
COUNTS_ALIKE = Assumption(
    "counts-alike",
    "Assumption 3 with tokens counted by their next token: in no sample do the tokens "
    "followed by i, i not the label, outnumber those followed by the label",
)
LENGTH = Assumption(
    "length", "the input is no longer than L; the constants may depend on L"
)


@dataclass(frozen=True)
class Setting:
    """Data and training.

    Attributes:
        data: In words.
        one_optimal: Each sample has one optimal token type.
        alike: Assumption 3 counts tokens by their next token.
        injective: n is injective: implies both of the above, given Assumption 3.
        normalised: Normalised gradient descent, as in Algorithm 1.
        zero_start: W_kq^(0) = 0.
    """

    data: str
    one_optimal: bool
    alike: bool
    injective: bool = False
    normalised: bool = True
    zero_start: bool = True

    def __str__(self) -> str:
        parts = [self.data]
        parts += ["gradient descent not normalised"] * (not self.normalised)
        parts += ["W_kq starts elsewhere than in zero"] * (not self.zero_start)
        return "; ".join(parts)

    def contains(self, dataset: Dataset) -> bool:
        """Whether data that satisfy Assumptions 1 and 3 belong to it."""
        return (
            (dataset.injective or not self.injective)
            and (one_optimal(dataset) or not self.one_optimal)
            and (counts_alike(dataset) or not self.alike)
        )


def one_optimal(dataset: Dataset) -> bool:
    """Whether each sample with a constraint has one optimal token type."""
    return all(
        len(set(upper)) == 1
        for upper, lower in map(_sides, *_samples(dataset))
        if upper and lower
    )


def counts_alike(dataset: Dataset) -> bool:
    """Whether Assumption 3 holds with tokens counted by their next token."""
    n = dataset.successor
    for upper, lower in map(_sides, *_samples(dataset)):
        if max(Counter(n[x] for x in lower).values(), default=0) > len(upper):
            return False
    return True


def _samples(dataset: Dataset):
    n, labels = dataset.successor, dataset.labels
    return [(n, label) for label in labels], dataset.sentences


def _sides(known, sentence) -> tuple[list[int], list[int]]:
    n, label = known
    return (
        [x for x in sentence if n[x] == label],
        [x for x in sentence if n[x] != label],
    )


INJECTIVE = Setting("n injective", True, True, injective=True)
ANY_MAP = Setting("any map n", False, False)
ANY_ALIKE = Setting("any map n, counts by next token", False, True)
ONE_TYPE = Setting(
    "any map n, one optimal token in each sample, counts by next token", True, True
)
