"""Hostile claims.tex through pdflatex: it compiles, and reads nothing of others."""

import shutil
import subprocess
from pathlib import Path

from benchmarks.hostile.views import Views
from benchmarks.hostile.watch import Watch
from verify.report import render

DOCUMENT = r"""\documentclass{article}
\usepackage{booktabs}
\input{claims}
\begin{document}
\claimstable

\claimsartefact
\end{document}
"""
SECONDS = 120


def available() -> bool:
    """Whether there is a pdflatex."""
    return shutil.which("pdflatex") is not None


def latex(views: Views, watch: Watch, number: int, folder: Path) -> None:
    """Typeset the LaTeX of one hostile report.

    Args:
        views: Where the report comes from.
        watch: Counts.
        number: Of the case.
        folder: For the document.
    """
    case = f"latex {number}"
    text = watch.run(case, lambda: render(views.made("latex", number), "tex"))
    if text is None:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "claims.tex").write_text(text, encoding="ascii")
    (folder / "paper.tex").write_text(DOCUMENT, encoding="ascii")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-recorder"]
    try:
        done = subprocess.run(
            [*command, "-no-shell-escape", "paper.tex"],
            cwd=folder, capture_output=True, timeout=SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        watch.fault(case, "pdflatex does not end")
        return
    log = done.stdout.decode("latin-1")
    errors = [line for line in log.splitlines() if line.startswith("!")]
    watch.need(case, done.returncode == 0, f"pdflatex: {errors[:1]}")
    recorded = (folder / "paper.fls").read_text(encoding="latin-1").splitlines()
    inputs = {line.removeprefix("INPUT ") for line in recorded if line[:6] == "INPUT "}
    foreign = [
        x for x in inputs if "passwd" in x or "/etc/" in x.replace("/etc/tex", "")
    ]
    watch.need(case, not foreign, f"LaTeX read {foreign}")
