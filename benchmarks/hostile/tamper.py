"""Tampered evidence: is a record that became false ever accepted?

Every number of a record is changed a little, its relation turned, rows moved between
records; digests are renewed, as a forger would. What comes out is decided twice, by
`verify.recheck` and by `truth`, which shares no code with it. The second part leaves
the evidence alone and changes one field of a sealed report: the digests must differ.
"""

import copy
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.hostile import mutate, records, truth
from benchmarks.hostile.watch import Watch
from verify import recheck, recheck_deep

Json = Any
TURNED = {
    "<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "==",
}  # fmt: skip


@dataclass
class Score:
    """What became of the tampered records of one kind.

    Attributes:
        tried: How many were made.
        false: How many are false, by the independent decision.
        accepted: How many of those recheck accepted: must be 0.
        true: How many are true after all.
        missed: How many of those recheck does not accept: no danger, but wrong.
        open: How many the independent decision leaves open.
        examples: Those accepted.
        lost: Those missed.
    """

    tried: int = 0
    false: int = 0
    accepted: int = 0
    true: int = 0
    missed: int = 0
    open: int = 0
    examples: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def tampered(rng: random.Random, record: Json, others: Sequence[Json]) -> Json:
    """A copy with one to three small changes of what it says."""
    made = copy.deepcopy(record)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        _one(rng, made, others)
    return records.resealed(made) if rng.random() < 0.9 else made


def _one(rng: random.Random, made: Json, others: Sequence[Json]) -> None:
    draw = rng.random()
    relation = made.get("relation")
    if draw < 0.15 and isinstance(relation, list) and relation[0] in TURNED:
        relation[0] = rng.choice((TURNED[relation[0]], rng.choice([*TURNED])))
        return
    if draw < 0.22 and isinstance(relation, list):
        relation[1], relation[2] = relation[2], relation[1]
        return
    if draw < 0.3:
        same = [x for x in others if x["kind"] == made["kind"]]
        key = rng.choice([k for k in made if k not in {"kind", "says", "digest"}])
        other = rng.choice(same)
        if key in other:
            made[key] = copy.deepcopy(other[key])
            return
    paths = [p for p in mutate.places(made) if _telling(made, p)]
    path = rng.choice(paths)
    mutate.at(made, path[:-1])[path[-1]] = mutate.nudged(rng, mutate.at(made, path))


def _telling(made: Json, path: mutate.Path) -> bool:
    """Whether a place holds a number, or a word that means something."""
    here = mutate.at(made, path)
    return path[0] not in {"kind", "says", "digest"} and isinstance(here, int | str)


def campaign(
    seeds: Sequence[Json],
    kind: str,
    numbers: Iterable[int],
    seed: int,
    score: Score,
    watch: Watch,
) -> None:
    """Tamper with the records of one kind.

    Args:
        seeds: True records.
        kind: Which of them.
        numbers: Of the cases.
        seed: Of the campaign.
        score: What came of it; added to.
        watch: Keeps what raised.
    """
    own = [x for x in seeds if x["kind"] == kind]
    for number in numbers:
        case = f"tamper {kind} {number}"
        rng = mutate.drawn(seed, f"tamper/{kind}", number)
        made = tampered(rng, rng.choice(own), own)
        decision = watch.run(
            case, lambda m=made: recheck_deep.decide(m), (recheck.RecheckError,)
        )
        _count(
            score, case, made, accepted=decision is not None and decision.valid is True
        )


def _count(score: Score, case: str, made: Json, *, accepted: bool) -> None:
    found = truth.decide(made)
    score.tried += 1
    score.false += found is False
    score.true += found is True
    score.open += found is None
    if found is True and not accepted:
        score.missed += 1
        score.lost.append(f"{case}: {made}"[:1000])
    if found is False and accepted:
        score.accepted += 1
        score.examples.append(f"{case}: {made}"[:1000])


def fields(
    seeds: Sequence[Json], numbers: Iterable[int], seed: int
) -> tuple[Score, Watch]:
    """Change one field of sealed reports; both digests together must show it.

    Args:
        seeds: Sealed reports.
        numbers: Of the cases.
        seed: Of the campaign.

    Returns:
        Scores: accepted counts changes that no digest shows; and the watch.
    """
    score, watch = Score(), Watch()
    for number in numbers:
        case = f"field {number}"
        rng = mutate.drawn(seed, "field", number)
        whole = rng.choice(seeds)
        path = _field(rng, whole)
        made = copy.deepcopy(whole)
        old = mutate.at(made, path)
        mutate.at(made, path[:-1])[path[-1]] = mutate.nudged(rng, old)
        score.tried += 1
        if volatile(path, old) or recheck.canonical(made) == recheck.canonical(whole):
            score.open += 1
            continue
        score.false += 1
        items = watch.run(
            case, lambda m=made: recheck.recheck(m), (recheck.RecheckError,)
        )
        if items is not None and not _shown(path, items):
            score.accepted += 1
            score.examples.append(f"{case}: {path}")
    return score, watch


def _field(rng: random.Random, whole: Json) -> mutate.Path:
    paths = [p for p in mutate.places(whole) if _leaf(mutate.at(whole, p))]
    return rng.choice(paths)


def _leaf(value: Json) -> bool:
    return not isinstance(value, dict | list)


def _shown(path: mutate.Path, items: Sequence[recheck.Item]) -> bool:
    """Whether a recheck shows a change: its digest, or that of the result, differs."""
    wrong = {item.place for item in items if item.valid is False}
    return (path[0] if path[0] in wrong else "result_digest") in wrong


def volatile(path: mutate.Path, old: Json) -> bool:
    """Whether no digest is meant to cover a field: it differs from run to run."""
    names = recheck.VOLATILE
    if path[0] in {"claims", "self_checks"}:
        return path[-1] in names["claims"] and isinstance(old, int | float)
    digests = {"verdict_digest", "result_digest"}
    if path[0] in digests:
        return False
    return path[0] in names[""] or (path[0] == "run" and path[1] in names["run"])
