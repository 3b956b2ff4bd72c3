"""From a journal to the report: combination, findings, digests, exit code.

Works on records alone, so that the report of a killed run is built by the same code as
that of a finished one.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence

from verify import recheck
from verify.journal import Journal
from verify.record import (
    AnchorRecord,
    BudgetLine,
    CheckRecord,
    ClaimRecord,
    Counts,
    DeclaredCheck,
    DeclaredClaim,
    DeclaredVariation,
    ErrorBudget,
    MutantRecord,
    NecessityRecord,
    PaperRecord,
    Report,
    RunRecord,
    Statement,
    Trial,
    VariantRecord,
)
from verify.selfcheck_run import SelfCheckRecord
from verify.verdict import (
    CheckSummary,
    Combined,
    Finding,
    Kind,
    Need,
    Requires,
    Verdict,
    combine,
    contradicts,
    exit_code,
)

Records = dict[str, CheckRecord]

UNASKED = "not run"
"""Reason of a check that neither the profile nor the machine left out."""


def build(journal: Journal, *, strict: bool = False) -> Report:
    """Build the report of a run from its journal.

    Args:
        journal: Of a finished run, or of one that was killed.
        strict: Every claim that does not HOLD turns the run red.

    Returns:
        The report, with both digests.
    """
    by_claim: dict[str, Records] = {}
    for (claim_id, name), record in journal.records.items():
        by_claim.setdefault(claim_id, {})[name] = record
    header = journal.header
    options = f"--profile {header.profile} --seed {header.seed}"
    claims = [
        _claim(declared, by_claim.get(declared.id, {}), options)
        for declared in header.claims
    ]
    self_checks = [journal.self_checks.get(x.name, x) for x in header.self_checks]
    report = Report(
        verdict_digest="",
        result_digest="",
        run=_run(journal, claims, self_checks, strict),
        provenance=header.provenance,
        error_budget=_error_budget(claims),
        papers=[_paper(paper, claims) for paper in header.papers],
        claims=claims,
        self_checks=self_checks,
    )
    plain = report.model_dump(mode="json")
    return report.model_copy(
        update={
            "verdict_digest": recheck.verdict_digest(plain),
            "result_digest": recheck.result_digest(plain),
        }
    )


def _run(
    journal: Journal,
    claims: Sequence[ClaimRecord],
    self_checks: Sequence[SelfCheckRecord],
    strict: bool,
) -> RunRecord:
    header = journal.header
    red = [line for claim in claims for line in _red(claim)]
    red += [f"self-check {x.name}: {x.reason}" for x in self_checks if x.failed]
    short = [f"{c.id} is {c.verdict}" for c in claims if c.verdict is not Verdict.HOLDS]
    finished = journal.end is not None
    crashes = list(journal.crashes)
    if not finished:
        crashes.append("the run did not finish")
    return RunRecord(
        id=header.id,
        started=header.started,
        seconds=float(journal.end["seconds"]) if journal.end else 0.0,
        profile=header.profile,
        partial=header.partial or any(_is_partial(journal, c) for c in header.claims),
        seed=header.seed,
        device=header.device,
        jobs=header.jobs,
        command=header.command,
        exit_code=exit_code(
            red=red,
            crashed=bool(crashes),
            ran=len(journal.records) + len(journal.self_checks),
            strict=short if strict else (),
        ),
        red=red,
        crashes=crashes,
        notes=header.notes,
    )


def _is_partial(journal: Journal, claim: DeclaredClaim) -> bool:
    """Whether a check that this profile and machine could run did not run."""
    return any(
        (claim.id, check.name) not in journal.records and not check.left_out
        for check in claim.checks
    )


def _red(claim: ClaimRecord) -> list[str]:
    lines = []
    if claim.fault:
        lines.append(f"{claim.id}: {claim.fault}: {claim.reason}")
    elif claim.differs:
        lines.append(f"{claim.id}: {claim.differs}")
    lines += [
        f"{claim.id}: without {n.assumption!r}: {n.verdict}, expected {n.expected}"
        for n in claim.necessity
        if n.verdict not in {n.expected, "not run"}
    ]
    return lines


def _claim(declared: DeclaredClaim, records: Records, options: str) -> ClaimRecord:
    summaries = [_summary(declared, c, records.get(c.name)) for c in declared.checks]
    deciding = [
        s
        for s, c in zip(summaries, declared.checks, strict=True)
        if c.role == "check" or s.broken
    ]
    requires = Requires(
        tuple(Need(frozenset(n.grades), n.everywhere) for n in declared.needs),
        declared.weaker,
    )
    combined = combine(declared.kind, requires, deciding)
    checks = [
        records.get(c.name) or _not_run(declared, c)
        for c in declared.checks
        if c.role == "check"
    ]
    fields = {name: getattr(declared, name) for name in Statement.model_fields}
    own = [
        r for c in declared.checks if (r := records.get(c.name)) and c.role == "check"
    ]
    return ClaimRecord(
        **fields,
        verdict=combined.verdict,
        fault=combined.fault,
        differs=_differs(declared, combined, deciding),
        grade=combined.grade,
        scope=combined.scope,
        cause=combined.cause,
        reason=combined.reason,
        command=f"verify run {shlex.quote(declared.id)} {options}",
        checks=checks,
        mutants=[_mutant(declared, v, own) for v in _declared(declared, "mutant")],
        anchors=[_anchor(v, own) for v in _declared(declared, "anchor")],
        variants=[_variant(v, own) for v in _declared(declared, "variant")],
        necessity=[
            _necessity(c, records.get(c.name))
            for c in declared.checks
            if c.role == "necessity"
        ],
        tightness=[t for record in own for t in record.tightness],
    )


def _summary(
    declared: DeclaredClaim, check: DeclaredCheck, record: CheckRecord | None
) -> CheckSummary:
    if record is None:
        return CheckSummary(
            check.name,
            check.grade,
            scope=check.scope,
            optional=check.optional,
            reason=check.left_out,
        )
    return summary(record, declared.recipe_complete)


def summary(record: CheckRecord, recipe_complete: bool) -> CheckSummary:
    """What the rules of combination need to know of a finished check."""
    return CheckSummary(
        record.name,
        record.grade,
        covers_all=record.covers_all,
        scope=record.searched or record.scope,
        optional=record.optional,
        verdict=record.verdict,
        cause=record.cause,
        reason=record.reason,
        broken=record.broken,
        recipe_complete=recipe_complete,
    )


def _not_run(declared: DeclaredClaim, check: DeclaredCheck) -> CheckRecord:
    return CheckRecord(
        claim=declared.id,
        name=check.name,
        node=check.node,
        grade=check.grade,
        scope=check.scope,
        optional=check.optional,
        verdict=Verdict.NOT_RUN,
        reason=check.left_out or UNASKED,
    )


def _differs(
    declared: DeclaredClaim, combined: Combined, checks: Sequence[CheckSummary]
) -> str:
    """How the run differs from the recorded finding; empty when it does not."""
    known = declared.finding
    finding = Finding(known.verdict, known.reason, known.cause)
    if combined.verdict not in {finding.verdict, Verdict.NOT_RUN}:
        return f"{combined.verdict}, finding {finding.verdict} ({combined.reason})"
    if combined.disagreement:
        return f"{combined.disagreement} (trained) disagrees"
    for check in checks:
        text = contradicts(finding, declared.kind, check)
        if text:
            return f"{check.name}: {text}"
    return ""


def _declared(declared: DeclaredClaim, role: str) -> list[DeclaredVariation]:
    return [v for v in declared.variations if v.role == role]


def _trials(name: str, records: Sequence[CheckRecord]) -> dict[str, Trial]:
    """What each check made of a variation, by check, strongest grade first."""
    ordered = sorted(records, key=lambda r: r.grade.rank)
    return {r.name: t for r in ordered for t in r.trials if t.name == name}


def _mutant(
    declared: DeclaredClaim, v: DeclaredVariation, records: Sequence[CheckRecord]
) -> MutantRecord:
    trials = _trials(v.name, records)
    by = [name for name, trial in trials.items() if trial.rejected]
    survived = [n for n, t in trials.items() if not t.rejected and n not in v.blind]
    names = [c.name for c in declared.checks if c.role == "check"]
    return MutantRecord(
        name=v.name,
        change=v.change,
        why_false=v.why,
        rejected=bool(by) and not survived,
        by=by,
        blind=v.blind,
        survived=survived,
        not_run=[n for n in names if n not in trials],
        witness=next((t.witness for t in trials.values() if t.witness), None),
    )


def _anchor(v: DeclaredVariation, records: Sequence[CheckRecord]) -> AnchorRecord:
    trials = _trials(v.name, records)
    against = [t for t in trials.values() if t.rejected]
    return AnchorRecord(
        name=v.name,
        change=v.change,
        why_true=v.why,
        refuted=bool(against),
        held=[n for n, t in trials.items() if t.verdict is Verdict.HOLDS],
        witness=against[0].witness if against else None,
    )


def _variant(v: DeclaredVariation, records: Sequence[CheckRecord]) -> VariantRecord:
    return VariantRecord(
        name=v.name,
        change=v.change,
        why_unknown=v.why,
        verdicts={n: t.verdict for n, t in _trials(v.name, records).items()},
    )


def _necessity(check: DeclaredCheck, record: CheckRecord | None) -> NecessityRecord:
    verdict = record.verdict if record else Verdict.NOT_RUN
    words = {
        Verdict.REFUTED: "needed",
        Verdict.HOLDS: "no counterexample found",
        Verdict.INCONCLUSIVE: "undecided",
        Verdict.NOT_RUN: "not run",
    }
    return NecessityRecord.model_validate({
        "assumption": check.assumption,
        "verdict": words[verdict],
        "expected": "needed" if check.needed else "no counterexample found",
        "check": check.name,
        "reason": record.reason if record else check.left_out,
        "searched": record.searched or record.scope if record else check.scope,
        "n": record.n if record else None,
        "witness": record.witness if record else None,
    })


def _error_budget(claims: Sequence[ClaimRecord]) -> ErrorBudget:
    lines = [
        BudgetLine(claim=claim.id, check=check.name, level=check.level)
        for claim in claims
        for check in claim.checks
        if check.level is not None
    ]
    spent = sum(line.level for line in lines)
    says = (
        f"{len(lines)} statistical decisions; by the union bound the probability that "
        f"chance alone made any of them wrong is at most {spent:g}."
        if lines
        else "No verdict of this run rests on a statistical decision."
    )
    return ErrorBudget(spent=spent, lines=lines, says=says)


def group_of(claim: ClaimRecord, claims: Sequence[ClaimRecord]) -> str:
    """The one group in which a claim is counted; first match.

    Args:
        claim: The claim.
        claims: All claims, for its other readings.

    Returns:
        A field of :class:`verify.record.Counts`.
    """
    if claim.verdict is Verdict.NOT_RUN:
        return "not_run"
    if claim.verdict is Verdict.INCONCLUSIVE:
        return "inconclusive"
    if claim.verdict is Verdict.HOLDS:
        return "holds"
    if claim.kind is Kind.PROOF_STEP:
        return "failing_steps"
    base = claim.id.partition("@")[0]
    another_holds = any(
        other.id.partition("@")[0] == base and other.verdict is Verdict.HOLDS
        for other in claims
    )
    return (
        "reading_dependent"
        if claim.wording == "guessed" or another_holds
        else "refuted"
    )


def _paper(paper: PaperRecord, claims: Sequence[ClaimRecord]) -> PaperRecord:
    groups = Counter(group_of(c, claims) for c in claims if c.paper == paper.key)
    return paper.model_copy(update={"counts": Counts(**groups)})
