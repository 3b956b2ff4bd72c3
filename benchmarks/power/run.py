"""Measure the error rates of the suite on synthetic claims; see ../README.md.

python benchmarks/power/run.py [--small] [--write] [--jobs N] [--family NAME ...]
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before numpy: each process has one core
HERE = Path(__file__).resolve().parent
if str(HERE) in sys.path:
    sys.path.remove(str(HERE))  # its modules are benchmarks.power.*, nothing else
sys.path.insert(0, str(HERE.parents[1]))

from benchmarks.power import study, summary  # ruff: ignore[module-import-not-at-top-of-file]
from benchmarks.power.cases import (  # ruff: ignore[module-import-not-at-top-of-file]
    claim_of,
    shortly,
)

LINES = Path("reports") / "power" / "lines.jsonl"
TRUST = HERE.parents[1] / "verify" / "report" / "trust" / "power.json"
RESULTS = HERE / "results.json"


def say(text: str) -> None:
    """Write a line for people; standard output is for figures."""
    print(text, file=sys.stderr, flush=True)


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--small", action="store_true", help="a hundredth of the claims"
    )
    parser.add_argument("--write", action="store_true", help="ship the figures")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--seed", type=int, default=0, help="root seed of the study")
    parser.add_argument("--lines", type=Path, help=f"where chunks go ({LINES})")
    parser.add_argument(
        "--family", action="append", choices=[*study.FAMILIES], help="only this one"
    )
    parser.add_argument(
        "--case", metavar="FAMILY/BLOCK/NUMBER", help="draw and decide one claim"
    )
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study; 1 if a target was missed, 2 if it could not run."""
    given = arguments(argv)
    if given.case:
        return one_case(given.case, given.seed)
    sizes = study.SMALL if given.small else study.FULL
    if given.write and (given.small or given.family or given.seed):
        say("--write ships the whole study: leave out --small, --family and --seed")
        return 2
    measured_at = commit()  # before the run, not what is there when it ends
    path = given.lines or LINES.with_stem("small" if given.small else "lines")
    blocks = study.blocks(sizes, given.family or study.FAMILIES)
    try:
        lines = study.Lines.open(path, sizes, given.seed)
    except study.StudyError as error:
        say(f"error: {error}")
        return 2
    study.run(lines, blocks, jobs=given.jobs, say=say)
    found = summary.measured(lines, blocks)
    told = shipped(found, lines, given.jobs, measured_at)
    if given.write:
        write(TRUST, told)
        write(RESULTS, summary.results(found, lines))
    show(told)
    return int(any(one.missed for one in found))


def shipped(
    found: Sequence[summary.Measured], lines: study.Lines, jobs: int, measured_at: str
) -> dict[str, Any]:
    """The file of the package; the seconds are CPU time of all processes."""
    return summary.trust(
        found,
        date=datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        commit=measured_at,
        seconds=sum(line["seconds"] for line in lines.done.values()),
        cores=jobs,
    )


def commit() -> str:
    """The commit that was measured, with + if files were changed."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=HERE, capture_output=True, text=True, check=False
        )
        return done.stdout.strip()

    changed = git(
        "status", "--porcelain", "--", *(str(study.ROOT / x) for x in study.CODE)
    )
    return (git("rev-parse", "--short", "HEAD") or "unknown") + "+" * bool(changed)


def write(path: Path, data: dict[str, Any]) -> None:
    """Write a file as one piece."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", "utf-8")
    part.replace(path)
    say(f"wrote {path}")


def show(told: dict[str, Any]) -> None:
    """Print the table and the notes."""
    rows = [[str(x) for x in told["columns"]]]
    rows += [[f"{x:.2g}" if isinstance(x, float) else str(x) for x in row]
             for row in told["rows"]]  # fmt: skip
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(x.rjust(w) for x, w in zip(row, widths, strict=True)))
    print(told["says"], *told["notes"], sep="\n")


def one_case(text: str, root: int) -> int:
    """Draw one claim again, and print what it says and how it is decided."""
    family, _, rest = text.partition("/")
    name, _, number = rest.rpartition("/")
    if family not in study.FAMILIES or not number.isdigit():
        say(f"error: no case {text!r}; for instance identity/true/17")
        return 2
    block = study.Block(family, name, int(number) + 1)
    content, truth, seed = study.drawn(block, int(number), root)
    claim = claim_of(study.FAMILIES[family], content, int(number))
    profile = study.FAMILIES[family].profile(truth)
    print(f"{content.sort}, {'true' if truth else 'false'}, about {content.domain}")
    for key, value in content.parameters.items():
        print(f"  {key} = {value}")
    print(shortly(study.FAMILIES[family], claim, profile, seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
