"""One fault, one trial: strike a run, look at what it left, take it up, compare."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import injections as inject
from benchmarks.claims_made import overclaims, overclaims_when_written
from benchmarks.commands import (
    PYTHON,
    ROOT,
    Command,
    environment,
    journal,
    kill,
    say,
)

PATIENCE = 10  # times an undisturbed run, and some minutes: then a run hangs

Chance = np.random.Generator
Process = subprocess.Popen[bytes]
Strike = Callable[[Command, Process], str]


@dataclass
class Trial:
    """What came of one fault.

    Attributes:
        fault: Which.
        profile: Of the run.
        how: What was done, in words.
        checks: Finished checks in the journal when the run had ended.
        of: Finished checks of an undisturbed run.
        code: Exit code of the run that was struck.
        same: Whether the resumed run has the digest of the undisturbed one.
        too_much: What a report claimed beyond what ran.
        left: Processes left over.
        said: The last line printed by the run that was struck.
        traceback: Whether it ended in a traceback of the command line.
        hung: Whether it had to be killed because it did not end.
        seconds: Of the whole trial.
        mark: What its processes carry in their environment.
    """

    fault: str
    profile: str
    how: str
    checks: int
    of: int
    code: int
    same: bool = False
    too_much: list[str] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    said: str = ""
    traceback: bool = False
    hung: bool = False
    seconds: float = 0.0
    mark: str = ""

    @property
    def good(self) -> bool:
        """Whether nothing went wrong beyond the fault."""
        wrong = self.too_much or self.left or self.traceback or self.hung
        return self.same and not wrong

    @property
    def verdict(self) -> str:
        """What came of it, in words."""
        if self.good:
            return "taken up, same digest"
        return (
            f"same digest {self.same}, claims too much {self.too_much}, left over "
            f"{self.left}, traceback {self.traceback}, hung {self.hung}: {self.said}"
        )


@dataclass
class Study:
    """A folder with an undisturbed run per profile, and the trials made so far.

    Attributes:
        state: The folder.
        select: Claims, by profile; none selects all.
        kills: How many, by profile.
        root: Folder that has theorems/.
        seed: Of the choice of points in time and of victims.
    """

    state: Path
    select: dict[str, tuple[str, ...]]
    kills: dict[str, int]
    root: Path = ROOT
    seed: int = 0

    def chance(self, name: str, number: int) -> Chance:
        """What chooses points in time and victims, the same in every call."""
        return np.random.default_rng([self.seed, *name.encode(), number])

    def command(
        self,
        profile: str,
        name: str,
        *,
        out: Path | None = None,
        cache: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Command:
        """A run, by default of its own folder and its own cache."""
        home = self.state / name
        return Command(
            out or home / "run",
            cache or home / "cache",
            self.select[profile],
            profile,
            env=env or {},
            root=self.root,
        )

    def reference(self, profile: str) -> dict[str, Any]:
        """Digest, exit code, length and number of checks of an undisturbed run."""
        path = self.state / f"reference-{profile}.json"
        if not path.exists():
            command = self.command(profile, f"reference-{profile}")
            shutil.rmtree(command.out.parent, ignore_errors=True)
            done = command.run()
            if done.code not in {0, 1}:
                raise RuntimeError(f"undisturbed: exit {done.code}: {done.last}")
            found = {
                "digest": command.report()["result_digest"],
                "code": done.code,
                "seconds": done.seconds,
                "checks": checks_in(command.out),
                "journal": (command.out / "journal.jsonl").stat().st_size,
                "cache": inject.room(command.cache / "entries"),
            }
            path.write_text(json.dumps(found), "utf-8")
            say(f"undisturbed run of {profile}: {done.seconds:.0f} s")
        kept: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return kept

    def trials(self) -> list[Trial]:
        """Every trial that was made."""
        return [
            Trial(**json.loads(path.read_text("utf-8")))
            for path in sorted((self.state / "trials").glob("*.json"))
        ]

    def trial(
        self,
        fault: str,
        profile: str,
        number: int,
        strike: Strike,
        *,
        env: Mapping[str, str] | None = None,
        mend: Callable[[], object] | None = None,
        command: Command | None = None,
        again: Strike | None = None,
    ) -> None:
        """Strike a run, look at what it left, mend the fault, and take it up.

        Args:
            fault: Which fault, for the table.
            profile: Of the run.
            number: Of the trial; one that was made before is passed over.
            strike: Brings the fault about in the running command.
            env: Environment of the run that is struck.
            mend: Takes the fault away before the run is resumed.
            command: The run; by default of a folder of its own.
            again: Strikes the resumed run as well.
        """
        name = f"{fault}-{profile}-{number}".replace(" ", "-")
        kept = self.state / "trials" / f"{name}.json"
        if kept.exists():
            return
        known, began = self.reference(profile), time.monotonic()
        command = command or self.command(profile, name)
        for home in {command.out.parent, command.cache.parent} - {self.state}:
            shutil.rmtree(home, ignore_errors=True)  # of a trial that was interrupted
        log = self.state / "logs" / f"{name}.log"
        struck = replace(command, env={**command.env, **(env or {})})
        found = self._struck(struck, strike, log, limit(known))
        made = replace(found, fault=fault, profile=profile, of=known["checks"])
        if mend is not None:
            mend()
        if again is not None:
            log_2 = log.with_suffix(".2.log")
            more = self._struck(command, again, log_2, limit(known), resume=True)
            made.hung |= more.hung
            made.traceback |= more.traceback
            made.how += f"; then {more.how}"
            made.too_much += more.too_much
            made.left += inject.outlived(more.mark)
        self._resume(command, made, known, log)
        made.left += inject.outlived(made.mark)
        made.seconds = time.monotonic() - began
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(asdict(made)), "utf-8")
        say(f"{name}: {made.how}; {made.checks} of {made.of} checks; {made.verdict}")
        if made.good:
            for home in {command.out.parent, command.cache.parent} - {self.state}:
                shutil.rmtree(home, ignore_errors=True)

    def _struck(
        self,
        command: Command,
        strike: Strike,
        log: Path,
        seconds: float,
        *,
        resume: bool = False,
    ) -> Trial:
        resume = resume and bool(journal(command.out))
        mark = f"{log.stem}-{os.getpid()}"
        env = {**command.env, inject.MARK: mark}
        process = replace(command, env=env).start(log, resume=resume)
        hung = False
        try:
            how = strike(command, process)
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                hung = True
                kill(process)
        except BaseException:
            kill(process)
            raise
        text = log.read_text("utf-8", "replace")
        lines = [line for line in text.splitlines() if line.strip()]
        return Trial(
            fault="",
            profile="",
            how=how,
            checks=checks_in(command.out),
            of=0,
            code=process.returncode,
            too_much=list(looked_at(command)),
            mark=mark,
            hung=hung,
            said=lines[-1].strip() if lines else "",
            # A worker without memory may die in the midst of pytest's own code.
            traceback="Traceback" in text and "verify/cli.py" in text,
        )

    def _resume(self, command: Command, made: Trial, known: Any, log: Path) -> None:
        """Take the run up once; before its journal began there is nothing to resume."""
        resume, most = bool(journal(command.out)), limit(known)
        done = command.run(resume=resume, log=log.with_suffix(".end.log"), limit=most)
        if done.code == known["code"]:
            made.same = command.report()["result_digest"] == known["digest"]
            return
        made.hung |= done.seconds >= most
        made.said = f"resumed: exit {done.code}: {done.last}"


def limit(known: Mapping[str, Any]) -> float:
    """Seconds after which a run hangs, by what is known of an undisturbed one."""
    return float(PATIENCE * known["seconds"] + 300)


def checks_in(folder: Path) -> int:
    """How many checks a journal has."""
    return len({
        (x["claim"], x["name"]) for x in journal(folder) if x["type"] == "check"
    })


def looked_at(command: Command) -> Iterator[str]:
    """Overclaims of a report made of what is left, and of the one that was written."""
    lines = journal(command.out)
    if not lines:
        return
    words = [*PYTHON, "verify", "report", str(command.out), "--format", "json"]
    done = subprocess.run(
        words, cwd=command.root, env=environment(), capture_output=True, text=True
    )
    if done.returncode:
        yield f"no report could be made: {done.stderr.strip()}"
    else:
        yield from overclaims(json.loads(done.stdout), lines)
    if (command.out / "report.json").exists():
        yield from overclaims_when_written(command.report(), lines)
