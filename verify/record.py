"""The record of a run: ``report.json``, schema version 1.

All that a run leaves behind; ``verify/report/schemas`` is generated from it.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from verify.selfcheck_run import SelfCheckRecord
from verify.verdict import Cause, Fault, Grade, Kind, Verdict

SCHEMA_VERSION = 1

Number = float | int | str | None
Json = dict[str, Any]


class Record(BaseModel):
    """Base of every record: immutable, no unknown fields, NaN and infinity as words."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")


class Formula(Record):
    """A parameter, or a change of it, for reading."""

    text: str
    latex: str


class AssumptionRecord(Record):
    """A hypothesis."""

    id: str
    says: str


class SeriesRecord(Record):
    """One curve of a figure."""

    label: str
    x: list[float]
    y: list[float | None]
    low: list[float | None] = []
    high: list[float | None] = []
    style: str = "line"


class FigureRecord(Record):
    """A figure as data."""

    name: str
    title: str
    x_label: str
    y_label: str
    series: list[SeriesRecord]
    x_log: bool = False
    y_log: bool = False
    marks: dict[str, float] = {}
    bands: dict[str, tuple[float, float]] = {}
    caption: str = ""


class TightnessRecord(Record):
    """How close a bound comes to what was observed."""

    bound: str
    observed_over_bound: float
    witness: Json | None = None


class Side(Record):
    """One side of a resolution bracket: nearest accepted and rejected values."""

    accepted: Number = None
    rejected: Number = None


class ResolutionRecord(Record):
    """Bracket around an asserted value, by re-deciding on the same evidence."""

    parameter: str
    claimed: Number
    below: Side
    above: Side
    decisions: int
    monotone: bool = True


class Trial(Record):
    """One decision of a check on a changed claim.

    ``rejected`` means REFUTED with a valid witness; ``error`` is the exception's text.
    """

    role: Literal["mutant", "anchor", "variant"]
    name: str
    verdict: Verdict
    rejected: bool = False
    reason: str = ""
    error: str = ""
    measured: Number = None
    margin: Number = None
    witness: Json | None = None


class StudyRecord(Record):
    """A study of trained models that a check used.

    ``keys`` begin the keys of its entries in the store; ``seconds`` is what serving it
    took, next to nothing where all was in the store.
    """

    name: str
    runs: int
    diverged: int
    device: str
    dtype: str
    keys: list[str]
    seconds: float


class CheckRecord(Record):
    """What one check came to, for one claim: one line of the journal."""

    claim: str
    name: str
    node: str
    role: Literal["check", "necessity"] = "check"
    assumption: str = ""
    needed: bool | None = None
    grade: Grade
    scope: str
    optional: bool = False
    verdict: Verdict
    cause: Cause | None = None
    reason: str = ""
    broken: str = ""
    measured: Number = None
    target: Number = None
    margin: Number = None
    interval: tuple[Number, Number] | None = None
    level: float | None = None
    n: int | None = None
    discards: dict[str, int] = {}
    seconds: float = 0.0
    seed: int | None = None
    searched: str = ""
    steps: list[str] = []
    resolution: list[ResolutionRecord] = []
    witness: Json | None = None
    certificate: Json | None = None
    figures: list[FigureRecord] = []
    tightness: list[TightnessRecord] = []
    trials: list[Trial] = []
    studies: list[StudyRecord] = []
    traceback: str = ""

    @property
    def covers_all(self) -> bool:
        """Whether its scope is "all"."""
        return self.scope == "all"

    @property
    def word(self) -> str:
        """The word that pytest and the terminal print for the node."""
        if self.broken:
            return "BROKEN"
        if self.role == "necessity":
            words = {Verdict.REFUTED: "NEEDED", Verdict.HOLDS: "NOT_NEEDED"}
            return words.get(self.verdict, self.verdict.value)
        return self.verdict.value


class DeclaredVariation(Record):
    """A mutant, anchor or variant as declared."""

    role: Literal["mutant", "anchor", "variant"]
    name: str
    why: str
    change: dict[str, Formula]
    blind: dict[str, str] = {}


class DeclaredCheck(Record):
    """A check as declared, so that what did not run is known."""

    name: str
    node: str
    role: Literal["check", "necessity"]
    grade: Grade
    scope: str
    optional: bool
    assumption: str = ""
    needed: bool | None = None
    left_out: str = ""


class NeedRecord(Record):
    """One condition on the checks that must hold before a claim HOLDS."""

    grades: list[Grade]
    everywhere: bool


class FindingRecord(Record):
    """The verdict recorded in the module as known."""

    verdict: Verdict
    reason: str = ""
    cause: Cause | None = None


class Statement(Record):
    """A claim as stated, with what is recorded as known of it."""

    id: str
    paper: str
    kind: Kind
    wording: str
    reading: str
    title: str
    statement_text: str
    statement_latex: str
    quantifiers: str
    source: str
    parameters: dict[str, Formula]
    assumptions: list[AssumptionRecord]
    finding: FindingRecord
    nearest: str
    weaker: str
    module: str


class DeclaredClaim(Statement):
    """A claim as declared: everything about it that needs no run."""

    needs: list[NeedRecord]
    recipe_complete: bool
    checks: list[DeclaredCheck]
    variations: list[DeclaredVariation]


class MutantRecord(Record):
    """The fate of a mutant."""

    name: str
    change: dict[str, Formula]
    why_false: str
    rejected: bool
    by: list[str]
    blind: dict[str, str]
    survived: list[str] = []
    not_run: list[str] = []
    witness: Json | None = None


class AnchorRecord(Record):
    """The fate of an anchor."""

    name: str
    change: dict[str, Formula]
    why_true: str
    refuted: bool
    held: list[str]
    witness: Json | None = None


class VariantRecord(Record):
    """What the checks said of a variant; never judged."""

    name: str
    change: dict[str, Formula]
    why_unknown: str
    verdicts: dict[str, Verdict]


class NecessityRecord(Record):
    """What breaks without an assumption."""

    assumption: str
    verdict: Literal["needed", "no counterexample found", "undecided", "not run"]
    expected: Literal["needed", "no counterexample found"]
    check: str
    reason: str = ""
    searched: str = ""
    n: int | None = None
    witness: Json | None = None


class ClaimRecord(Statement):
    """A claim with its verdict and all its evidence."""

    verdict: Verdict
    fault: Fault | None
    differs: str
    grade: Grade | None
    scope: str
    cause: Cause | None
    reason: str
    command: str
    checks: list[CheckRecord]
    mutants: list[MutantRecord]
    anchors: list[AnchorRecord]
    variants: list[VariantRecord]
    necessity: list[NecessityRecord]
    tightness: list[TightnessRecord]


class Counts(Record):
    """How many claims of a paper fall in each group; each counts once."""

    holds: int = 0
    refuted: int = 0
    reading_dependent: int = 0
    failing_steps: int = 0
    inconclusive: int = 0
    not_run: int = 0


class PaperRecord(Record):
    """A paper and its counts."""

    key: str
    title: str
    authors: str
    venue: str
    arxiv: str
    counts: Counts


class RunRecord(Record):
    """How the run was made. ``exit_code`` 3 means it did not finish."""

    id: str
    started: str
    seconds: float
    profile: str
    partial: bool
    seed: int
    device: str
    jobs: int
    command: str
    exit_code: int
    red: list[str]
    crashes: list[str]
    notes: list[str] = []


class BudgetLine(Record):
    """One expense of the error budget."""

    claim: str
    check: str
    level: float


class ErrorBudget(Record):
    """Probability that some statistical decision of the run is wrong by chance."""

    spent: float
    lines: list[BudgetLine]
    says: str


class Report(Record):
    """``report.json``."""

    schema_version: Literal[1] = 1
    verdict_digest: str
    result_digest: str
    run: RunRecord
    provenance: Json
    error_budget: ErrorBudget
    papers: list[PaperRecord]
    claims: list[ClaimRecord]
    self_checks: list[SelfCheckRecord] = []


class Header(Record):
    """First line of a journal: what the run set out to do."""

    schema_version: Literal[1] = 1
    id: str
    started: str
    profile: str
    seed: int
    device: str
    jobs: int
    command: str
    key: str
    partial: bool
    papers: list[PaperRecord]
    claims: list[DeclaredClaim]
    self_checks: list[SelfCheckRecord] = []
    provenance: Json
    notes: list[str] = []
