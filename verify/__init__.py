"""Decide the theorems of machine-learning papers, with verdicts that can fail.

The vocabulary of a theorem module. Importing it loads the standard library only; the
instruments (``verify.symbolic``, ``verify.search``, ``verify.train``, ...) are imported
by the modules that use them.
"""

from verify.check import check, evidence, necessity
from verify.claim import (
    Anchor,
    Claim,
    Mutant,
    Resolve,
    Variant,
    Wording,
)
from verify.outcome import (
    Figure,
    Holds,
    Inconclusive,
    Outcome,
    Refuted,
    Series,
    Tightness,
)
from verify.paper import Assumption, ClaimError, Item, Paper, Source
from verify.selfcheck import Compared, compare, self_check
from verify.verdict import (
    Cause,
    Fault,
    Grade,
    Kind,
    Need,
    Requires,
    Truth,
    Undecided,
    Verdict,
    holds,
    inconclusive,
    refuted,
)

__all__ = [
    "Anchor",
    "Assumption",
    "Cause",
    "Claim",
    "ClaimError",
    "Compared",
    "Fault",
    "Figure",
    "Grade",
    "Holds",
    "Inconclusive",
    "Item",
    "Kind",
    "Mutant",
    "Need",
    "Outcome",
    "Paper",
    "Refuted",
    "Requires",
    "Resolve",
    "Series",
    "Source",
    "Tightness",
    "Truth",
    "Undecided",
    "Variant",
    "Verdict",
    "Wording",
    "check",
    "compare",
    "evidence",
    "holds",
    "inconclusive",
    "necessity",
    "refuted",
    "self_check",
]
