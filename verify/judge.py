"""Judging: run a check on its claim, on every mutant, anchor and variant, and resolve.

One call is one node of the run and one line of the journal. Exceptions never pass: an
error in a check makes it BROKEN, and a mutant on which the check errors is not
rejected.
"""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from verify import recheck_deep
from verify.check import Check, Evidence
from verify.claim import Anchor, Claim, Mutant, Variation
from verify.describe import encode, number
from verify.outcome import Outcome, faults_of, honest
from verify.profiles import PATIENCE, Profile
from verify.recheck import RecheckError
from verify.record import CheckRecord, ResolutionRecord, StudyRecord, Trial
from verify.resolution import resolve_parameter
from verify.runs import Runs, Settings, Store
from verify.runs.settings import default_cache
from verify.search import Search
from verify.train.seeds import seed_of
from verify.trouble import CannotRun
from verify.verdict import Cause, Grade, Undecided, Verdict

PASS_THROUGH = (KeyboardInterrupt, MemoryError, CannotRun)

# Fills a record of which only the evidence is to be validated.
NOBODY = {"claim": "", "name": "", "node": "", "scope": "", "grade": Grade.NUMERIC}


@dataclass
class Bench:
    """What a run supplies to its checks: budgets, seeds, a device, shared evidence.

    Attributes:
        profile: Budgets.
        root_seed: Every seed is derived from it.
        device: ``cpu`` or ``cuda``.
        progress: Called as ``progress(study, done, total)`` by long evidence.
        settings: Where studies are kept and trained; by default here, in this process.
    """

    profile: Profile
    root_seed: int = 0
    device: str = "cpu"
    progress: Callable[[str, float, int], None] | None = None
    settings: Settings | None = None
    _made: dict[tuple[str, str], Any] = field(default_factory=dict, repr=False)
    _runs: dict[tuple[str, str], Runs] = field(default_factory=dict, repr=False)

    def seed(self, module: str, name: str) -> int:
        """The seed of one check or evidence, derived from the root seed."""
        return seed_of(self.root_seed, module, name)

    def call(
        self,
        owner: Check | Evidence,
        *,
        shrink: bool = True,
        patient: bool = False,
        **given: Any,
    ) -> Any:
        """Call a check or make evidence, with everything it asks for by name."""
        seed = self.seed(owner.module, owner.name)
        examples = max(self.profile.examples, PATIENCE if patient else 0)
        offered: dict[str, Callable[[], Any]] = {
            "search": lambda: Search(examples, seed, shrink and self.profile.refine),
            "profile": lambda: self.profile,
            "seed": lambda: seed,
            "root_seed": lambda: self.root_seed,
            "device": lambda: self.device,
            "progress": lambda: self._progress_of(owner.name),
            "runs": lambda: self._runs_of(owner),
        }
        arguments = dict(given)
        for name in owner.wants:
            if name in arguments:
                continue
            if name in offered:
                arguments[name] = offered[name]()
            else:
                arguments[name] = self.evidence(owner.function.__globals__[name])
        return owner.function(**arguments)

    def evidence(self, wanted: Evidence) -> Any:
        """Make evidence, or return what was made before."""
        key = (wanted.module, wanted.name)
        if key not in self._made:
            self._made[key] = self.call(wanted)
        return self._made[key]

    def studies(self, owner: Check | Evidence) -> Iterator[StudyRecord]:
        """The studies that a check or evidence has used, by itself or by evidence."""
        mine = self._runs.get((owner.module, owner.name))
        if mine is not None:
            served = {tuple(note["keys"]): note for note in reversed(mine.served)}
            yield from map(StudyRecord.model_validate, reversed(served.values()))
        for name in owner.wants:
            wanted = owner.function.__globals__.get(name)
            if isinstance(wanted, Evidence):
                yield from self.studies(wanted)

    def _progress_of(self, name: str) -> Callable[[int, int], None]:
        def report(done: int, total: int) -> None:
            if self.progress is not None:
                self.progress(name, done, total)

        return report

    def _runs_of(self, owner: Check | Evidence) -> Runs:
        key = (owner.module, owner.name)
        if key not in self._runs:
            settings = self.settings or Settings(default_cache())
            self._runs[key] = Runs(
                Store(settings.cache), settings.make(), self.progress
            )
        return self._runs[key]


@dataclass(frozen=True)
class Decision:
    """One decision of a check, after the engine has looked at it.

    Attributes:
        outcome: What the check returned, made honest; absent when it errored.
        error: Exception or fault of the check; empty when there is none.
        trace: Traceback of the exception.
    """

    outcome: Outcome | None
    error: str = ""
    trace: str = ""

    @property
    def verdict(self) -> Verdict:
        """The verdict that counts."""
        if self.outcome is None or self.error:
            return Verdict.INCONCLUSIVE
        return self.outcome.verdict

    @property
    def rejected(self) -> bool:
        """REFUTED, without a fault: the witness was rechecked."""
        return self.verdict is Verdict.REFUTED


def decide(
    bench: Bench,
    check: Check,
    claim: Claim,
    *,
    shrink: bool = False,
    patient: bool = False,
) -> Decision:
    """Let a check decide a claim, and recheck the witness or certificate at once.

    Args:
        bench: Budgets, seeds and shared evidence.
        check: The check.
        claim: The claim, or a changed one.
        shrink: Whether a search looks for the smallest counterexample.
        patient: Whether the claim is known to be false, so that a search goes on.

    Returns:
        The decision; errors are recorded in it. Only an interrupt by the user and
        exhaustion of memory pass through.
    """
    try:
        outcome = bench.call(check, shrink=shrink, patient=patient, claim=claim)
    except PASS_THROUGH:
        raise
    except Undecided as undecided:
        outcome = Outcome(
            verdict=Verdict.INCONCLUSIVE,
            cause=undecided.cause,
            reason=undecided.reason,
        )
    except BaseException as error:  # ruff: ignore[blind-except] - recorded
        if type(error).__name__ == "Skipped":  # pytest.skip() inside a check
            outcome = Outcome(
                verdict=Verdict.INCONCLUSIVE, cause=Cause.SKIP, reason=str(error)
            )
        else:
            text = f"{type(error).__name__}: {error}".strip()
            return Decision(None, text, traceback.format_exc(limit=-8))
    try:
        return _inspected(check, outcome)
    except Exception as error:  # ruff: ignore[blind-except] - recorded
        text = " ".join(str(error).split())
        return Decision(None, f"evidence that cannot be recorded: {text}")


def _inspected(check: Check, outcome: object) -> Decision:
    fault = faults_of(outcome)
    if not isinstance(outcome, Outcome):
        return Decision(None, fault)
    fields = _evidence_fields(outcome) | {"verdict": outcome.verdict}
    written = CheckRecord.model_validate(NOBODY | fields)
    json.dumps(written.model_dump(mode="json"), allow_nan=False)
    if fault:
        return Decision(outcome, fault)
    outcome = honest(outcome)
    invalid = _invalid("witness", outcome.witness)
    invalid = invalid or _invalid("certificate", outcome.certificate)
    for bound in outcome.tightness:
        invalid = invalid or _invalid(f"witness of {bound.bound!r}", bound.witness)
    return Decision(outcome, invalid or _unproved(check, outcome))


def _unproved(check: Check, outcome: Outcome) -> str:
    """Say that a family refutes without a proof of its limit; empty when it has one."""
    # The instances alone are a finite table, which refutes no constant.
    is_family = (outcome.witness or {}).get("kind") == "family"
    if outcome.verdict is not Verdict.REFUTED or not is_family:
        return ""
    if check.grade not in {Grade.SYMBOLIC, Grade.CERTIFIED}:
        return "a family needs a proof of its limit: a symbolic or certified check"
    return "" if outcome.steps else "a family without the steps that prove its limit"


def _invalid(role: str, record: Mapping[str, Any] | None) -> str:
    """Say why a witness or certificate does not stand; empty when it does."""
    if record is None:
        return ""
    try:
        decision = recheck_deep.decide(encode(record))
    except RecheckError as error:
        return f"malformed {role}: {error}"
    if decision.valid is False:
        return f"invalid {role}: {decision.reason}"
    if decision.valid is None:
        return f"undecided {role}: {decision.reason}"
    return ""


def judge(bench: Bench, check: Check, claim: Claim, node: str) -> CheckRecord:
    """Judge one check on one claim: the claim itself, every change of it, resolution.

    Args:
        bench: Budgets, seeds and shared evidence.
        check: The check.
        claim: The claim as declared.
        node: Name of the node, for the record.

    Returns:
        The record of the check. ``broken`` says what is wrong with the check itself.
    """
    started = time.perf_counter()
    base = decide(bench, check, claim, shrink=True)
    trials: list[Trial] = []
    resolution: list[ResolutionRecord] = []
    errors: list[str] = []
    if not check.is_necessity and not base.error:
        trials = [_trial(bench, check, *pair) for pair in variations(claim)]
        resolution, errors = _resolutions(bench, check, claim, base)
    broken = base.error or _fault_of_trials(check, claim, trials) or "".join(errors[:1])
    if not broken and not _same(base, decide(bench, check, claim, shrink=True)):
        broken = "two decisions of the same claim differ; it keeps state or draws anew"
    outcome = base.outcome or Outcome(
        verdict=Verdict.INCONCLUSIVE, cause=Cause.FAULT, reason=base.error
    )
    return CheckRecord(
        claim=claim.id,
        name=check.name,
        node=node,
        role="necessity" if check.is_necessity else "check",
        assumption=check.assumption,
        needed=check.needed,
        grade=check.grade,
        scope=check.scope,
        optional=check.optional,
        verdict=base.verdict,
        broken=broken,
        seconds=time.perf_counter() - started,
        seed=bench.seed(check.module, check.name),
        resolution=resolution,
        trials=trials,
        traceback=base.trace,
        studies=list(bench.studies(check)),
        **_evidence_fields(outcome),
    )


def _same(first: Decision, second: Decision) -> bool:
    """Whether two decisions agree in verdict and in all their evidence."""
    if first.outcome is None or second.outcome is None:
        return False
    fields = map(_evidence_fields, (first.outcome, second.outcome))
    one, other = (json.dumps(f, sort_keys=True, default=str) for f in fields)
    return first.verdict is second.verdict and one == other


def _evidence_fields(outcome: Outcome) -> dict[str, Any]:
    interval = outcome.interval
    return {
        "cause": outcome.cause,
        "reason": outcome.reason,
        "measured": number(outcome.measured),
        "target": number(outcome.target),
        "margin": number(outcome.margin),
        "interval": interval and (number(interval[0]), number(interval[1])),
        "level": outcome.level,
        "n": outcome.n,
        "discards": dict(outcome.discards),
        "searched": outcome.searched,
        "steps": list(outcome.steps),
        "witness": encode(outcome.witness),
        "certificate": encode(outcome.certificate),
        "figures": encode(outcome.figures),
        "tightness": encode(outcome.tightness),
    }


def variations(claim: Claim) -> list[tuple[Variation, Claim]]:
    """Every change that a check of the claim is tried on, with the changed claim.

    A refuted claim's mutants change its first anchor: there the check must tell true
    from false; on the claim itself it would refute whatever it is given.

    Args:
        claim: A claim as declared.

    Returns:
        Pairs of the variation and the claim to decide.
    """
    is_refuted = claim.finding.verdict is Verdict.REFUTED
    basis = claim.anchors[:1] if is_refuted else ()
    return [
        *((mutant, claim.changed(*basis, mutant)) for mutant in claim.mutants),
        *((anchor, claim.changed(anchor)) for anchor in claim.anchors),
        *((variant, claim.changed(variant)) for variant in claim.variants),
    ]


def role_of(variation: Variation) -> Any:
    """``mutant``, ``anchor`` or ``variant``."""
    if isinstance(variation, Mutant):
        return "mutant"
    return "anchor" if isinstance(variation, Anchor) else "variant"


def _trial(bench: Bench, check: Check, variation: Variation, changed: Claim) -> Trial:
    false = isinstance(variation, Mutant) and check.name not in variation.blind
    decision = decide(bench, check, changed, patient=false)
    outcome = decision.outcome
    return Trial(
        role=role_of(variation),
        name=variation.name,
        verdict=decision.verdict,
        rejected=decision.rejected,
        reason=outcome.reason if outcome else "",
        error=decision.error,
        measured=number(outcome.measured) if outcome else None,
        margin=number(outcome.margin) if outcome else None,
        witness=encode(outcome.witness) if outcome and decision.rejected else None,
    )


def _fault_of_trials(check: Check, claim: Claim, trials: list[Trial]) -> str:
    """The first fault that the changes of the claim reveal; empty when none does."""
    blind = {m.name: check.name in m.blind for m in claim.mutants}
    for trial in trials:
        if trial.role == "anchor" and trial.rejected:
            return f"refuted the anchor {trial.name!r}"
        if trial.role == "anchor" and trial.error:
            return f"errored on the anchor {trial.name!r}: {trial.error}"
        if trial.role != "mutant":
            continue
        if blind[trial.name] and trial.rejected:
            return f"rejected {trial.name!r}, to which it is declared blind"
        if not blind[trial.name] and not trial.rejected:
            how = trial.error or f"{trial.verdict}: {trial.reason}"
            return f"the mutant {trial.name!r} survived ({how})"
    return ""


def _resolutions(
    bench: Bench, check: Check, claim: Claim, base: Decision
) -> tuple[list[ResolutionRecord], list[str]]:
    """Measure how far each resolved parameter can move; list errors on the way."""
    basis, errors = claim, list[str]()
    if base.verdict is Verdict.REFUTED and claim.anchors:
        basis = claim.changed(claim.anchors[0])
    elif base.verdict is not Verdict.HOLDS:
        return [], errors
    found = []
    for resolve in claim.resolves if bench.profile.refine else ():

        def rejects(value: Any, name: str = resolve.parameter) -> bool | None:
            decision = decide(bench, check, basis.at(**{name: value}))
            if decision.error:
                errors.append(f"errored on {name} = {value}: {decision.error}")
            known = decision.verdict in {Verdict.HOLDS, Verdict.REFUTED}
            return decision.rejected if known else None

        claimed = basis.parameters[resolve.parameter]
        found.append(
            resolve_parameter(rejects, resolve.parameter, claimed, resolve.reach)
        )
    return found, errors
