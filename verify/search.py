"""Falsification: hunting for counterexamples with budgets that are counts.

Hypothesis draws and shrinks; the search counts what was judged and what was discarded,
and turns the smallest counterexample into a refutation with its witness.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar
from unittest.mock import patch

from verify.outcome import Holds, Outcome, Refuted

T = TypeVar("T")

Witness = Mapping[str, Any]


class SearchError(ValueError):
    """A search was asked for something that cannot be judged."""


class _CounterexampleError(Exception):
    """Leaves Hypothesis when an instance is a counterexample."""


class _DiscardedError(Exception):
    """Leaves a pinned instance that cannot be judged."""


@contextmanager
def _own_draws() -> Generator[None, None, None]:
    """Let draws depend on the seed alone.

    Hypothesis (6.131 and later) also draws constants that it finds in the source of
    imported local modules, so that the same seed would give other examples in another
    process. There is no setting against it.
    """
    from hypothesis.internal.conjecture import providers

    provider = providers.HypothesisProvider
    if not hasattr(provider, "_local_constants"):
        yield
        return
    providers.CONSTANTS_CACHE.cache.clear()
    nothing = type(providers.GLOBAL_CONSTANTS)()
    try:
        with patch.object(provider, "_local_constants", nothing):
            yield
    finally:
        providers.CONSTANTS_CACHE.cache.clear()


@dataclass
class Search:
    """A search for counterexamples, seeded and budgeted.

    Attributes:
        examples: Number of examples of one search.
        seed: Seed of the draws.
        shrink: Shrink a counterexample to the smallest; a mutant needs only some one.
        discards: Instances that could not be judged, by reason.

    >>> from hypothesis import strategies as st
    >>> found = Search(examples=100, seed=0).for_all(
    ...     st.integers(0, 1000),
    ...     lambda n: n**2 > 50,
    ...     lambda n: {"says": f"{n}² > 50"},
    ...     searched="n ≤ 1000",
    ... )
    >>> found.verdict.value, found.reason
    ('REFUTED', '8² > 50')
    """

    examples: int
    seed: int
    shrink: bool = True
    discards: Counter[str] = field(default_factory=Counter)

    def discard(self, reason: str) -> None:
        """Give up on the current instance and count it.

        Args:
            reason: Why it cannot be judged; shown in the report with its count.

        Raises:
            _DiscardedError: Caught by the search: a pinned instance is discarded.
        """
        from hypothesis import currently_in_test_context, reject

        self.discards[reason] += 1
        if currently_in_test_context():
            reject()
        raise _DiscardedError

    def aim(self, value: float, label: str) -> None:
        """Tell the search what to maximise: how close an instance is to a violation.

        Args:
            value: Finite; larger is closer.
            label: Which objective.
        """
        from hypothesis import currently_in_test_context, target

        if currently_in_test_context():  # a pinned instance is judged, never varied
            target(value, label=label)

    def for_all(
        self,
        instances: Any,
        violated: Callable[[Any], bool],
        witness: Callable[[Any], Witness],
        *,
        searched: str,
        pinned: Iterable[Any] = (),
        scale: float = 1.0,
    ) -> Outcome:
        """Judge instances until one is a counterexample or the budget is spent.

        Args:
            instances: A Hypothesis strategy.
            violated: Whether the claim is false on an instance.
            witness: Exact record of a counterexample; called once, on the smallest.
            searched: The space, in words.
            pinned: Instances that are replayed first.
            scale: Multiple of the profile's number of examples.

        Returns:
            HOLDS with the number of instances judged, or REFUTED with the witness of
            the smallest counterexample that shrinking found.
        """
        judged, smallest = self._replay(pinned, violated)
        if smallest is None:
            budget = max(1, round(self.examples * scale))
            drawn, smallest = self._hunt(instances, violated, budget)
            judged += drawn
        evidence: dict[str, Any] = {
            "n": judged,
            "discards": dict(self.discards),
            "searched": searched,
        }
        if smallest is None:
            return Holds(f"no counterexample among {judged} instances", **evidence)
        return _refuted(witness(smallest[0]), **evidence)

    def _replay(
        self, pinned: Iterable[Any], violated: Callable[[Any], bool]
    ) -> tuple[int, tuple[Any] | None]:
        """Judge known instances; how many were judged up to a counterexample."""
        judged = 0
        for instance in pinned:
            try:
                found = violated(instance)
            except _DiscardedError:
                continue
            judged += 1
            if found:
                return judged, (instance,)
        return judged, None

    def _hunt(
        self, instances: Any, violated: Callable[[Any], bool], budget: int
    ) -> tuple[int, tuple[Any] | None]:
        """Draw and shrink; how many were judged up to the first counterexample."""
        from hypothesis import HealthCheck, Phase, given, seed, settings

        judged = 0
        last: tuple[Any] | None = None
        discards = self.discards

        @seed(self.seed)
        @settings(
            max_examples=budget,
            deadline=None,
            database=None,
            derandomize=False,
            print_blob=False,
            report_multiple_bugs=False,
            phases=(Phase.generate, Phase.target, *[Phase.shrink] * self.shrink),
            suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
        )
        @given(instances)
        def hunt(instance: Any) -> None:
            nonlocal judged, last, discards
            found = violated(instance)
            judged += last is None
            if found:
                if last is None:  # shrinking counts no further
                    discards = self.discards.copy()
                last = (instance,)
                raise _CounterexampleError

        try:
            with _own_draws():
                hunt()
        except _CounterexampleError:
            self.discards = discards
            return judged, last
        return judged, None

    def exhaust(
        self,
        instances: Iterable[T],
        violated: Callable[[T], bool],
        witness: Callable[[T], Witness],
        *,
        searched: str,
    ) -> Outcome:
        """Judge every instance of a finite family, in the order given.

        Args:
            instances: Smallest first, so that the first counterexample is minimal.
            violated: Whether the claim is false on an instance.
            witness: Exact record of a counterexample.
            searched: The family, in words.

        Returns:
            HOLDS with the size of the family, or REFUTED with the first witness.

        Raises:
            SearchError: The family is empty.
        """
        judged = 0
        for instance in instances:
            judged += 1
            if violated(instance):
                return _refuted(witness(instance), n=judged, searched=searched)
        if not judged:
            raise SearchError(f"nothing to search in {searched!r}")
        return Holds(f"all {judged} instances", n=judged, searched=searched)


def _refuted(witness: Witness, **evidence: Any) -> Outcome:
    says = str(witness.get("says") or "a counterexample was found")
    return Refuted(says, witness=witness, **evidence)
