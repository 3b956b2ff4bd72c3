r"""``claims.tex``: macros for a paper's own text, and an appendix table.

Needs nothing but ``\usepackage{booktabs}`` and plain pdflatex.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from verify.record import ClaimRecord, Report
from verify.report.words import WORDS, ordered, run_line

_ROWS = 30  # per tabular: a page
_SAFE_ID = re.compile(r"[A-Za-z0-9/.@_-]+")
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&",
    "%": r"\%", "#": r"\#", "_": r"\_", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}", "<": r"\ensuremath{<}", ">": r"\ensuremath{>}",
    "|": r"\ensuremath{|}", '"': r"\char34{}", "`": r"\char96{}", "'": r"\char39{}",
    "-": "{-}",
}  # fmt: skip
_MATH = {
    "≤": r"\leq", "≥": r"\geq", "≠": r"\neq", "≈": r"\approx", "≡": r"\equiv",
    "×": r"\times", "·": r"\cdot", "−": "-", "±": r"\pm", "→": r"\to", "∞": r"\infty",
    "∈": r"\in", "∉": r"\notin", "⊂": r"\subset", "⊆": r"\subseteq", "∪": r"\cup",
    "∩": r"\cap", "∀": r"\forall", "∃": r"\exists", "∑": r"\sum", "∏": r"\prod",
    "∇": r"\nabla", "∂": r"\partial", "√": r"\surd", "‖": r"\|", "⊤": r"\top",
    "⊥": r"\perp", "ᵀ": r"^{T}", "⟨": r"\langle", "⟩": r"\rangle", "∘": r"\circ",
    "⇒": r"\Rightarrow", "⇔": r"\Leftrightarrow", "∧": r"\wedge", "∨": r"\vee",
    "∝": r"\propto", "ℓ": r"\ell", "′": "'", "∥": r"\|", "∼": r"\sim", "≪": r"\ll",
    "≫": r"\gg", "∫": r"\int", "∅": r"\emptyset", "∖": r"\setminus", "⁻": "^{-}",
}  # fmt: skip
_PLAIN = {
    "“": "``", "”": "''", "‘": "`", "’": "'", "–": "--", "—": "---", "…": r"\dots{}",
    "ß": r"\ss{}", "ø": r"\o{}", "Ø": r"\O{}", "ł": r"\l{}", "æ": r"\ae{}",
}  # fmt: skip
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0308": '"',
    "\u030a": "r", "\u030c": "v", "\u0327": "c", "\u0304": "=",
}  # fmt: skip
_LATIN_CAPITALS = {
    "alpha": "A", "beta": "B", "epsilon": "E", "zeta": "Z", "eta": "H", "iota": "I",
    "kappa": "K", "mu": "M", "nu": "N", "o": "O", "rho": "P", "tau": "T", "chi": "X",
}  # fmt: skip
_MACROS = r"""
\newcommand{\claimdefine}[3]{\expandafter\gdef\csname claim:#1:#2\endcsname{#3}}
\newcommand{\claimlookup}[2]{%
  \ifcsname claim:#1:#2\endcsname\csname claim:#1:#2\endcsname\else\textbf{??}\fi}
\newcommand{\claimverdict}[1]{\claimlookup{verdict}{#1}}
\newcommand{\claimgrade}[1]{\claimlookup{grade}{#1}}
\newcommand{\claimscope}[1]{\claimlookup{scope}{#1}}
"""


def escaped(text: str) -> str:
    """Text that LaTeX typesets as it is: nothing in it is a command."""
    return "".join(
        map(_character, unicodedata.normalize("NFC", " ".join(text.split())))
    )


def _character(character: str) -> str:
    if character in _SPECIAL or character in _PLAIN:
        return _SPECIAL.get(character) or _PLAIN[character]
    if " " <= character <= "~":
        return character
    if character in _MATH:
        return rf"\ensuremath{{{_MATH[character]}}}"
    name = unicodedata.name(character, "")
    if match := re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER ([A-Z]+)", name):
        return _greek(match[2].lower(), capital=match[1] == "CAPITAL")
    parts = unicodedata.normalize("NFKD", character)
    if name.startswith(("SUPERSCRIPT", "SUBSCRIPT")) and parts.isascii():
        mark = "^" if name.startswith("SUPER") else "_"
        return rf"\ensuremath{{{mark}{{{parts}}}}}" if parts.isalnum() else "?"
    if len(parts) == 2 and parts[0].isalpha() and parts[1] in _ACCENTS:
        return rf"\{_ACCENTS[parts[1]]}{{{parts[0]}}}" if parts[0].isascii() else "?"
    if len(parts) == 1 and parts != character:
        return _character(parts)
    return parts if parts.isascii() and parts.isalnum() else "?"


def _greek(name: str, *, capital: bool) -> str:
    name = {"lamda": "lambda", "omicron": "o"}.get(name, name)
    body = "o" if name == "o" else rf"\{name}"
    if capital:
        body = _LATIN_CAPITALS.get(name, rf"\{name.capitalize()}")
    return rf"\ensuremath{{{body}}}"


def to_tex(report: Report) -> str:
    r"""The verdicts of a run as LaTeX macros and ``\claimstable``.

    Args:
        report: The record.

    Returns:
        A file to ``\input``; every text of the record is escaped.
    """
    claims = [claim for _, claim in ordered(report.claims)]
    lines = [r"% Made by `verify report --format tex`; needs \usepackage{booktabs}."]
    lines.append(_MACROS.strip())
    for claim in claims:
        if _SAFE_ID.fullmatch(claim.id):
            lines += list(_definitions(claim))
    tables = [_table(claims[i : i + _ROWS]) for i in range(0, len(claims), _ROWS)]
    body = "\n\\par\\medskip\n".join(tables) or "No claims."
    caption = rf"{{\noindent\small {escaped(run_line(report))}\par}}\medskip"
    lines.append(f"\\newcommand{{\\claimstable}}{{%\n{caption}\n{body}%\n}}")
    return "\n".join(lines) + "\n"


def _definitions(claim: ClaimRecord) -> Iterator[str]:
    values = {
        "verdict": WORDS[claim.verdict],
        "grade": claim.grade or "none",
        "scope": claim.scope or "none",
    }
    for field, value in values.items():
        yield rf"\claimdefine{{{field}}}{{{claim.id}}}{{{escaped(value)}}}"


def _table(claims: list[ClaimRecord]) -> str:
    rows = "\n\\addlinespace\n".join(_row(claim) for claim in claims)
    return (
        "{\\noindent\\footnotesize\\raggedright\\setlength{\\tabcolsep}{4pt}%\n"
        "\\begin{tabular}{@{}p{.46\\linewidth}p{.17\\linewidth}p{.11\\linewidth}"
        "p{.18\\linewidth}@{}}\n\\toprule\n"
        "Claim & Verdict & Grade & Scope \\\\\n\\midrule\n"
        f"{rows}\n\\bottomrule\n\\end{{tabular}}\\par}}"
    )


def _row(claim: ClaimRecord) -> str:
    name = re.sub(r"([/@.]|\{-\})", r"\1\\allowbreak{}", escaped(claim.id))
    cells = [
        rf"\texttt{{{name}}}\newline {escaped(claim.title)}",
        WORDS[claim.verdict] + (f" ({claim.fault.value})" if claim.fault else ""),
        escaped(claim.grade or "—"),
        escaped(claim.scope or "—"),
    ]
    return " & ".join(rf"\raggedright {cell}" for cell in cells) + r"\tabularnewline"
