"""Measure what verifying costs beside the checks themselves; see README.md here.

python benchmarks/cost.py [--json] [--quick] [--guard] [--report report.json]
python benchmarks/cost.py --memory PROFILE [--select ID]
"""

import argparse
import json
import math
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from verify import (
    Claim,
    Holds,
    Mutant,
    Need,
    Outcome,
    Refuted,
    Requires,
    Source,
    check,
    recheck_deep,
)
from verify.judge import Bench, judge
from verify.profiles import profile
from verify.report import render
from verify.verdict import Grade

ROOT = Path(__file__).resolve().parents[1]
# Ratios within one run, so that the machine and its other work drop out: twice what was
# measured, or the budget where that is less.
BARS = {
    "import_over_sympy": 0.3,
    "list_over_sympy": 8.0,
    "list_again_over_list": 0.3,
    "judge_over_bare": 8.0,
    "html_over_json": 30.0,
    "md_over_json": 0.4,
    "tex_over_json": 1.7,
    "junit_over_json": 0.33,
}
PUBLISHED = ROOT / "reports" / "published"


def say(text: str) -> None:
    """Write a line for people; standard output is for figures."""
    print(text, file=sys.stderr, flush=True)


def processor_seconds(repeats: int, *arguments: str, **environ: str) -> list[float]:
    """Processor time of Python processes: less moved by other work than wall clock."""
    found = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=os.environ | environ,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
        found.append(sum(used))
    return found


def start_case(quick: bool) -> dict[str, float]:
    """Start-up: importing verify, and listing all claims anew and from what is kept."""
    repeats = 2 if quick else 7
    with tempfile.TemporaryDirectory() as folder:
        environ = {
            "OMP_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": f"{folder}/bytecode",
        }
        listing = ("-m", "verify", "list")
        processor_seconds(1, *listing, **environ, VERIFY_CACHE=f"{folder}/first")

        def least(*arguments: str, cache: str) -> float:
            count = 1 if cache.endswith("new") else repeats
            spent = processor_seconds(count, *arguments, **environ, VERIFY_CACHE=cache)
            return min(spent)

        kept = f"{folder}/first"
        nothing = least("-c", "pass", cache=kept)
        ours = least("-c", "import verify", cache=kept) - nothing
        sympy = least("-c", "import sympy", cache=kept) - nothing
        again = least(*listing, cache=kept)
        anew = min(least(*listing, cache=f"{folder}/{i}/new") for i in range(repeats))
    say(
        f"processor time: import verify {ours:.3f} s, import sympy {sympy:.2f}; verify "
        f"list {anew:.2f} s anew ({anew / sympy:.1f} times sympy), {again:.2f} kept"
    )
    return {
        "import_verify_s": ours,
        "import_sympy_s": sympy,
        "import_over_sympy": ours / sympy,
        "list_s": anew,
        "list_over_sympy": anew / sympy,
        "list_again_s": again,
        "list_again_over_list": again / anew,
    }


def counted(claim: Claim) -> Outcome:
    """Decide the toy claim, with a record to be rechecked either way."""
    relation = "==" if claim.total == 4 else "!="
    record = {
        "kind": "formula",
        "says": f"2 + 2 {relation} {claim.total}",
        "inputs": {"total": int(claim.total)},
        "relation": [relation, ["add", 2, 2], ["in", "total"]],
    }
    if relation == "==":
        return Holds("counted", certificate=record, measured=4, target=4, n=1)
    return Refuted("miscounted", witness=record)


def toy() -> Claim:
    """A claim with ten mutants whose check takes no time."""
    return Claim(
        id="toy/lemma-1",
        says="Two and two are as many as claimed.",
        source=Source("toy", "Lemma 1"),
        parameters={"total": 4},
        mutants=tuple(Mutant(f"{n}", why="it is four", total=n) for n in range(5, 15)),
        requires=Requires((Need(frozenset({Grade.NUMERIC}), False),), why="a toy"),
    )


def judge_case(quick: bool) -> dict[str, float]:
    """The engine's share: judging, over calling the check and deciding its record."""
    claim, rounds = toy(), 20 if quick else 200
    declared = check(claim, grade="numeric", scope="one case")(counted)
    bench = Bench(profile("smoke"))
    changed = [claim, *(claim.changed(mutant) for mutant in claim.mutants), claim]

    def bare() -> None:
        for each in changed:
            outcome = counted(each)
            recheck_deep.decide(outcome.witness or outcome.certificate or {})

    whole = best(lambda: judge(bench, declared, claim, "toy"), rounds)
    least = best(bare, rounds)
    decisions = len(changed)
    each = 1e6 * (whole - least) / decisions
    say(
        f"judging: {1e6 * whole / decisions:.0f} µs per decision, {each:.0f} of it the "
        f"engine's, {whole / least:.1f} times check and recheck of a trivial claim"
    )
    return {"judge_us_per_decision": each, "judge_over_bare": whole / least}


def best(function: Callable[[], object], repeats: int) -> float:
    """Seconds of one call, the best of several."""
    least = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        least = min(least, time.perf_counter() - start)
    return least


def render_case(quick: bool, path: Path | None) -> dict[str, float]:
    """The views: milliseconds per claim, and over writing the record as JSON."""
    from verify import recheck
    from verify.record import Report

    record = recheck.load(path or published())
    report, plain = Report.model_validate(record), json.dumps(record)
    repeats, claims = 1 if quick else 5, max(1, len(report.claims))
    dump = best(lambda: json.dumps(record), 5 * repeats)
    result: dict[str, float] = {"claims": claims, "json_mb": len(plain) / 1e6}
    for view in ("html", "md", "tex", "junit"):
        taken = best(lambda view=view: render(report, view), repeats)
        result[f"{view}_ms_per_claim"] = 1e3 * taken / claims
        result[f"{view}_over_json"] = taken / dump
    say(
        f"views of {claims} claims, {len(plain) / 1e6:.1f} MB: html "
        f"{result['html_ms_per_claim']:.2f} ms per claim, "
        f"{result['html_over_json']:.1f} times json.dumps"
    )
    return result


def published() -> Path:
    """The published report: every claim as it is, with its formulas and figures."""
    found = sorted(PUBLISHED.glob("*/report.json"))
    if not found:
        raise SystemExit(f"no report.json in {PUBLISHED}/*/; name one with --report")
    return found[-1]


def memory_case(name: str, select: Sequence[str] = ()) -> dict[str, Any]:
    """Run a profile and add up the memory of all its processes, shared pages once."""
    import psutil

    with tempfile.TemporaryDirectory() as folder:
        options = [f"--profile={name}", "--quiet", f"--out={folder}/run"]
        command = ["run", *select, *options]
        began = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "verify", *command],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
        )
        samples: list[int] = []
        watcher = threading.Thread(
            target=watch, args=(psutil.Process(process.pid), samples)
        )
        watcher.start()
        code = process.wait()
        watcher.join()
        wall = time.monotonic() - began
    peak = max(samples, default=0) / 2**20
    say(f"profile {name}: exit code {code}, {wall:.0f} s, peak {peak:.0f} MiB in all")
    return {
        "memory_profile": name,
        "memory_exit_code": code,
        "memory_wall_s": wall,
        "memory_peak_mb": peak,
        "memory_median_mb": statistics.median(samples) / 2**20 if samples else 0.0,
        "memory_samples": len(samples),
    }


def exceeded(result: dict[str, Any]) -> list[str]:
    """Say which ratios are above their bars."""
    return [
        f"{name} is {result[name]:.2f}, its bar {bar:g}"
        for name, bar in BARS.items()
        if name in result and not result[name] <= bar
    ]


def watch(root: Any, samples: list[int]) -> None:
    """Sample the memory of a process and all below it until it ends."""
    import psutil

    while root.is_running() and root.status() != psutil.STATUS_ZOMBIE:
        total = 0
        for process in (root, *root.children(recursive=True)):
            try:
                info = process.memory_full_info()
            except psutil.Error:  # it ended meanwhile
                continue
            total += getattr(info, "pss", info.rss)
        samples.append(total)
        time.sleep(1.0)  # reading the maps of several processes takes a while itself


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one object, last line")
    parser.add_argument("--quick", action="store_true", help="seconds, rough figures")
    parser.add_argument("--guard", action="store_true", help="exit 1 above a bar")
    parser.add_argument("--report", type=Path, help="rendered, not the published one")
    parser.add_argument(
        "--memory", metavar="PROFILE", help="only this: the peak of a whole run"
    )
    parser.add_argument("--select", action="append", default=[], metavar="ID")
    options = parser.parse_args(arguments)
    result: dict[str, Any] = {"machine": platform.machine(), "quick": options.quick}
    if options.memory:
        result |= memory_case(options.memory, options.select)
    else:
        result |= start_case(options.quick) | judge_case(options.quick)
        result |= render_case(options.quick, options.report)
    if options.json:
        print(json.dumps(result), flush=True)
    above = exceeded(result)
    for line in above:
        say(line)
    return 1 if options.guard and above else 0


if __name__ == "__main__":
    sys.exit(main())
