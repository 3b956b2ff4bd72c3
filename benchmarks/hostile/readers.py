"""The campaign on what reads reports: loader, recheck, comparison, journal."""

import contextlib
import copy
import io
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.hostile import mutate, records
from benchmarks.hostile.watch import Watch
from verify import recheck
from verify.diff import compare
from verify.journal import JournalError, read
from verify.record import Report
from verify.report import changes
from verify.report.load import LoadError, load

Json = Any
# What a terminal or a reader's eye would take for something else.
UNSEEN = {
    *map(chr, range(32)),
    *map(chr, range(127, 160)),
    *"\u202a\u202b\u202c\u202d\u202e",
}
UNSEEN = (UNSEEN | {*"\u2066\u2067\u2068\u2069\u2028\u2029"}) - {"\n", "\t"}


class Readers:
    """Cases on one folder of scratch files.

    Args:
        seeds: Sealed reports to start from.
        folder: For the files that are read.
        seed: Of the campaign.
    """

    def __init__(self, seeds: Sequence[Json], folder: Path, seed: int = 0) -> None:
        self.seeds = seeds
        self.folder = folder
        self.seed = seed
        self.sound = [Report.model_validate(x) for x in seeds]
        self.file = folder / "report.json"

    def rng(self, kind: str, number: int) -> random.Random:
        """What draws a case, the same in every process."""
        return mutate.drawn(self.seed, kind, number)

    def report(self, watch: Watch, number: int) -> None:
        """One hostile report through loader, recheck and comparison."""
        case, rng = f"report {number}", self.rng("report", number)
        i = rng.randrange(len(self.seeds))
        made = mutate.changed(rng, self.seeds[i])
        if rng.random() < 0.6 and isinstance(made, dict):
            made = self._sealed(made)
        text = mutate.dumped(made)
        if rng.random() < 0.2:
            text = mutate.spoiled(rng, text)
        self.file.write_bytes(text)
        data = watch.run(case, lambda: recheck.load(self.file), (recheck.RecheckError,))
        if data is not None:
            self._rechecked(watch, case, data)
        report = watch.run(case, lambda: load(self.file), (LoadError,))
        if report is not None:
            watch.need(case, data is not None, "read by one loader only")
            self._compared(watch, case, self.sound[i], report)

    def _sealed(self, made: Json) -> Json:
        try:
            return records.sealed(made)
        except Exception:  # ruff: ignore[blind-except] - the case stays unsealed
            return made

    def _rechecked(self, watch: Watch, case: str, data: Json) -> None:
        items = watch.run(case, lambda: recheck.recheck(data), (recheck.RecheckError,))
        for item in items or ():
            watch.need(case, item.valid in {True, False, None}, "a fourth truth")
            watch.need(case, len(item.place) < 1000 > len(item.reason), "a long item")

    def _compared(self, watch: Watch, case: str, sound: Report, report: Report) -> None:
        for pair in ((sound, report), (report, sound)):
            found = watch.run(case, lambda pair=pair: compare(*pair))
            if found is None:
                continue
            text = watch.run(case, lambda f=found: changes.to_text(f))
            watch.need(case, text is None or not UNSEEN & {*text}, "control characters")
            said = watch.run(case, lambda f=found: changes.to_json(f))
            watch.need(case, said is None or _strict(said), "no strict JSON")
            watch.run(case, lambda f=found: changes.to_markdown(f))

    def printed(self, watch: Watch, number: int) -> None:
        """One hostile report through `python recheck.py`."""
        case, rng = f"printed {number}", self.rng("printed", number)
        made = mutate.changed(rng, rng.choice(self.seeds))
        text = mutate.dumped(made)
        if rng.random() < 0.3:
            text = mutate.spoiled(rng, text)
        self.file.write_bytes(text)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = watch.run(case, lambda: recheck.main([str(self.file)]))
        said = out.getvalue() + err.getvalue()
        watch.need(case, code in {0, 1, 2}, f"exit code {code}")
        watch.need(case, said.isascii() and not UNSEEN & {*said}, "control characters")
        watch.need(case, code != 2 or said.count("\n") == 1, "more than one line")

    def decided(self, watch: Watch, number: int) -> None:
        """One hostile record through the plain and the deep decider."""
        case, rng = f"decided {number}", self.rng("decided", number)
        record = mutate.changed(rng, rng.choice(records.every()))
        if rng.random() < 0.5:
            record = records.resealed(copy.deepcopy(record))
        watch.run(case, lambda: recheck.decide(record), (recheck.RecheckError,))

    def journal(self, watch: Watch, number: int) -> None:
        """One hostile journal through its reader and the loader of a folder."""
        case, rng = f"journal {number}", self.rng("journal", number)
        lines = records.journal(rng.choice(self.seeds)).splitlines(keepends=True)
        for _ in range(rng.choice((1, 1, 2))):
            i = rng.randrange(len(lines))
            lines[i] = self._line(rng, lines[i])
            if rng.random() < 0.1:
                rng.shuffle(lines)
        path = self.folder / "journal.jsonl"
        path.write_bytes(b"".join(lines))
        watch.run(case, lambda: read(self.folder), (JournalError,))
        watch.run(case, lambda: load(self.folder), (LoadError,))
        path.unlink()

    @staticmethod
    def _line(rng: random.Random, line: bytes) -> bytes:
        if rng.random() < 0.3 or not line.strip():
            return mutate.spoiled(rng, line)
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            return mutate.spoiled(rng, line)
        if not isinstance(data, dict | list):
            return line
        return mutate.dumped(mutate.changed(rng, data)) + b"\n"


def _strict(text: str) -> bool:
    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True
