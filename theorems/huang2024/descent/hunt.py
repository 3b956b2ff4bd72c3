"""A search for counterexamples among small datasets, step sizes and margins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import strategies as st

from theorems.huang2024.data.dataset import Dataset
from theorems.huang2024.data.strategies import datasets
from theorems.huang2024.descent import cases
from theorems.huang2024.descent.notation import Data, has_grouped_counts
from theorems.huang2024.descent.observed import Along, Rows, Setting, follow, judge, of
from verify import Claim, Outcome
from verify.search import Search

AT = (0, 1, 2, 3, 5, 10, 30, 60)
SPACE = "|V| ≤ 5, samples of at most 8 tokens, Δ ≤ 1000, η ≤ 3, t ≤ 60"


STEPS = (0.3, 0.02, 1.0, 3.0)


def small_settings(data: Data, etas: Sequence[float]) -> st.SearchStrategy[Setting]:
    """Runs on small datasets; frequencies differ by powers of two up to 2^48."""
    skew = 0.0 if data.equal else 8.0
    kinds = datasets(injective=True if data.injective else None, skew=skew)
    return st.builds(
        Setting,
        kinds,
        st.sampled_from((1.0, 0.05, 0.5, 5.0, 30.0, 200.0, 1000.0)),
        st.sampled_from(etas),
    )


def pinned(own: Iterable[tuple[Dataset, float, float]], data: Data) -> list[Setting]:
    """Runs that are judged first: a claim's own, and cases known to be tight."""
    known = [Setting(*one) for one in own]
    known += [Setting(one, 5.0, 3.0) for one in cases.INJECTIVE_CASES]
    return [one for one in known if _fits(one.dataset, data)]


def search_paths(
    claim: Claim,
    relations: Sequence[Along],
    search: Search,
    *,
    since: Any = 0,
    at: Sequence[int] = AT,
    etas: Sequence[float] = STEPS,
) -> Outcome:
    """Hunt for a dataset on whose path an inequality fails.

    Args:
        claim: Its domain says which data; its pinned runs are judged first.
        relations: The inequalities.
        search: The engine's search; it aims at the least room.
        since: First step at which they are claimed.
        at: Steps to look at.
        etas: Step sizes to draw from.

    Returns:
        HOLDS, or REFUTED with the rows at fault.
    """
    data: Data = claim.domain

    def rows(setting: Setting) -> Rows:
        if data.grouped and not has_grouped_counts(setting.dataset):
            search.discard("tokens with one next token outnumber the carriers")
        found = of(follow([setting], at), data, since)
        if not found["t"].size:
            search.discard("no step that the claim is about")
        return found

    def violated(setting: Setting) -> bool:
        found = rows(setting)
        search.aim(max(one.excess(found) for one in relations), "excess")
        return any(one.violated(found) for one in relations)

    def witness(setting: Setting) -> Any:
        return judge(relations, rows(setting), SPACE).witness

    return search.for_all(
        small_settings(data, etas),
        violated,
        witness,
        searched=SPACE,
        pinned=pinned(claim.pinned, data),
        scale=0.15,  # each example is a path; random paths by the hundred come besides
    )


def _fits(dataset: Dataset, data: Data) -> bool:
    """Whether a dataset is one that a claim, or a change of it, is about."""
    return (
        (dataset.injective or not data.injective)
        and (has_grouped_counts(dataset) or not data.grouped)
        and (len({*dataset.frequencies}) == 1 or not data.equal)
    )
