"""The study: which claims are drawn, decided in chunks, and kept line by line.

Every claim has its own seed, derived from the root seed, the family, the block and its
number, so that chunks may run anywhere and in any order, and any claim can be drawn
again on its own. A run that was stopped continues where it was.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.power import bound, direction, exponent, identity, rate, trend
from benchmarks.power.cases import (
    Drawn,
    Family,
    agree,
    claim_of,
    rng_of,
    shortly,
    wholly,
)
from verify.profiles import Profile

FAMILIES: Mapping[str, Family] = {
    module.FAMILY.name: module.FAMILY
    for module in (identity, exponent, direction, bound, rate, trend)
}
ROOT = Path(__file__).resolve().parents[2]
CODE = (  # what a verdict depends on: lines of another version do not count
    "benchmarks/power",
    "theorems/collins2024/window/bands.py",
    "theorems/huang2024/rates/decay.py",
    "verify/certify",
    "verify/fit",
    "verify/max_margin",
    "verify/symbolic",
    *(f"verify/{name}.py" for name in ("check", "claim", "judge", "numerics")),
    *(f"verify/{name}.py" for name in ("outcome", "recheck", "search", "verdict")),
)
CHUNK = 100  # claims per line: a minute's work at most
EXAMPLES = 5  # of wrong verdicts that a line names
TRUE, FALSE, WHOLE, CURVE, EXTRA = "true", "false", "whole", "curve", "extra"
Key = tuple[str, str, int]


class StudyError(ValueError):
    """A study cannot be continued; says what to do."""


@dataclass(frozen=True)
class Sizes:
    """How many claims are drawn.

    Attributes:
        true: True claims per family.
        false: False claims per family, at the stated resolution.
        curve: Claims per point of a resolution curve.
        whole: Claims per family that also go the whole path.
        extra: Claims of every kind outside the assumptions.
    """

    true: int = 30_000
    false: int = 3_000
    curve: int = 600
    whole: int = 240
    extra: int = 3_000


FULL, SMALL = Sizes(), Sizes(300, 60, 20, 10, 40)


@dataclass(frozen=True)
class Block:
    """Claims of one kind.

    Attributes:
        family: The family.
        name: Of the block: a kind, and what distinguishes it.
        count: How many claims.
    """

    family: str
    name: str
    count: int

    @property
    def kind(self) -> str:
        """TRUE, FALSE, WHOLE, CURVE or EXTRA."""
        return self.name.partition("/")[0]

    @property
    def which(self) -> str:
        """The point of the curve, or the name of the extra."""
        return self.name.partition("/")[2]

    def chunks(self) -> Iterator[Key]:
        """The keys of its chunks."""
        return ((self.family, self.name, k) for k in range(-(-self.count // CHUNK)))


def blocks(sizes: Sizes, families: Iterable[str] = FAMILIES) -> list[Block]:
    """What a study of these sizes consists of, the quick families first."""
    found = []
    for name in families:
        family = FAMILIES[name]
        found += [
            Block(name, TRUE, sizes.true),
            Block(name, FALSE, sizes.false),
            Block(name, WHOLE, sizes.whole),
        ]
        points = max(1, round(sizes.curve * family.scale))
        found += [Block(name, f"{CURVE}/{w!r}", points) for w in family.grid]
        found += [Block(name, f"{EXTRA}/{x}", sizes.extra) for x in family.extras]
    return found


def drawn(block: Block, number: int, root: int) -> tuple[Drawn, bool, int]:
    """Draw one claim of a block.

    Args:
        block: The block.
        number: Which claim.
        root: Root seed of the study.

    Returns:
        The claim's content, whether it is true, and the seed of its decision.
    """
    family = FAMILIES[block.family]
    rng, seed = rng_of(root, block.family, block.name, number)
    if block.kind == EXTRA:
        extra = family.extras[block.which]
        return extra.draw(rng), extra.truth, seed
    if block.kind == CURVE:
        return family.draw(rng, False, float(block.which)), False, seed
    truth = block.kind == TRUE or (block.kind == WHOLE and number % 2 == 0)
    found = family.draw(rng, True, 0.0) if truth else family.false(rng)
    return found, truth, seed


def decided(block: Block, number: int, root: int) -> tuple[str, str, bool]:
    """Draw and decide one claim.

    Returns:
        Its sort, its verdict, and whether the whole path agrees with it; that is true
        outside of WHOLE, where it is not asked.
    """
    family = FAMILIES[block.family]
    content, truth, seed = drawn(block, number, root)
    claim = claim_of(family, content, number)
    profile: Profile = family.profile(truth)
    verdict = shortly(family, claim, profile, seed)
    if block.kind != WHOLE:
        return content.sort, verdict, True
    same = agree(verdict, wholly(family, claim, profile, seed))
    return ("true" if truth else "false"), verdict, same


def run_chunk(key: Key, count: int, root: int) -> dict[str, Any]:
    """Decide the claims of one chunk.

    Args:
        key: Family, block and number of the chunk.
        count: Claims of the whole block.
        root: Root seed of the study.

    Returns:
        A line: verdicts by sort, the first wrong ones, and CPU seconds.
    """
    family, name, chunk = key
    block = Block(family, name, count)
    started = time.process_time()
    verdicts: dict[str, Counter[str]] = {}
    apart, wrong = 0, []
    for number in range(chunk * CHUNK, min((chunk + 1) * CHUNK, count)):
        sort, verdict, same = decided(block, number, root)
        verdicts.setdefault(sort, Counter())[verdict] += 1
        apart += not same
        bad = {TRUE: {"REFUTED", "FAULT"}, FALSE: {"HOLDS", "FAULT"}}
        if not same or verdict in bad.get(block.kind, {"FAULT"}):
            wrong.append([number, sort, verdict])
    return {
        "key": list(key),
        "verdicts": {sort: dict(found) for sort, found in sorted(verdicts.items())},
        "apart": apart,
        "wrong": wrong[:EXAMPLES],
        "seconds": round(time.process_time() - started, 3),
    }


# ------------------------------------------------------------------------------ keeping


def fingerprint() -> str:
    """Digest of the code that decides."""
    digest = hashlib.sha256()
    for name in CODE:
        place = ROOT / name
        files = [place] if place.is_file() else sorted(place.rglob("*.py"))
        for file in files:
            digest.update(str(file.relative_to(ROOT)).encode() + file.read_bytes())
    return digest.hexdigest()[:16]


@dataclass
class Lines:
    """The chunks that are done, in a file of JSON lines.

    Attributes:
        path: The file.
        head: What the lines belong to: sizes, root seed, code.
        done: Lines by key.
    """

    path: Path
    head: Mapping[str, Any]
    done: dict[Key, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path, sizes: Sizes, root: int) -> Lines:
        """Start a file, or continue one of the same study.

        Raises:
            StudyError: It belongs to another study, or to other code.
        """
        head = {"sizes": asdict(sizes), "root": root, "code": fingerprint()}
        lines = cls(path, head)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            lines._append(head)
            return lines
        texts = path.read_text(encoding="utf-8").split("\n")
        if texts.pop():  # the run was killed while it wrote the last line
            path.write_text("\n".join([*texts, ""]), encoding="utf-8")
        found = [json.loads(text) for text in texts]
        if not found or found[0] != head:
            raise StudyError(
                f"{path} belongs to other sizes, another seed or other code: "
                f"{found[:1]} instead of {head}; delete it, or give another --lines"
            )
        for line in found[1:]:
            lines.done[tuple(line["key"])] = line
        return lines

    def take(self, line: dict[str, Any]) -> None:
        """Keep a line at once."""
        family, name, chunk = line["key"]
        self.done[family, name, chunk] = line
        self._append(line)

    def _append(self, line: Mapping[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())


def run(
    lines: Lines,
    todo: Sequence[Block],
    *,
    jobs: int,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Decide what is not done yet.

    Args:
        lines: Where it is kept.
        todo: The blocks.
        jobs: Processes; 1 stays in this one.
        say: Told about progress.
    """
    root = int(lines.head["root"])
    tasks = [(key, block.count) for block in todo for key in block.chunks()
             if key not in lines.done]  # fmt: skip
    started = time.monotonic()

    def kept(number: int, line: dict[str, Any]) -> None:
        lines.take(line)
        passed = time.monotonic() - started
        left = passed / number * (len(tasks) - number)
        if number % 20 == 0 or number == len(tasks):
            say(f"{number} of {len(tasks)} chunks, {passed:.0f} s, {left:.0f} s left")

    if jobs == 1:
        for number, (key, count) in enumerate(tasks, start=1):
            kept(number, run_chunk(key, count, root))
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        call = partial(run_chunk, root=root)
        waiting = [pool.submit(call, key, count) for key, count in tasks]
        for number, future in enumerate(as_completed(waiting), start=1):
            kept(number, future.result())
