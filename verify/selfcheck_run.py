"""Running self-checks: from what they compared to the record."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from verify.selfcheck import Compared, SelfCheck
from verify.trouble import CannotRun

PASS_THROUGH = (KeyboardInterrupt, MemoryError, CannotRun)
NAMED = 3  # disagreements that a reason spells out


class SelfCheckRecord(BaseModel):
    """What one self-check came to: one line of the journal.

    ``measured`` and ``bound`` are of the comparison that used most of its bound.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    says: str
    verdict: Literal["AGREE", "DISAGREE", "NOT_RUN"] = "NOT_RUN"
    measured: float | None = None
    bound: float | None = None
    n: int = 0
    why_bound: str
    seconds: float = 0.0
    reason: str = ""

    @property
    def failed(self) -> bool:
        """Whether it turns the run red."""
        return self.verdict == "DISAGREE"


def declared(check: SelfCheck, reason: str = "not run") -> SelfCheckRecord:
    """The record of a self-check that has not run."""
    return SelfCheckRecord(
        name=check.name,
        says=check.says,
        why_bound=check.why_bound,
        reason=check.unavailable or reason,
    )


def judge(check: SelfCheck) -> SelfCheckRecord:
    """Run a self-check.

    Args:
        check: The self-check.

    Returns:
        AGREE when all differences are within their bounds. An exception, a NaN and a
        self-check that compares nothing DISAGREE.
    """
    started = time.perf_counter()
    try:
        found = _found(check)
    except PASS_THROUGH:
        raise
    except Exception as error:  # ruff: ignore[blind-except] - recorded
        said = " ".join(f"{type(error).__name__}: {error}".split())
        outcome: dict[str, object] = {"verdict": "DISAGREE", "reason": said}
    else:
        outcome = _outcome(found)
    changes = outcome | {"seconds": time.perf_counter() - started}
    return SelfCheckRecord.model_validate(declared(check).model_dump() | changes)


def _found(check: SelfCheck) -> Sequence[Compared]:
    found = [*check.function()]
    if not found or not all(isinstance(x, Compared) for x in found):
        raise TypeError("it returned no comparisons; return at least one Compared")
    return found


def _outcome(found: Sequence[Compared]) -> dict[str, object]:
    worst = max(found, key=lambda x: x.strain)
    wrong = sorted((x for x in found if not x.agree), key=lambda x: -x.strain)
    told = f"{len(found)} comparisons; nearest to its bound: {worst.what}"
    if wrong:
        named = "; ".join(
            f"{x.what}: {x.difference:.3g} apart, {x.bound:.3g} explained"
            for x in wrong[:NAMED]
        )
        told = f"{len(wrong)} of {len(found)} comparisons: {named}"
    measured = worst.difference
    return {
        "verdict": "DISAGREE" if wrong else "AGREE",
        "measured": measured if math.isfinite(measured) else None,
        "bound": worst.bound,
        "n": len(found),
        "reason": told,
    }
