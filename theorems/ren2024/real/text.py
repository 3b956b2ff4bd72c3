"""Text tasks: one built from a lexicon that a package ships, or GLUE from a folder.

The built one asks whether the gloss of a word is kind or not: "abhorrent: offensive to
the mind" is not. Words, glosses (WordNet's) and polarities are those of the
subjectivity lexicon for English adjectives (De Smedt and Daelemans, 2012), as shipped
in the package ``textblob``, of which only that file is read. Polarities below 0.2 in
size are left out. It is no GLUE task: the nearest is SST-2, which Table 1 lacks; labels
were given by few people and partly inferred, texts are fragments, and there are 1627.
"""

from __future__ import annotations

import csv
import hashlib
import html
import importlib.util
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from theorems.ren2024.real import GLUE
from verify.trouble import CannotRun

BUILT = "kind glosses"
LEXICON_PACKAGE = "textblob"
LEXICON = ("en", "en-sentiment.xml")
FAINT = 0.2


@dataclass(frozen=True)
class Example:
    """One labelled text, or pair of texts.

    Attributes:
        first: A text.
        second: The other of a pair; empty for a single one.
        label: 0 or 1, or a number.
    """

    first: str
    second: str
    label: float


@dataclass(frozen=True)
class Task:
    """What is learned, and on what it is scored.

    Attributes:
        name: Of the task.
        train: Examples to learn from.
        test: Examples to score on.
        scores: Names of the scores, the first of which is compared.
        regression: Whether the label is a number.
    """

    name: str
    train: tuple[Example, ...]
    test: tuple[Example, ...]
    scores: tuple[str, ...]
    regression: bool = False

    def digest(self) -> str:
        """Digest of every example."""
        content = repr((self.name, self.train, self.test, self.scores))
        return hashlib.sha256(content.encode()).hexdigest()[:32]


# ------------------------------------------------------------- built from a package


def glosses(train: int, test: int) -> Task:
    """Build the task of kind and unkind glosses.

    Args:
        train: Number of examples to learn from, about.
        test: Number of examples to score on, about.

    Returns:
        All senses of a word are in one part, the order is that of a digest of the word.

    Raises:
        CannotRun: The package is not installed.
        ValueError: There are not enough glosses.
    """
    spec = importlib.util.find_spec(LEXICON_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise CannotRun(
            f"package {LEXICON_PACKAGE} is not installed; `make verify-real` installs "
            "it without its dependencies"
        )
    file = Path(spec.submodule_search_locations[0]).joinpath(*LEXICON)
    senses = sorted(_senses(file.read_text(encoding="utf-8")).items(), key=_order)
    if sum(len(examples) for _, examples in senses) < train + test:
        raise ValueError(f"the lexicon has fewer than {train} + {test} glosses")
    parts: tuple[list[Example], list[Example]] = ([], [])
    for _, examples in senses:
        part = 0 if len(parts[0]) < test else 1
        if part == 0 or len(parts[1]) < train:
            parts[part].extend(examples)
    return Task(BUILT, tuple(parts[1]), tuple(parts[0]), ("Matthews correlation",))


def _senses(lexicon: str) -> dict[str, list[Example]]:
    found: dict[str, list[Example]] = {}
    for entry in re.findall(r"<word\s+(.*?)/>", lexicon):
        fields = {k: html.unescape(v) for k, v in re.findall(r'(\w+)="(.*?)"', entry)}
        word, gloss = fields["form"], fields.get("sense", "")
        polarity = float(fields["polarity"])
        if gloss and abs(polarity) >= FAINT:
            example = Example(f"{word}: {gloss}", "", float(polarity > 0))
            found.setdefault(word, []).append(example)
    return found


def _order(word: tuple[str, list[Example]]) -> str:
    return hashlib.sha256(word[0].encode()).hexdigest()


# ---------------------------------------------------------------------- GLUE


@dataclass(frozen=True)
class Layout:
    """Where a GLUE task keeps what it says.

    Attributes:
        columns: Names, or numbers without a header, of text, other text and label.
        header: Whether the first line names the columns.
        scores: As in Table 1.
        label: Reads a label.
        regression: Whether it is a number.
    """

    columns: tuple[str | int, ...]
    header: bool
    scores: tuple[str, ...]
    label: Callable[[str], float] = float
    regression: bool = False


LAYOUTS = {
    "CoLA": Layout((3, 1), False, ("Matthews correlation",)),
    "MRPC": Layout(
        ("#1 String", "#2 String", "Quality"), True, ("F1", "accuracy"), float
    ),
    "STS-B": Layout(
        ("sentence1", "sentence2", "score"),
        True,
        ("Pearson correlation", "Spearman correlation"),
        regression=True,
    ),
    "RTE": Layout(
        ("sentence1", "sentence2", "label"),
        True,
        ("accuracy",),
        lambda word: {"entailment": 1.0, "not_entailment": 0.0}[word],
    ),
}


def glue(name: str, folder: Path) -> Task:
    """Read a GLUE task; its development set is scored, as test labels are not public.

    Args:
        name: ``CoLA``, ``MRPC``, ``STS-B`` or ``RTE``.
        folder: Holds a folder of that name with ``train.tsv`` and ``dev.tsv``.

    Returns:
        The task.

    Raises:
        CannotRun: A file is missing or laid out otherwise.
    """
    layout = LAYOUTS[name]
    parts = []
    for part in ("train.tsv", "dev.tsv"):
        file = folder / name / part
        if not file.is_file():
            raise CannotRun(f"{file} is missing; {GLUE} names the folder of {name}/")
        try:
            parts.append(tuple(_read(file, layout)))
        except (KeyError, IndexError, ValueError) as error:
            raise CannotRun(f"{file} is not laid out as {name}: {error!r}") from error
    return Task(name, *parts, layout.scores, layout.regression)


def _read(file: Path, layout: Layout) -> list[Example]:
    with file.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    columns: Sequence[int | str] = layout.columns
    if layout.header:
        names = [name.lstrip("\ufeff") for name in rows.pop(0)]
        columns = [names.index(str(column)) for column in columns]
    *texts, label = [int(column) for column in columns]
    return [
        Example(row[texts[0]], row[texts[1]] if len(texts) > 1 else "", value)
        for row in rows
        for value in [layout.label(row[label])]
    ]


def task(name: str, train: int = 0, test: int = 0) -> Task:
    """Find a task by its name.

    Args:
        name: ``kind glosses``, or a GLUE task, read from ``VERIFY_GLUE``.
        train: For the built one the number of examples to learn from.
        test: And to score on.

    Returns:
        The task.

    Raises:
        CannotRun: It is a GLUE task and no folder is named, or what it is built from
            is not installed.
    """
    if name == BUILT:
        return glosses(train, test)
    folder = os.environ.get(GLUE)
    if not folder:
        raise CannotRun(f"{name} is read from a folder that {GLUE} names")
    return glue(name, Path(folder))
