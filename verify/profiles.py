"""Profiles: how much work a run does. Budgets are counts, never seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

NAMES = ("smoke", "default", "full")

# Examples that a search may spend on a mutant. A mutant is false, so that a search ends
# at its first counterexample: only unlucky draws come near. A search that meets one
# with probability 1 % per example misses it with probability 1e-13; checks that ask
# for a tenth of the budget miss one of 5 % with probability 2e-7.
PATIENCE = 3_000


class UnknownProfileError(ValueError):
    """The profile does not exist; the message lists those that do."""


@dataclass(frozen=True)
class Profile:
    """Budgets of a run.

    Attributes:
        name: ``smoke``, ``default`` or ``full``.
        examples: Examples of one property search.
        instances: Random instances of one batched numeric check.
        seeds: Seeds of a trained study; never below 32, where intervals decide.
        level: Error probability that one statistical decision may spend.
        refine: Look for the smallest counterexample, and measure resolutions. Neither
            changes a verdict.
    """

    name: str
    examples: int
    instances: int
    seeds: int
    level: float = 1e-6
    refine: bool = True

    def pick(self, *, smoke: T, default: T, full: T) -> T:
        """The value for this profile."""
        return {"smoke": smoke, "default": default, "full": full}[self.name]


PROFILES = {
    "smoke": Profile("smoke", examples=25, instances=250, seeds=32, refine=False),
    "default": Profile("default", examples=300, instances=2_000, seeds=32),
    "full": Profile("full", examples=3_000, instances=20_000, seeds=128),
}


def profile(name: str) -> Profile:
    """Look a profile up.

    Args:
        name: ``smoke``, ``default`` or ``full``.

    Returns:
        The profile.

    Raises:
        UnknownProfileError: There is none of that name.
    """
    try:
        return PROFILES[name]
    except KeyError:
        known = ", ".join(PROFILES)
        raise UnknownProfileError(
            f"unknown profile {name!r}; choose one of {known}"
        ) from None
