"""What the study of stability runs, what it takes over, and what it compares."""

import argparse
import json
import subprocess
import sys
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks.commands import environment, journal
from verify.catalog import Catalog
from verify.check import Check, Evidence
from verify.claim import Kind
from verify.train.seeds import seed_of

FROM_SEED = frozenset({"seed", "root_seed", "search"})  # instruments that draw
ABSENT = ("absent", "", None)
UNDECIDED = {"INCONCLUSIVE", "REFUTED"}  # of a claim whose recipe is open: the same
PLAIN = {  # what a machine without vector instructions would compute
    "ATEN_CPU_CAPABILITY": "default",
    "MKL_CBWR": "COMPATIBLE",
    "NUMBA_CPU_NAME": "generic",
}


@dataclass(frozen=True)
class Arm:
    """One run of the study.

    Attributes:
        name: Of its folder.
        group: What it changes, for the table.
        profile: Budgets.
        seed: Root seed.
        jobs: Check workers.
        device: Where tensors live.
        env: Changes of the environment.
        splice: Take over from the base run every check that no seed reaches.
        same_as: The arm whose result digest it must reproduce; empty for none.
        unable: Why it cannot be run here; empty when it can.
    """

    name: str
    group: str
    profile: str = "smoke"
    seed: int = 0
    jobs: int = 1
    device: str = "cpu"
    env: Mapping[str, str] = field(default_factory=dict)
    splice: bool = False
    same_as: str = ""
    unable: str = ""

    @property
    def base(self) -> str:
        """The arm with which it is compared."""
        return f"{self.profile}-base"


def seeds_of(text: str) -> range:
    """Read ``0:50`` or ``7`` as a range of root seeds."""
    first, colon, last = text.partition(":")
    try:
        return range(int(first), int(last) if colon else int(first) + 1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: write 0:50, or one seed") from None


def arms(
    seeds: Sequence[int], default_seeds: Sequence[int], coretypes: Sequence[str]
) -> list[Arm]:
    """List the runs of the study, bases first."""
    found = [Arm("smoke-base", "", jobs=2)]
    if default_seeds:
        found.append(Arm("default-base", "", profile="default", jobs=2))
    for profile, chosen in (("smoke", seeds), ("default", default_seeds)):
        group = _span("root seed", chosen)
        found += [
            Arm(f"{profile}-seed-{s}", group, profile, s, splice=True)
            for s in chosen
            if s
        ]
    found += _conditions(coretypes)
    if whole := next((s for s in seeds if s), None):
        like = f"smoke-seed-{whole}"
        group = f"root seed {whole}, nothing taken over from the base"
        found.append(Arm("smoke-whole", group, seed=whole, same_as=like))
    return found


def _conditions(coretypes: Sequence[str]) -> Iterator[Arm]:
    """Everything but the root seed, one thing at a time, on the smoke profile."""
    yield Arm("smoke-resumed", "taken up again", splice=True, same_as="smoke-base")
    yield Arm("smoke-jobs-1", "1 worker instead of 2", same_as="smoke-base")
    two = {"OMP_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2"}
    yield Arm("smoke-threads-2", "2 threads instead of 1", env=two)
    for name in coretypes:
        env = {"OPENBLAS_CORETYPE": name}
        yield Arm(
            f"smoke-{name}", f"OpenBLAS for {name}", env=env, unable=_blas_unable(name)
        )
    yield Arm("smoke-plain", "no vector instructions in torch, MKL, numba", env=PLAIN)
    yield Arm("smoke-cuda", "CUDA", device="cuda", unable=_cuda_unable())


def _span(what: str, chosen: Sequence[int]) -> str:
    if not chosen:
        return what
    return f"{what} {chosen[0]} to {chosen[-1]}" if len(chosen) > 1 else what


def _blas_unable(name: str) -> str:
    code = (
        "import numpy, threadpoolctl; a = numpy.ones((99, 99)); a @ a; "
        "print({d.get('architecture') for d in threadpoolctl.threadpool_info()})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(OPENBLAS_CORETYPE=name),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        return f"this processor cannot run OpenBLAS for {name}"
    took = name in done.stdout
    return "" if took else f"OpenBLAS for {name} is not here: {done.stdout.strip()}"


def _cuda_unable() -> str:
    import torch

    return "" if torch.cuda.is_available() else "no CUDA device"


def wants_seed(owner: Check | Evidence) -> bool:
    """Whether a check or evidence draws, by itself or by evidence that it uses."""
    for name in owner.wants:
        if name in FROM_SEED:
            return True
        used = owner.function.__globals__.get(name)
        if isinstance(used, Evidence) and wants_seed(used):
            return True
    return False


def unseeded(catalog: Catalog) -> dict[tuple[str, str], str]:
    """Checks that no seed reaches, by claim and name, with their modules."""
    return {
        (entry.claim.id, check.name): check.module
        for entry in catalog
        for check in entry.checks
        if not wants_seed(check)
    }


def splice(
    base: Path, out: Path, seed: int, kept: Mapping[tuple[str, str], str]
) -> None:
    """Begin the journal of a run at another root seed with what no seed reaches.

    Args:
        base: Folder of the base run.
        out: Folder of the run, which is then taken up with ``--resume``.
        seed: Its root seed.
        kept: Checks to take over, with the modules from which their seeds derive.
    """
    lines = []
    for line in journal(base):
        place = (str(line.get("claim")), str(line.get("name")))
        if line["type"] == "header":
            lines.append(line | {"seed": seed})
        elif line["type"] == "self-check":  # they take no seed
            lines.append(line)
        elif line["type"] == "check" and place in kept:
            lines.append(line | {"seed": seed_of(seed, kept[place], place[1])})
    out.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (out / "journal.jsonl").write_text(text, "utf-8")


def distil(report: Mapping[str, Any]) -> dict[str, Any]:
    """Keep of a report what is compared: verdicts, fates, margins, digests."""
    places: dict[str, list[Any]] = {}
    for claim in report["claims"]:
        here = claim["id"]
        word = " ".join(filter(None, (claim["verdict"], claim["fault"])))
        places[f"claim {here}"] = [word, claim["reason"], None]
        for check in claim["checks"]:
            word = "BROKEN" if check["broken"] else check["verdict"]
            reason = check["broken"] or check["reason"]
            name = f"check {here} {check['name']}"
            places[name] = [word, reason, number(check["margin"])]
        for need in claim["necessity"]:
            name = f"check {here} without {need['assumption']} ({need['check']})"
            places[name] = [need["verdict"], need["reason"], None]
        for mutant in claim["mutants"]:
            word = "rejected" if mutant["rejected"] else "not rejected"
            why = ", ".join(mutant["survived"])
            places[f"mutant {here} {mutant['name']}"] = [word, why, None]
        for anchor in claim["anchors"]:
            word = "refuted" if anchor["refuted"] else "not refuted"
            places[f"anchor {here} {anchor['name']}"] = [word, "", None]
    digests = {name: report[f"{name}_digest"] for name in ("verdict", "result")}
    run = {name: report["run"][name] for name in ("exit_code", "red", "seconds")}
    return {"places": places, **digests, **run}


def number(text: Any) -> float | None:
    """Read a margin: a float, a fraction or a word such as ``inf``."""
    if text is None:
        return None
    try:
        return float(Fraction(text)) if isinstance(text, str) else float(text)
    except ValueError:
        return float(text)


def flips(
    base: Mapping[str, Any], other: Mapping[str, Any], loose: Container[str] = ()
) -> list[dict[str, Any]]:
    """List what came out otherwise than in the base run, with both reasons.

    Args:
        base: What `distil` kept of the base run.
        other: The same of another run.
        loose: Ids of empirical claims whose recipe the text leaves open.

    Returns:
        Places with what was and what is. ``open`` marks a check of a loose claim that
        went from INCONCLUSIVE to REFUTED or back: of either the engine makes the same
        claim, INCONCLUSIVE, since what is not reproduced under such a recipe is not
        refuted (`verify.verdict.may_refute`).
    """
    return [
        {
            "place": place,
            "was": was[:2],
            "is": now[:2],
            "margins": [was[2], now[2]],
            "open": {was[0], now[0]} == UNDECIDED and _open(place, loose, base, other),
        }
        for place, was in base["places"].items()
        if (now := other["places"].get(place, ABSENT))[0] != was[0]
    ]


def _open(place: str, loose: Container[str], *runs: Mapping[str, Any]) -> bool:
    kind, claim, *_ = place.split()
    words = {run["places"].get(f"claim {claim}", ABSENT)[0] for run in runs}
    return kind == "check" and claim in loose and words == {"INCONCLUSIVE"}


def loose_recipes(catalog: Catalog) -> frozenset[str]:
    """Ids of the empirical claims whose recipe the text leaves open."""
    return frozenset(
        entry.claim.id
        for entry in catalog
        if entry.claim.kind is Kind.EMPIRICAL and not entry.claim.recipe_complete
    )
