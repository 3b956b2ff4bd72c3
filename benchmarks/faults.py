"""Break runs on purpose and see whether they can be taken up; see README.md here.

python benchmarks/faults.py --state DIR [--kills 30] [--default-kills 3] [--write]

After each fault three things are asked: does a report made of what is left claim no
more than what ran; does `verify run --resume` end with the result digest of an
undisturbed run; is any process left over. A state folder keeps what is done.
"""

import argparse
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import injections as inject
from benchmarks.commands import (
    ROOT,
    Command,
    end_all,
    end_cleanly,
    kill,
    say,
    table,
    write_trust,
)
from benchmarks.trials import Chance, Process, Strike, Study, Trial, checks_in

# Studies, certificates, searches and witnesses of all three papers, in seconds.
SELECT = (
    "ren2024/figure-3/*",
    "ren2024/figure-11/equivalence",
    "ren2024/figure-14/*",
    "huang2024/proposition-2*",
    "collins2024/lemma-g.*",
    "collins2024/lemma-h.4*",
)
COLUMNS = (
    "fault",
    "profile",
    "tries",
    "struck before the first check · among checks · after the last",
    "same result digest after --resume",
    "reports that claim too much",
    "processes left over",
)


def at_random(
    what: str, chance: Chance, seconds: float, command: Command, process: Process
) -> str:
    """Kill all, the controller or one worker, at a point of time within the run."""
    del command
    wait = chance.uniform(0.0, seconds)
    until = time.monotonic() + wait
    inject.wait_for(lambda: time.monotonic() >= until, process)
    return f"after {wait:.1f} s {kill_now(what, process)}"


def at_line(
    what: str, chance: Chance, lines: int, command: Command, process: Process
) -> str:
    """Kill all, the controller or one worker, just after a line of the journal."""
    line = int(chance.integers(lines))
    inject.wait_for(lambda: checks_in(command.out) >= line, process, 0.001)
    return f"after {line} checks {kill_now(what, process)}"


def kill_now(what: str, process: Process) -> str:
    """Kill everything, the controller of the run, or one of its workers."""
    if what == "everything":
        kill(process)
        return "everything killed"
    find = {
        "controller": lambda: list(filter(None, [inject.controller(process)])),
        "worker": lambda: inject.workers(process),
    }[what]
    if not inject.wait_for(find, process):
        return f"the {what} had ended"
    return f"{what}: {inject.kill_one(find())}"


def starved(chance: Chance, seconds: float, command: Command, process: Process) -> str:
    """Leave a worker little memory once checks run; kill it if it lives on so."""
    inject.wait_for(lambda: checks_in(command.out) >= 1, process)
    some = inject.workers(process)
    if not some:
        return "the workers had ended"
    how = inject.starve(some[0], int(chance.choice((1, 16, 64))))
    # Python can repeat a failing import forever; the kernel would have killed it.
    until = time.monotonic() + 2 * seconds + 30
    if inject.wait_for(lambda: time.monotonic() >= until, process):
        how += f"; after {2 * seconds + 30:.0f} s {inject.kill_one(some[:1])}"
    return how


def nothing(command: Command, process: Process) -> str:
    """Let the run meet the fault by itself."""
    del command, process
    return "the run met it by itself"


def kills(study: Study, profile: str) -> None:
    """Kill at random points: mostly everything; at times controller or worker alone."""
    known = study.reference(profile)
    for number in range(study.kills[profile]):
        chance = study.chance(profile, number)
        what = ("everything", "everything", "controller", "everything", "worker")
        victim = what[number % len(what)]
        strike: Strike = partial(at_random, victim, chance, known["seconds"])
        if number % 4 == 3:  # right after a line was written
            strike = partial(at_line, victim, chance, known["checks"])
        again = partial(at_random, "everything", chance, known["seconds"])
        study.trial(
            f"SIGKILL of {victim if victim == 'everything' else f'the {victim}'}",
            profile,
            number,
            strike,
            again=again if number % 5 == 4 else None,  # the resumed run is killed too
        )


def full_disks(study: Study) -> None:
    """Let the disk of the run, and that of the cache, fill at several points."""
    known = study.reference("smoke")
    # The last has room for the journal and none for the report.
    for number, (share, more) in enumerate(((0.2, 0), (0.8, 0), (1.0, 16))):
        kib = (int(known["journal"] * share) >> 10) + more
        with inject.SmallDisk(study.state / f"disk-{number}", kib) as disk:
            study.trial(
                "disk of the run full",
                "smoke",
                number,
                nothing,
                mend=partial(disk.change, "size=2g"),
                command=study.command("smoke", f"d-{number}", out=disk.folder / "run"),
            )
    kib = max(int(known["cache"] * 0.6) >> 10, 4)
    with inject.SmallDisk(study.state / "full-cache", kib) as disk:
        study.trial(
            "disk of the cache full",
            "smoke",
            0,
            nothing,
            mend=partial(disk.change, "size=2g"),
            command=study.command("smoke", "d-cache", cache=disk.folder),
        )


def read_only_caches(study: Study) -> None:
    """Make the cache read-only, once empty and once with all that is needed."""
    study.reference("smoke")
    filled = study.state / "reference-smoke" / "cache"
    for name in ("empty", "filled"):
        with inject.SmallDisk(study.state / f"cache-{name}", 1 << 20) as disk:
            if name == "filled":
                shutil.copytree(filled, disk.folder, dirs_exist_ok=True)
            disk.change("ro")
            study.trial(
                f"read-only cache, {name}",
                "smoke",
                0,
                nothing,
                mend=partial(disk.change, "rw") if name == "empty" else None,
                command=study.command("smoke", f"c-{name}", cache=disk.folder),
            )


def clock_jumps(study: Study) -> None:
    """Let the wall clock jump by days every two seconds; kill one run under it."""
    known = study.reference("smoke")
    with inject.folder_for(study.state, "clock") as folder:
        env = inject.jumping_clock(folder)
        for number in range(2):
            chance = study.chance("clock", number)
            kill_it = partial(at_random, "everything", chance, known["seconds"])
            study.trial(
                "wall clock jumps",
                "smoke",
                number,
                kill_it if number else nothing,
                command=study.command("smoke", f"clock-{number}", env=env),
            )


def short_memory(study: Study, tries: int = 3) -> None:
    """Leave one worker almost no memory to take."""
    seconds = study.reference("smoke")["seconds"]
    for number in range(tries):
        strike = partial(starved, study.chance("memory", number), seconds)
        study.trial("worker out of memory", "smoke", number, strike)


def torch_raises(study: Study, tries: int = 3) -> None:
    """Let torch raise at some call in the middle of a study."""
    for number in range(tries):
        chance = study.chance("torch", number)
        folder = study.state / f"torch-{number}"
        env = inject.raising_torch(folder, int(chance.integers(1, 400)))
        study.trial("torch raises in a study", "smoke", number, nothing, env=env)


FAULTS: dict[str, Callable[[Study], None]] = {
    "kills": partial(kills, profile="smoke"),
    "disk": full_disks,
    "cache": read_only_caches,
    "clock": clock_jumps,
    "memory": short_memory,
    "torch": torch_raises,
    "default": partial(kills, profile="default"),
}


def rows(trials: Sequence[Trial], unable: dict[str, str]) -> list[list[Any]]:
    """Make the table: a row per fault and profile."""
    grouped: dict[tuple[str, str], list[Trial]] = {}
    for trial in trials:
        grouped.setdefault((trial.fault, trial.profile), []).append(trial)
    found: list[list[Any]] = []
    for (fault, profile), some in grouped.items():
        before = sum(t.checks == 0 for t in some)
        after = sum(t.checks == t.of for t in some)
        found.append([
            fault,
            profile,
            len(some),
            f"{before} · {len(some) - before - after} · {after}",
            sum(t.same for t in some),
            sum(bool(t.too_much) for t in some),
            sum(bool(t.left) for t in some),
        ])
    found += [
        [name, "", 0, f"not run: {why}", "", "", ""] for name, why in unable.items()
    ]
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--state", type=Path, required=True, help="folder that keeps what is done")
    add("--kills", type=int, default=30, help="of a smoke run")
    add("--default-kills", type=int, default=3, help="of a default run of all claims")
    add("--select", nargs="*", default=SELECT, help="claims of the smoke runs")
    add("--root", type=Path, default=ROOT, help="folder that has theorems/")
    add("--faults", nargs="+", choices=FAULTS, default=list(FAULTS))
    add("--seed", type=int, default=0, help="of points in time and victims")
    add("--write", action="store_true", help="into the report's measured trust")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Bring every fault about, print the table, and write it for the report."""
    options = _parser().parse_args(arguments)
    end_cleanly()
    select = {"smoke": tuple(options.select), "default": ()}
    tries = {"smoke": options.kills, "default": options.default_kills}
    study = Study(
        options.state.absolute(), select, tries, options.root.absolute(), options.seed
    )
    started, unable = time.monotonic(), {}
    try:
        for name in options.faults:
            try:
                FAULTS[name](study)
            except inject.UnableError as error:
                unable[name] = str(error)
    except BaseException:
        end_all()
        raise
    say(f"this call took {(time.monotonic() - started) / 60:.1f} min")
    trials = study.trials()
    found = rows(trials, unable)
    print(table(COLUMNS, found))
    bad = [trial for trial in trials if not trial.good]
    for trial in bad:
        print(f"{trial.fault} ({trial.profile}), {trial.how}: {trial.verdict}")
    if options.write:
        say(f"written: {_write(trials, found, select)}")
    return 1 if bad else 0


def _write(trials: Sequence[Trial], found: Sequence[Any], select: Any) -> Path:
    same = sum(trial.same for trial in trials)
    too_much = sum(bool(trial.too_much) for trial in trials)
    return write_trust(
        "faults",
        title="What do killed and broken runs leave?",
        says=f"{same} of {len(trials)} runs that were killed or broken on purpose "
        "ended, taken up with --resume, with the result of an undisturbed run; "
        f"{too_much} left a report that claims more than what ran.",
        command="python benchmarks/faults.py --state DIR --write",
        seconds=sum(trial.seconds for trial in trials),
        columns=COLUMNS,
        rows=found,
        notes=[
            f"Smoke runs decide {', '.join(select['smoke'])}: studies, certificates, "
            "searches and witnesses. Default runs decide every claim.",
            "A run that was killed before its journal began is started anew.",
            "Full and read-only disks are mounts in memory; the clock is shifted for "
            "every process of the run by a preloaded library; memory is limited for "
            "one worker by its address space, and it is killed if it lives on so; "
            "torch raises by an injected error.",
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
