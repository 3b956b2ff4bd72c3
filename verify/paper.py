"""Papers as data: their numbered items, places in them, and hypotheses.

Standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass


class ClaimError(ValueError):
    """A claim, mutant or check is declared wrongly; the message names the remedy."""


@dataclass(frozen=True)
class Source:
    """Where a claim stands.

    Attributes:
        paper: Key of the paper.
        place: For instance ``Theorem 3.1``.
        detail: Further places, such as equation numbers and the proof.
    """

    paper: str
    place: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.place} ({self.detail})" if self.detail else self.place


@dataclass(frozen=True)
class Item:
    """One numbered item of a paper and what became of it.

    Exactly one of the fields after ``label`` is given.

    Attributes:
        label: As printed, for instance ``Theorem 3.1``.
        claims: Ids of the claims that state it.
        alias_of: Label of the item it repeats.
        not_a_claim: Why it asserts nothing that could be false.
        not_stated: What is still to be stated.
    """

    label: str
    claims: tuple[str, ...] = ()
    alias_of: str = ""
    not_a_claim: str = ""
    not_stated: str = ""

    def __post_init__(self) -> None:
        given = [self.claims, self.alias_of, self.not_a_claim, self.not_stated]
        if sum(map(bool, given)) != 1:
            raise ClaimError(
                f"item {self.label!r}: give exactly one of claims, alias_of, "
                "not_a_claim, not_stated"
            )


@dataclass(frozen=True)
class Paper:
    """A paper whose claims are decided.

    Attributes:
        key: Author-year key, first segment of its claims' ids.
        title: Full title.
        authors: As printed.
        venue: For instance ``NeurIPS 2024``.
        arxiv: arXiv number.
        items: Every numbered item, for ``verify list --coverage``.
    """

    key: str
    title: str
    authors: str = ""
    venue: str = ""
    arxiv: str = ""
    items: tuple[Item, ...] = ()

    def __post_init__(self) -> None:
        labels = [item.label for item in self.items]
        for item in self.items:
            if labels.count(item.label) > 1:
                raise ClaimError(f"{self.key}: two items are called {item.label!r}")
            if item.alias_of and item.alias_of not in labels:
                raise ClaimError(
                    f"{self.key}: item {item.label!r} repeats {item.alias_of!r}, which "
                    "is no item"
                )

    def at(self, place: str, detail: str = "") -> Source:
        """Address a place in this paper."""
        return Source(self.key, place, detail)


@dataclass(frozen=True)
class Assumption:
    """A hypothesis of a claim.

    Attributes:
        id: Short name, unique within the claim.
        says: The hypothesis in words.
    """

    id: str
    says: str
