"""Synthetic claims whose truth is known, and how the engine decides them.

Two paths lead to a verdict. The short one lets every check decide the claim, rechecks
its witness or certificate, and combines the checks (`judge.decide` and `combine`). The
whole one is what a run does: it also tries the mutants, decides twice, writes records
into a journal and builds the report from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from verify import Claim, Kind, Mutant, Need, Outcome, Paper, Requires, Verdict, check
from verify.build import build
from verify.catalog import Catalog, entries_of
from verify.check import Check
from verify.declare import declare, declare_papers, node_of
from verify.journal import Journal
from verify.judge import Bench, Decision, decide, judge
from verify.profiles import Profile
from verify.record import Header
from verify.train.seeds import seed_of
from verify.verdict import CheckSummary, Grade, combine

PAPER = Paper("power", "Synthetic claims")
FAULT = "FAULT"  # counted beside the verdicts: a check of ours is broken
OTHERS = 1 / 3  # of the false claims, where a family has some without wrongness
WORDS = ("HOLDS", "REFUTED", "INCONCLUSIVE", FAULT)


@dataclass(frozen=True)
class Drawn:
    """What a generator makes: a claim's content, without its truth.

    Attributes:
        sort: Which of the family's sorts it is; counts are kept by sort.
        parameters: What the claim asserts.
        domain: What it asserts it about.
        mutant: Changes of parameters that make it grossly false.
        pinned: Instances that a search replays first.
    """

    sort: str
    parameters: Mapping[str, Any]
    domain: Any
    mutant: Mapping[str, Any]
    pinned: tuple[Any, ...] = ()


Generator = Callable[[np.random.Generator, bool, float], Drawn]


@dataclass(frozen=True)
class Extra:
    """Claims outside the assumptions of a family: measured, without a target.

    Attributes:
        says: What they are.
        truth: Whether they are true.
        draw: Makes one.
        count: How many.
    """

    says: str
    truth: bool
    draw: Callable[[np.random.Generator], Drawn]
    count: int = 3000


@dataclass(frozen=True)
class Family:
    """Claims of one form, decided by one check.

    Attributes:
        name: Of the family.
        decide: The check's function, as a theorem module would have it.
        grade: Of the check.
        draw: Makes a claim from a generator of numbers, its truth, its wrongness.
        unit: What wrongness measures.
        grid: Wrongness at which the resolution curve is measured, ascending.
        stated: The wrongness at which false claims are counted.
        why: Where ``stated`` comes from; fixed before anything was measured.
        kind: Of the claims.
        true_profile: Budgets when true claims are decided.
        false_profile: Budgets when false claims are decided.
        extras: Claims outside the assumptions, by name.
        others: Makes false claims that have no wrongness (another law, a swapped
            factor); a third of the false claims, where there are such.
        scale: Claims per point of the curve, over the usual number.
    """

    name: str
    decide: Callable[..., Outcome]
    grade: Grade
    draw: Generator
    unit: str
    grid: tuple[float, ...]
    stated: float
    why: str
    kind: Kind = Kind.THEOREM
    true_profile: Profile = field(kw_only=True)
    false_profile: Profile = field(kw_only=True)
    extras: Mapping[str, Extra] = field(default_factory=dict)
    others: Callable[[np.random.Generator], Drawn] | None = None
    scale: float = 1.0

    def false(self, rng: np.random.Generator) -> Drawn:
        """A false claim at the stated resolution, or of a sort without wrongness."""
        if self.others is not None and rng.random() < OTHERS:
            return self.others(rng)
        return self.draw(rng, False, self.stated)

    def profile(self, truth: bool) -> Profile:
        """Budgets for claims that are true, or false."""
        return self.true_profile if truth else self.false_profile


def claim_of(family: Family, drawn: Drawn, number: int) -> Claim:
    """Declare a drawn claim as a theorem module would."""
    return Claim(
        id=f"power/{family.name.replace(' ', '-')}-{number}",
        says=f"A synthetic claim of the family {family.name}.",
        source=PAPER.at(f"Theorem {number}"),
        kind=family.kind,
        domain=drawn.domain,
        parameters=drawn.parameters,
        mutants=(Mutant("gross", why="far from what is true", **drawn.mutant),),
        pinned=drawn.pinned,
        requires=Requires(
            (Need(frozenset({family.grade})),), why="one check is what is measured"
        ),
    )


def check_of(family: Family, claim: Claim) -> Check:
    """Declare the family's check for a claim."""
    return check(claim, grade=family.grade.value, scope="synthetic")(family.decide)


def shortly(family: Family, claim: Claim, profile: Profile, seed: int) -> str:
    """Decide a claim: every check, its evidence rechecked, and the combination.

    Args:
        family: The claim's family.
        claim: The claim.
        profile: Budgets.
        seed: Root seed of the decision.

    Returns:
        A verdict, or ``FAULT``.
    """
    bench = Bench(profile, root_seed=seed)
    one = check_of(family, claim)
    summary = _summary(one, decide(bench, one, claim))
    combined = combine(claim.kind, claim.requirement, [summary])
    return FAULT if combined.fault else str(combined.verdict)


def _summary(one: Check, decision: Decision) -> CheckSummary:
    outcome = decision.outcome
    return CheckSummary(
        one.name,
        one.grade,
        covers_all=one.covers_all,
        scope=one.scope,
        verdict=decision.verdict,
        cause=outcome.cause if outcome else None,
        reason=outcome.reason if outcome else "",
        broken=decision.error,
    )


def wholly(family: Family, claim: Claim, profile: Profile, seed: int) -> str:
    """Decide a claim as a run does, from its module to the report.

    Args:
        family: The claim's family.
        claim: The claim.
        profile: Budgets.
        seed: Root seed of the run.

    Returns:
        A verdict. A fault of mutants alone leaves INCONCLUSIVE, as it does in a run.
    """
    one = check_of(family, claim)
    module = ModuleType(one.module)
    vars(module).update(CLAIM=claim, CHECK=one)
    catalog = Catalog()
    for entry in entries_of(module, Path("theorems", "power", "synthetic.py")):
        catalog.add(entry)
    journal = Journal(_header(catalog, profile, seed), end={"seconds": 0.0})
    bench = Bench(profile, root_seed=seed)
    for entry in catalog:
        record = judge(bench, one, entry.claim, node_of(entry, one))
        journal.records[record.claim, record.name] = record
    return str(build(journal).claims[0].verdict)


def _header(catalog: Catalog, profile: Profile, seed: int) -> Header:
    return Header(
        id="power",
        started="2026-01-01T00:00:00+00:00",
        profile=profile.name,
        seed=seed,
        device="cpu",
        jobs=1,
        command="",
        key="",
        partial=False,
        papers=declare_papers(catalog.papers.values()),
        claims=declare(catalog, device="cpu", profile=profile.name),
        provenance={},
    )


def rng_of(root: int, *names: str | int) -> tuple[np.random.Generator, int]:
    """A generator of numbers for one claim, and the seed of its decision."""
    seed = seed_of(root, *names)
    return np.random.default_rng(seed), seed_of(seed, "decision")


def agree(short: str, whole: str) -> bool:
    """Whether both paths say the same; a fault is INCONCLUSIVE in a report."""
    return whole == (Verdict.INCONCLUSIVE.value if short == FAULT else short)
