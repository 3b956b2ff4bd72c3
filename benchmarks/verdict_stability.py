"""Measure whether verdicts depend on what must not change them; see README.md here.

python benchmarks/verdict_stability.py --state DIR [--seeds 0:50] [--write]

Runs that differ in one thing from a base run are compared with it: root seed, threads,
instruction sets of the linear algebra, workers, an interruption, the device. A state
folder keeps what is done: the same command goes on where it was stopped.
"""

import argparse
import itertools
import json
import math
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.commands import (
    ROOT,
    Command,
    Done,
    end_all,
    end_cleanly,
    journal,
    say,
    table,
    write_trust,
)
from benchmarks.stability import (
    Arm,
    arms,
    distil,
    flips,
    loose_recipes,
    seeds_of,
    splice,
    unseeded,
)
from verify.catalog import Catalog

COLUMNS = (
    "what changed",
    "profile",
    "runs",
    "claims decided",
    "verdicts of claims changed",
    "verdicts of checks changed",
    "checks of claims left open",
    "verdict digest",
    "result digest",
)


class StabilityError(RuntimeError):
    """The study cannot go on; the message says what to do."""


class Study:
    """Runs arms and keeps what they found.

    Args:
        state: Folder of the study.
        select: Claims; none selects all.
        root: Folder that has theorems/.
    """

    def __init__(self, state: Path, select: Sequence[str], root: Path = ROOT) -> None:
        self.state, self.root = state, root
        self.select = tuple(select)
        catalog = Catalog.load([root / "theorems"])
        catalog.raise_errors()
        self.kept, self.loose = unseeded(catalog), loose_recipes(catalog)
        self.code = catalog.digest()
        self.failed: list[str] = []
        state.mkdir(parents=True, exist_ok=True)
        mark = state / "study.json"
        mine = {"code": self.code, "select": list(self.select)}
        if not mark.exists():
            mark.write_text(json.dumps(mine), "utf-8")
        if json.loads(mark.read_text("utf-8")) != mine:
            raise StabilityError(
                f"{state} belongs to other code or another selection; name another "
                "--state, or run in a checkout that nobody edits"
            )

    def found(self, arm: Arm) -> dict[str, Any] | None:
        """What an arm found; None while it has not finished."""
        path = self.state / f"{arm.name}.json"
        if not path.exists():
            return None
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return found

    def run(self, arm: Arm) -> None:
        """Run an arm that has not finished, or take it up where it stopped."""
        if arm.unable or self.found(arm) is not None:
            return
        out, cache = self.state / arm.name, self.state / f"{arm.name}-cache"
        if arm.splice and not journal(out):
            splice(self.state / arm.base, out, arm.seed, self.kept)
        command = Command(
            out,
            cache,
            select=self.select,
            profile=arm.profile,
            seed=arm.seed,
            jobs=arm.jobs,
            device=arm.device,
            env=arm.env,
            root=self.root,
        )
        done = command.run(resume=bool(journal(out)))
        if done.code not in {0, 1}:
            self.failed.append(arm.name)
            say(f"{arm.name}: exit code {done.code}: {done.last}")
            return
        self._keep(arm, distil(command.report()), done)
        shutil.rmtree(cache, ignore_errors=True)
        if arm.name != arm.base:  # the journal of a base is spliced into others
            shutil.rmtree(out)

    def _keep(self, arm: Arm, seen: dict[str, Any], done: Done) -> None:
        seen["wall"] = done.seconds
        path = self.state / f"{arm.name}.json"
        path.with_suffix(".tmp").write_text(json.dumps(seen), "utf-8")
        path.with_suffix(".tmp").replace(path)
        word = f"{done.seconds:.0f} s, exit code {done.code}"
        if arm.group:
            base = json.loads((self.state / f"{arm.base}.json").read_text("utf-8"))
            word += f", {len(flips(base, seen))} verdicts or fates changed"
        say(f"{arm.name}: {word}")


def rows(study: Study, chosen: Sequence[Arm]) -> tuple[list[list[Any]], list[Any]]:
    """Compare every arm with its base.

    Args:
        study: With what has been run.
        chosen: Arms; those that have not finished are left out.

    Returns:
        Rows of the table, and every flip with the arm it was found in.
    """
    found: list[list[Any]] = []
    flipped = []
    others = [arm for arm in chosen if arm.group]
    for (profile, group), some in itertools.groupby(
        others, key=lambda arm: (arm.profile, arm.group)
    ):
        members = list(some)
        if why := members[0].unable:
            found.append([group, profile, 0, *4 * [""], f"not run: {why}", ""])
            continue
        base = study.found(next(a for a in chosen if a.name == members[0].base))
        pairs = [(arm, x) for arm in members if (x := study.found(arm)) is not None]
        if base is None or not pairs:
            continue
        changed = [
            (arm.name, flip) for arm, x in pairs for flip in flips(base, x, study.loose)
        ]
        flipped += changed
        places = {flip["place"] for _, flip in changed if not flip["open"]}
        claims = sum(place.startswith("claim ") for place in places)
        found.append([
            group,
            profile,
            len(pairs) + group.startswith("root seed 0"),  # the base has seed 0
            _decided(base),
            claims,
            len(places) - claims,
            len({flip["place"] for _, flip in changed if flip["open"]}),
            _agree(x["verdict"] == base["verdict"] for _, x in pairs),
            _results(study, chosen, pairs, base),
        ])
    return found, flipped


def unequal(study: Study, chosen: Sequence[Arm]) -> list[str]:
    """Name the arms whose digests are not those that they must reproduce."""
    seen = {arm.name: x for arm in chosen if (x := study.found(arm)) is not None}
    found = []
    for arm in chosen:
        if arm.name not in seen:
            continue
        for digest, like in (("verdict", arm.base), ("result", arm.same_as)):
            if like in seen and seen[arm.name][digest] != seen[like][digest]:
                found.append(f"{arm.name} has another {digest} digest than {like}")
    return found


def _decided(base: Mapping[str, Any]) -> int:
    words = [x[0] for place, x in base["places"].items() if place[:6] == "claim "]
    return sum(word in {"HOLDS", "REFUTED"} for word in words)


def _agree(same: Iterable[bool]) -> str:
    answers = list(same)
    if all(answers):
        return "equal"
    return f"{answers.count(False)} of {len(answers)} differ"


def _results(
    study: Study, chosen: Sequence[Arm], pairs: Sequence[Any], base: Any
) -> str:
    """Say whether results agree with those they must, or happen to, agree with."""
    arm = pairs[0][0]
    if not arm.same_as:
        if arm.seed:
            return "other seed, other draws"
        return f"need not be: {_agree(x['result'] == base['result'] for _, x in pairs)}"
    like = next((study.found(a) for a in chosen if a.name == arm.same_as), None)
    if like is None:
        return "not compared"
    return _agree(x["result"] == like["result"] for _, x in pairs)


def margins(study: Study, chosen: Sequence[Arm]) -> list[list[Any]]:
    """Spread of each check's margin over seeds; nearest to 0, for its size, first."""
    seen: dict[tuple[str, str], list[float]] = {}
    for arm in chosen:
        found = study.found(arm) if arm.splice or arm.name == arm.base else None
        if found is None or arm.name == "smoke-resumed":
            continue
        for place, (_, _, margin) in found["places"].items():
            if margin is not None:
                seen.setdefault((arm.profile, place[6:]), []).append(margin)
    spread = [
        [profile, place, len(m), min(m), median(m), max(m)]
        for (profile, place), m in seen.items()
        if len(m) > 1 and min(m) < max(m)
    ]
    return sorted(spread, key=lambda row: _nearness(row[3], row[5]))


def _nearness(low: float, high: float) -> float:
    """Distance of a range from 0 in units of its width; 0 where it contains 0."""
    distance = max(low, -high, 0.0)
    return distance / (high - low) if math.isfinite(high - low) else math.inf


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--state", type=Path, required=True, help="folder that keeps what is done")
    add("--seeds", type=seeds_of, default=range(50), help="smoke; default 0:50")
    add("--default-seeds", type=seeds_of, default=range(5), help="default 0:5")
    add("--coretypes", default="Haswell,Nehalem", help="values of OPENBLAS_CORETYPE")
    add("--jobs", type=int, default=2, help="runs at once, each with one worker")
    add("--select", action="append", default=[], help="claims; default all")
    add("--root", type=Path, default=ROOT, help="folder that has theorems/")
    add("--only", default="", help="runs whose name contains this, and base runs")
    add("--write", action="store_true", help="into the report's measured trust")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study, print the table, and write it where the report reads it."""
    options = _parser().parse_args(arguments)
    end_cleanly()
    try:
        study = Study(options.state.absolute(), options.select, options.root.absolute())
    except StabilityError as error:
        say(str(error))
        return 2
    names = list(filter(None, options.coretypes.split(",")))
    chosen = arms(options.seeds, options.default_seeds, names)
    chosen = [arm for arm in chosen if not arm.group or options.only in arm.name]
    bases = [arm for arm in chosen if not arm.group]
    for arm in bases:
        study.run(arm)
    done = {arm.name for arm in bases if study.found(arm) is not None}
    rest = [arm for arm in chosen if arm.group and arm.base in done]
    with ThreadPoolExecutor(options.jobs) as pool:
        try:
            list(pool.map(study.run, rest))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            end_all()
            raise
    return _conclude(study, chosen, options.write)


def _conclude(study: Study, chosen: Sequence[Arm], write: bool) -> int:
    compared, flipped = rows(study, chosen)
    spread = margins(study, chosen)
    heads = ("profile", "check", "runs", "least", "median", "greatest")
    lines = ["\t".join(map(str, row)) for row in (heads, *spread)]
    (study.state / "margins.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    text = json.dumps(dict(_by_arm(flipped)), indent=1)
    (study.state / "flips.json").write_text(text + "\n", "utf-8")
    print(table(COLUMNS, compared))
    for arm, flip in flipped:
        was, now = flip["was"], flip["is"]
        print(f"{arm}: {flip['place']}: {was[0]} ({was[1]}) -> {now[0]} ({now[1]})")
        print(f"  margins {flip['margins'][0]} -> {flip['margins'][1]}")
    print(table(heads, spread[:20]))
    for line in (wrong := unequal(study, chosen)):
        print(line)
    if write:
        say(f"written: {_write(study, chosen, compared, flipped, spread)}")
    if study.failed:
        say(f"not finished: {', '.join(study.failed)}; start again to go on")
        return 3
    return 1 if wrong or not all(flip["open"] for _, flip in flipped) else 0


def _by_arm(flipped: Sequence[Any]) -> Iterable[tuple[str, list[Any]]]:
    for arm, some in itertools.groupby(flipped, key=lambda pair: pair[0]):
        yield arm, [flip for _, flip in some]


def _told(flipped: Sequence[Any]) -> Iterable[str]:
    """Tell every change; those of claims left open once for each check."""
    loose: dict[tuple[str, str, str], list[str]] = {}
    for arm, flip in flipped:
        was, now = flip["was"][0], flip["is"][0]
        if flip["open"]:
            loose.setdefault((flip["place"], was, now), []).append(arm)
        else:
            yield f"{arm}: {flip['place']}: {was} became {now}"
    for (place, was, now), names in loose.items():
        yield (
            f"{place}: {was} became {now} ({', '.join(names)}); its claim is "
            "INCONCLUSIVE in all of them, because the text leaves its recipe open"
        )
    if loose:
        yield (
            "That such checks are counted apart, and do not fail the study, was "
            "decided after these changes had been seen."
        )


def _write(
    study: Study,
    chosen: Sequence[Arm],
    compared: Sequence[Sequence[Any]],
    flipped: Sequence[Any],
    spread: Sequence[Sequence[Any]],
) -> Path:
    seen = [x for arm in chosen if (x := study.found(arm)) is not None]
    claims = {f["place"] for _, f in flipped if f["place"].startswith("claim ")}
    loose = {f["place"] for _, f in flipped if f["open"]}
    count = f"{len(claims) or 'No'} claim{'s' if len(claims) > 1 else ''}"
    words = f"{count} changed verdict"
    more = f" Checks that did, of claims that stay INCONCLUSIVE: {len(loose)}."
    more = more if loose else ""
    notes = [
        "Checks that no seed reaches are taken over from the base run; a run in which "
        "nothing was taken over shows that this changes no result. The time is the sum "
        "of all runs, of which several run at once.",
        *_told(flipped),
    ]
    if spread:
        profile, place, runs, low, mid, high = spread[0]
        notes.append(
            f"{len(spread)} margins vary with the seed; the one that, for its spread, "
            f"comes nearest to a change of verdict is {place} ({profile}): "
            f"{low:.3g} to {high:.3g}, median {mid:.3g}, over {runs} seeds, where 0 is "
            "the boundary and 1 the tolerance."
        )
    return write_trust(
        "stability",
        title="Do verdicts depend on seed, threads or machine?",
        says=f"{words} over {len(seen)} runs that differ in root seed, threads, "
        f"instruction set, workers or an interruption.{more}",
        command="python benchmarks/verdict_stability.py --state DIR --write",
        seconds=sum(x["wall"] for x in seen),
        columns=COLUMNS,
        rows=compared,
        notes=notes,
    )


if __name__ == "__main__":
    sys.exit(main())
