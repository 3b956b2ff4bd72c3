"""Self-checks of a run: one quantity by independent ways of ours, compared.

A verdict is as good as the instruments behind it. A self-check computes the same number
by two or more of them (an exact solver and a numerical one, a quadrature and a sampler)
and allows them to differ by a bound that is derived, not chosen. A difference beyond it
is a failure of the suite: no verdict changes, and the run is red.

Standard library only.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from verify.paper import ClaimError

ENGINE = "engine"
"""Owner of the self-checks of ``verify`` itself, in place of a paper's key."""


@dataclass(frozen=True)
class Compared:
    """Two ways to one quantity.

    Attributes:
        what: The quantity and the two ways, in a few words.
        difference: Distance of the two results.
        bound: The most that rounding, truncation and sampling explain; 0 for exact
            arithmetic on both sides.
    """

    what: str
    difference: float
    bound: float

    def __post_init__(self) -> None:
        if not 0 <= self.bound < math.inf:
            raise ValueError(
                f"{self.what}: a bound of {self.bound} allows everything; derive a "
                "finite one"
            )

    @property
    def agree(self) -> bool:
        """Whether the bound explains the difference; never for NaN."""
        return self.difference <= self.bound

    @property
    def strain(self) -> float:
        """Difference over bound: how much of what is allowed was used."""
        if math.isnan(self.difference):
            return math.inf
        if self.bound == 0:
            return math.inf if self.difference else 0.0
        return self.difference / self.bound


def compare(
    what: str, one: float | Fraction, other: float | Fraction, bound: float
) -> Compared:
    """Compare two numbers.

    Args:
        what: The quantity and the two ways, in a few words.
        one: By one way; the difference is formed exactly.
        other: By the other.
        bound: The most that they may differ by.

    Returns:
        The comparison.

    >>> compare("a third", Fraction(1, 3), Fraction(2, 6), 0).agree
    True
    """
    if not (math.isfinite(one) and math.isfinite(other)):
        return Compared(what, math.nan, bound)
    apart = abs(Fraction(one) - Fraction(other))
    # never rounded to 0: exact ways have a bound of 0
    return Compared(what, max(float(apart), math.ulp(0.0)) if apart else 0.0, bound)


SelfCheckFunction = Callable[[], Iterable[Compared]]


@dataclass(frozen=True)
class SelfCheck:
    """A function that compares independent ways to the same quantities.

    Attributes:
        name: ``<paper>/<function>`` with dashes, or ``engine/<function>``.
        module: Module that defines it.
        says: What is compared, in one sentence.
        why_bound: How the bounds are derived.
        needs_module: Import name of a package without which it does not run.
        function: Compares.
    """

    name: str
    module: str
    says: str
    why_bound: str
    needs_module: str = ""
    function: SelfCheckFunction = field(repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if not (self.says and self.why_bound):
            raise ClaimError(
                f"self-check {self.name!r}: say what is compared, and how its bounds "
                "are derived"
            )

    def __call__(self) -> Iterable[Compared]:
        """Compare directly, for interactive use."""
        return self.function()

    @property
    def owner(self) -> str:
        """The key of its paper, or ``engine``."""
        return self.name.partition("/")[0]

    @property
    def unavailable(self) -> str:
        """Say why it cannot run here; empty when it can."""
        if self.needs_module and importlib.util.find_spec(self.needs_module) is None:
            return f"package {self.needs_module} is not installed"
        return ""


def self_check(
    *, says: str, why: str, needs_module: str = ""
) -> Callable[[SelfCheckFunction], SelfCheck]:
    """Declare a function as a self-check.

    It stands in a module of ``theorems/<paper>/`` and is run with the paper's claims.

    Args:
        says: What is compared, in one sentence.
        why: How the bounds are derived.
        needs_module: Import name of a package without which it does not run.

    Returns:
        A decorator for a function without parameters that returns what it compared,
        at least one :class:`Compared`. Its draws are seeded by itself, so that a run
        can be repeated.
    """

    def declare(function: SelfCheckFunction) -> SelfCheck:
        parts = function.__module__.split(".")
        owner = parts[1] if parts[0] == "theorems" and len(parts) > 2 else ENGINE
        return SelfCheck(
            f"{owner}/{function.__name__.replace('_', '-')}",
            function.__module__,
            says,
            why,
            needs_module,
            function=function,
        )

    return declare
