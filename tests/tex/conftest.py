"""A report with many claims, and a document that shows it."""

import re
import shutil
import subprocess
from dataclasses import dataclass

import pytest

from verify.record import (
    CheckRecord,
    ClaimRecord,
    Counts,
    ErrorBudget,
    FindingRecord,
    PaperRecord,
    Report,
    RunRecord,
)
from verify.report.tex import to_tex
from verify.verdict import Grade, Kind, Verdict

WITNESS = {
    "kind": "formula",
    "says": "left side above the right one",
    "inputs": {"A": [["2", "-1"], ["1/3", "0x1.8p+1"]], "b": "-25000000/3"},
    "relation": [">", ["pow", ["in", "b"], 2], ["entry", ["in", "A"], 0, 1]],
}


def a_claim(name, **fields):
    verdict = fields.get("verdict", Verdict.HOLDS)
    check = CheckRecord(
        claim=name,
        name="search",
        node="theorems/x.py::search",
        grade=Grade.SYMBOLIC,
        scope="all",
        verdict=verdict,
        seconds=14.0,
        witness=WITNESS if verdict is Verdict.REFUTED else None,
    )
    base = {
        "id": name,
        "paper": name.partition("/")[0],
        "kind": Kind.THEOREM,
        "wording": "printed",
        "reading": name.partition("@")[2],
        "title": "softmax attention equals one gradient step",
        "statement_text": "The output of attention is that of the dual model.",
        "statement_latex": "x = y",
        "quantifiers": "every N",
        "source": "Theorem 3.1 (Eq. (7), proof in Appendix B)",
        "parameters": {},
        "assumptions": [],
        "finding": FindingRecord(verdict=verdict),
        "nearest": "",
        "weaker": "",
        "module": "theorems/x.py",
        "verdict": verdict,
        "fault": None,
        "differs": "",
        "grade": Grade.SYMBOLIC,
        "scope": "all",
        "cause": None,
        "reason": "",
        "command": f"verify run '{name}' --profile default --seed 0",
        "checks": [check],
        "mutants": [],
        "anchors": [],
        "variants": [],
        "necessity": [],
        "tightness": [],
    }
    return ClaimRecord(**{**base, **fields})


def a_report(claims):
    run = RunRecord(
        id="20250101-120000-ab12",
        started="2025-01-01T12:00:00+00:00",
        seconds=349.2,
        profile="default",
        partial=False,
        seed=0,
        device="cpu",
        jobs=2,
        command="verify run --out /home/annabelle/x",
        exit_code=0,
        red=[],
        crashes=[],
    )
    papers = [
        PaperRecord(
            key=key,
            title="Towards Understanding How Transformers Learn",
            authors="Ruifeng Ren and Yong Liu",
            venue="NeurIPS 2024",
            arxiv="2310.13220",
            counts=Counts(holds=1),
        )
        for key in dict.fromkeys(claim.paper for claim in claims)
    ]
    return Report(
        verdict_digest="",
        result_digest="",
        run=run,
        provenance={"commit": "0123abc", "python": "3.11.7", "processor": "AMD EPYC"},
        error_budget=ErrorBudget(spent=0.0, lines=[], says=""),
        papers=papers,
        claims=list(claims),
    )


@pytest.fixture
def claim():
    """Make a claim."""
    return a_claim


@pytest.fixture
def document(tmp_path):
    """Set a document that reads the claims; the fixture is the function."""

    def typeset(claims, body, preamble=r"\documentclass{article}\usepackage{booktabs}"):
        view = to_tex(a_report(claims))
        (tmp_path / "claims.tex").write_text(view, encoding="ascii")
        return compiled(tmp_path, body, preamble)

    return typeset


@pytest.fixture
def folder_set():
    """Set a document beside a ``claims.tex`` that is there; the function."""
    return compiled


@dataclass
class Document:
    """What came of a document.

    ``text`` is the text of its pages as it is seen, ``solid`` in the order in which it
    was written, cell by cell, without spaces.
    """

    log: str
    text: str
    solid: str
    pages: int

    @property
    def overfull(self):
        """Boxes that stick out by more than a point (a third of a millimetre)."""
        found = re.findall(r"Overfull \\[hv]box \(([\d.]+)pt", self.log)
        return [float(excess) for excess in found if float(excess) > 1]


def compiled(folder, body, preamble):
    head = f"{preamble}\n\\input{{claims}}\n\\begin{{document}}"
    source = f"{head}\n{body}\n\\end{{document}}\n"
    (folder / "paper.tex").write_text(source, encoding="utf-8")
    for tool in ("pdflatex", "pdftotext"):
        assert shutil.which(tool), f"no {tool} on the PATH; install it to run this test"
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    for _ in range(2):  # the second for the table of contents
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            check=False,
            env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "max_print_line": "999"},
        )
        log = done.stdout.decode("latin-1")
        assert done.returncode == 0, log[-3000:]
    pages = re.search(r"\((\d+) pages?,", log)
    seen, written = (_text(folder, order) for order in ("-layout", "-raw"))
    return Document(log, seen, re.sub(r"\s", "", written), int(pages[1]))


def _text(folder, order):
    command = ["pdftotext", order, "paper.pdf", "-"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=True)
    return done.stdout.decode()
