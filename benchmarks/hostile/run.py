"""Feed hostile reports, journals and caches to the suite; see ../README.md.

python benchmarks/hostile/run.py [--small] [--write] [--jobs N] [--state DIR]
                                 [--report REPORT.json] [--case "report 1029"]

Every case is drawn from the root seed, its campaign and its number, so that one can be
run again alone. The state folder keeps the chunks that are done.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before numpy: each process has one core
HERE = Path(__file__).resolve().parent
if str(HERE) in sys.path:
    sys.path.remove(str(HERE))  # its modules are benchmarks.hostile.*, nothing else
sys.path.insert(0, str(HERE.parents[1]))

from benchmarks.commands import say, table, write_trust  # ruff: ignore[module-import-not-at-top-of-file]
from benchmarks.hostile import latex, records, tamper, truth  # ruff: ignore[module-import-not-at-top-of-file]
from benchmarks.hostile.readers import Readers  # ruff: ignore[module-import-not-at-top-of-file]
from benchmarks.hostile.stores import Stores  # ruff: ignore[module-import-not-at-top-of-file]
from benchmarks.hostile.views import Views  # ruff: ignore[module-import-not-at-top-of-file]
from benchmarks.hostile.watch import Watch  # ruff: ignore[module-import-not-at-top-of-file]
from verify import recheck  # ruff: ignore[module-import-not-at-top-of-file]

STATE = Path("reports") / "hostile"
CHUNK = 250
# Cases of each campaign; those of the first four add up to 100,000.
CASES = {
    "report": 40_000, "printed": 30_000, "decided": 15_000, "journal": 15_000,
    "store": 5_000, "view": 300, "latex": 8, "field": 10_000,
}  # fmt: skip
CASES |= {f"tamper {kind}": 2_000 for kind in truth.DECIDERS}
CASES["tamper enclosure"] = 500  # by quadrature
WORDS = {
    "report": "reports: loaders, recheck, comparison both ways",
    "printed": "reports: python recheck.py",
    "decided": "witnesses and certificates alone",
    "journal": "journals of runs",
    "store": "spoiled entries of the cache",
    "view": "reports: page, Markdown, LaTeX, JUnit, badge, JSON",
    "latex": "their LaTeX, typeset by pdflatex",
    "field": "one field of a sealed report changed",
}
LARGEST = 12_000  # characters of a claim of a real report that cases start from
COLUMNS = (
    "what is hostile", "cases", "refused or shown as bad", "faults", "longest case (s)",
)  # fmt: skip


@dataclass
class Found:
    """What one chunk of a campaign came to."""

    kind: str
    start: int
    cases: int
    refused: int
    slow: int
    longest: float
    seconds: float
    faults: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Seeds:
    """What the cases start from: built anew in every process."""

    report: str
    seed: int

    def reports(self) -> list[Any]:
        """Sealed reports of one claim each."""
        found = [*records.singles(records.report(), LARGEST)]
        if self.report:
            found += records.singles(recheck.load(self.report), LARGEST)
        return found

    def records(self) -> list[Any]:
        """True witnesses and certificates."""
        found = records.every()
        if self.report:
            whole = recheck.load(self.report)
            every = (x for _, x in recheck._records("claims", whole["claims"]))
            found += [x for x in every if len(json.dumps(x)) < 3000]
        return found


_KEPT: dict[tuple[Seeds, str], Any] = {}


def _kept(seeds: Seeds, what: str) -> Any:
    key = seeds, what
    if key not in _KEPT:
        folder = Path(tempfile.mkdtemp(prefix="hostile-"))
        _KEPT[key] = {
            "readers": lambda: Readers(seeds.reports(), folder, seeds.seed),
            "stores": lambda: Stores(folder, seeds.seed),
            "views": lambda: Views(seeds.reports(), seeds.seed),
            "records": seeds.records,
            "reports": seeds.reports,
            "folder": lambda: folder,
        }[what]()
    return _KEPT[key]


def chunk(seeds: Seeds, kind: str, start: int, stop: int) -> Found:
    """Run the cases of a campaign from one number to another."""
    began, watch = time.perf_counter(), Watch()
    if kind.startswith("tamper ") or kind == "field":
        return _tampered(seeds, kind, start, stop, began)
    for number in range(start, stop):
        if kind == "store":
            _kept(seeds, "stores").store(watch, number)
        elif kind == "view":
            _kept(seeds, "views").view(watch, number)
        elif kind == "latex":
            folder = _kept(seeds, "folder") / "latex"
            latex.latex(_kept(seeds, "views"), watch, number, folder)
        else:
            getattr(_kept(seeds, "readers"), kind)(watch, number)
    faults = [(x.case, x.what) for x in watch.faults]
    return Found(
        kind, start, stop - start, watch.refused, watch.slow, watch.longest,
        time.perf_counter() - began, faults,
    )  # fmt: skip


def _tampered(seeds: Seeds, kind: str, start: int, stop: int, began: float) -> Found:
    numbers = range(start, stop)
    if kind == "field":
        score, watch = tamper.fields(_kept(seeds, "reports"), numbers, seeds.seed)
        faults = [(x.case, x.what) for x in watch.faults]
    else:
        score, watch = tamper.Score(), Watch()
        own = kind.removeprefix("tamper ")
        tamper.campaign(_kept(seeds, "records"), own, numbers, seeds.seed, score, watch)
        faults = [(x.case, x.what) for x in watch.faults]
    faults += [(x, "accepted though false") for x in score.examples]
    return Found(
        kind, start, score.tried, score.false - score.accepted, watch.slow,
        watch.longest, time.perf_counter() - began, faults,
    )  # fmt: skip


class Done:
    """The chunks that are done, one line each.

    Args:
        path: Of the file.
        say_so: What must be equal for lines to count.
    """

    def __init__(self, path: Path, say_so: str) -> None:
        self.path, self.say_so = path, say_so
        self.found: dict[tuple[str, int, int], Found] = {}
        for text in path.read_text("utf-8").splitlines() if path.exists() else ():
            line = json.loads(text)
            if line.pop("of") == say_so:
                self._take(Found(**line))

    def _take(self, one: Found) -> None:
        self.found[one.kind, one.start, one.cases] = one

    def add(self, one: Found) -> None:
        """Keep a chunk."""
        self._take(one)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"of": self.say_so} | asdict(one)) + "\n")


def chunks(cases: dict[str, int]) -> Iterator[tuple[str, int, int]]:
    """Every chunk of every campaign."""
    for kind, total in cases.items():
        size = 25 if kind in {"view", "latex"} else CHUNK
        for start in range(0, total, size):
            yield kind, start, min(start + size, total)


def rows(found: Sequence[Found], cases: dict[str, int]) -> list[list[Any]]:
    """The table: a line per campaign."""
    made = []
    for kind in cases:
        own = [x for x in found if x.kind == kind]
        if own:
            words = WORDS.get(kind) or f"{kind.partition(' ')[2]} tampered with"
            made.append([
                words, sum(x.cases for x in own), sum(x.refused for x in own),
                sum(len(x.faults) for x in own), round(max(x.longest for x in own), 2),
            ])  # fmt: skip
    return made


def summary(found: Sequence[Found]) -> str:
    """The result in two sentences."""
    read = [x for x in found if x.kind in {"report", "printed", "decided", "journal"}]
    forged = [x for x in found if x.kind.startswith("tamper ") or x.kind == "field"]
    wrong = sum(len(x.faults) for x in found)
    false = sum(x.refused + len(x.faults) for x in forged)
    accepted = sum(len(x.faults) for x in forged)
    return (
        f"{sum(x.cases for x in read):,} hostile reports, records and journals, and "
        f"{sum(x.cases for x in found if x not in read):,} other cases: {wrong} "
        "faults, such as a traceback, a hang or text that became a command. Of "
        f"{false:,} tampered records and reports that are false, {accepted} were "
        "accepted."
    )


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a fiftieth of the cases")
    parser.add_argument("--write", action="store_true", help="ship the figures")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--seed", type=int, default=0, help="root seed")
    parser.add_argument("--state", type=Path, default=STATE, help=f"({STATE})")
    parser.add_argument("--report", default="", help="start from its claims as well")
    parser.add_argument("--case", metavar="'KIND NUMBER'", help="run one case")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the campaign; 1 if there is a fault."""
    options = arguments(argv)
    seeds = Seeds(options.report, options.seed)
    if options.case:
        kind, _, number = options.case.rpartition(" ")
        one = chunk(seeds, kind, int(number), int(number) + 1)
        say(json.dumps(asdict(one), indent=1))
        return bool(one.faults)
    cases = {k: max(4, n // 50) if options.small else n for k, n in CASES.items()}
    if not latex.available():
        del cases["latex"]
    done = Done(options.state / "lines.jsonl", repr(seeds))
    wanted = [*chunks(cases)]
    left = [x for x in wanted if (x[0], x[1], x[2] - x[1]) not in done.found]
    with ProcessPoolExecutor(options.jobs) as pool:
        for one in (
            pool.map(chunk, [seeds] * len(left), *zip(*left, strict=True))
            if left
            else ()
        ):
            done.add(one)
            for case, what in one.faults[:5]:
                say(f"{case}: {what}"[:300])
    found = [done.found[k, a, b - a] for k, a, b in wanted]
    print(table(COLUMNS, rows(found, cases)))
    print(summary(found))
    if options.write:
        _write(found, cases)
    return any(x.faults for x in found)


def _write(found: Sequence[Found], cases: dict[str, int]) -> None:
    slow = sum(x.slow for x in found)
    notes = [
        "A case is a fault when something raises what it does not document, takes more "
        "than 8 s of processor time, writes control characters, or when text of the "
        f"record becomes an element, a command or an entity. {slow} cases took over "
        "1 s.",
        "Tampered records are decided a second time by code that shares nothing with "
        "recheck; refused counts those that are false. A change of a field that is "
        "meant to differ from run to run counts as no case.",
        "Nothing protects against an editor who renews the digests of a report whose "
        "evidence is sound: the digests are no signature.",
    ]  # fmt: skip
    path = write_trust(
        "hostile",
        title="Hostile reports and caches",
        says=summary(found),
        command="python benchmarks/hostile/run.py --write",
        seconds=sum(x.seconds for x in found),
        columns=COLUMNS,
        rows=rows(found, cases),
        notes=notes,
    )
    say(f"written: {path}")


if __name__ == "__main__":
    sys.exit(main())
