"""What occurs more than once in a report: shown once on the page, linked after that."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from verify.record import ClaimRecord, FigureRecord

MIN_SHARED = 400  # characters of JSON; what is shorter is as quickly read again
MIN_RUN = 6  # proof steps in a row; fewer are as quickly read again


class Shown(NamedTuple):
    """Whether something stands on the page already, and where."""

    anchor: str = ""
    again: bool = False
    claim: ClaimRecord | None = None


class Start(NamedTuple):
    """Where a run of proof steps begins that stands on the page."""

    anchor: str
    claim: ClaimRecord
    at: int
    steps: Sequence[str]

    def follow(self, steps: Sequence[str], at: int) -> int:
        """How many steps from here on are the same."""
        pairs = zip(self.steps[self.at :], steps[at:], strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


class Step(NamedTuple):
    """A proof step to show."""

    number: int
    text: str


class Run(NamedTuple):
    """Proof steps that stand elsewhere: ``n`` of them, there from ``at`` on."""

    number: int
    n: int
    at: int
    anchor: str
    claim: ClaimRecord

    @property
    def text(self) -> str:
        """None: it is a link."""
        return ""


class Repeats:
    """Figures and witnesses that occur more than once: shown once, linked after that.

    Args:
        claims: In the order of the page.
    """

    def __init__(self, claims: Iterable[ClaimRecord]) -> None:
        """Count everything that could be shown."""
        counts = Counter(key for claim in claims for key in _keys(claim))
        self._several = {key for key, n in counts.items() if n > 1}
        self._places: dict[str, Shown] = {}
        self._steps: dict[tuple[str, ...], Start] = {}
        self._lists = 0

    def __call__(
        self, record: FigureRecord | Mapping[str, Any], claim: ClaimRecord
    ) -> Shown:
        """Say whether a record is to be shown here.

        Args:
            record: The figure or witness.
            claim: The claim under which it would stand.

        Returns:
            With ``again`` if it stands at ``anchor`` already.
        """
        key = _key(record)
        if key not in self._several:
            return Shown()
        if key in self._places:
            return self._places[key]._replace(again=True)
        self._places[key] = Shown(f"shown-{len(self._places) + 1}", claim=claim)
        return self._places[key]

    def steps(
        self, steps: Sequence[str], claim: ClaimRecord
    ) -> tuple[str, list[Step | Run]]:
        """Split proof steps into those to show and runs that stand elsewhere.

        Args:
            steps: The steps of a check.
            claim: The claim under which they stand.

        Returns:
            A fragment for these steps, and the entries of the list.
        """
        self._lists += 1
        anchor = f"steps-{self._lists}"
        entries: list[Step | Run] = []
        at = 0
        while at < len(steps):
            start = self._steps.get(tuple(steps[at : at + MIN_RUN]))
            n = start.follow(steps, at) if start else 0
            if start and n >= MIN_RUN:
                entries.append(Run(at + 1, n, start.at + 1, start.anchor, start.claim))
                at += n
            else:
                entries.append(Step(at + 1, steps[at]))
                at += 1
        for first in range(len(steps) - MIN_RUN + 1):
            start = Start(anchor, claim, first, steps)
            self._steps.setdefault(tuple(steps[first : first + MIN_RUN]), start)
        return anchor, entries

    def mark(self) -> tuple[dict[str, Shown], dict[tuple[str, ...], Start]]:
        """The state, to come back to where a claim could not be shown."""
        return dict(self._places), dict(self._steps)

    def restore(
        self, state: tuple[dict[str, Shown], dict[tuple[str, ...], Start]]
    ) -> None:
        """Forget what was shown since the state was marked."""
        self._places, self._steps = state


def _key(record: FigureRecord | Mapping[str, Any]) -> str:
    data = record.model_dump() if isinstance(record, FigureRecord) else record
    try:
        return json.dumps(data, sort_keys=True, default=str)
    except (RecursionError, ValueError, TypeError):  # too deep, or over 4300 digits
        return f"record {id(record)}"


def _keys(claim: ClaimRecord) -> Iterator[str]:
    for check in claim.checks:
        yield from map(_key, check.figures)
    evidence: list[Any] = [*claim.checks, *claim.mutants, *claim.anchors]
    evidence += [*claim.necessity, *claim.tightness]
    records = [entry.witness for entry in evidence]
    records += [check.certificate for check in claim.checks]
    for record in records:
        if record and len(key := _key(record)) >= MIN_SHARED:
            yield key
