r"""Text that LaTeX typesets as it is: nothing in it is a command.

Every character becomes ASCII: itself, a command, or ``?``. What is set needs no
package, in any of pdflatex, xelatex and lualatex.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

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
    "≻": r"\succ", "≽": r"\succeq", "⊙": r"\odot", "⊗": r"\otimes", "⊕": r"\oplus",
}  # fmt: skip
_PLAIN = {
    "“": "``", "”": "''", "‘": "`", "’": "'", "–": "--", "—": "---", "…": r"\dots{}",
    "ß": r"\ss{}", "ø": r"\o{}", "Ø": r"\O{}", "ł": r"\l{}", "æ": r"\ae{}",
}  # fmt: skip
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0308": '"',
    "\u030a": "r", "\u030c": "v", "\u0327": "c", "\u0304": "=",
}  # fmt: skip
_OVER = {
    "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "bar",
    "\u0307": "dot", "\u0308": "ddot", "\u20d7": "vec",
}  # fmt: skip
_GREEK = {
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota",
    "kappa", "lambda", "mu", "nu", "xi", "o", "pi", "rho", "sigma", "tau", "upsilon",
    "phi", "chi", "psi", "omega",
}  # fmt: skip
_LATIN_CAPITALS = {
    "alpha": "A", "beta": "B", "epsilon": "E", "zeta": "Z", "eta": "H", "iota": "I",
    "kappa": "K", "mu": "M", "nu": "N", "o": "O", "rho": "P", "tau": "T", "chi": "X",
}  # fmt: skip

# x^2, x^{d-1}, e^(1/3), W_F, A_qq: marks on something short. A name such as
# holds_along_paths has more than one letter before its underscore and is left alone.
_MARK = re.compile(
    r"""(?<=[\w)\]}])\^(?:
        \{(?P<up>[^{}^]{1,24})\}|\((?P<round>[^()^]{1,24})\)|(?P<power>[-−]?\w{1,4})(?![\w^]))
    |(?<!\w)(?P<base>[^\W\d_])_(?:\{(?P<down>[^{}^_]{1,12})\}|(?P<index>\w{1,3}?)(?!\w))
    """,
    re.VERBOSE,
)
_BREAK = r"\allowbreak{}"
_AFTER = frozenset("/_.,;:=+*)(]−·^@-|")
_FEW = 8  # characters after which a line may end at a sign
HANG = 20  # after which it may end anywhere: longer words of English are rare


def escaped(text: str) -> str:
    r"""Text that LaTeX typesets as it is.

    Args:
        text: Any text.

    Returns:
        ASCII in one line.

    >>> print(escaped("50% of a_b ≤ Λ̂"))
    50\% of a\_b \ensuremath{\leq} \ensuremath{\hat{\Lambda}}
    """
    return "".join(map(_cluster, _clusters(text)))


def flowing(text: str, *, hang: int = HANG) -> str:
    """The same for narrow columns: marks set as marks, long words may be broken.

    Args:
        text: Any text.
        hang: No more characters than these hang together.

    Returns:
        ASCII in one line.
    """
    parts, at, marks = [], 0, 0
    text = _one_line(text)
    for match in _MARK.finditer(text):
        if mark := _mark(match):
            between = text[at : match.start()]
            marks = 0 if " " in between else marks + 1
            parts += [_broken(between, hang), mark, _BREAK if marks > 2 else ""]
            at = match.end()
    return "".join([*parts, _broken(text[at:], hang)])


def typewriter(text: str) -> str:
    r"""Text in typewriter that can be copied out of the page as it was.

    Args:
        text: A command or an id.

    Returns:
        ASCII in one line; every character is the one at its place in the font, where
        ``\_`` would draw a rule.
    """
    parts, since = [], 0
    for character in _one_line(text):
        parts.append(_letter(character))
        since = 0 if character == " " else since + 1
        if character in "/@" or since >= HANG:
            parts.append(r"\claimbreak{}")
            since = 0
    return "".join(parts)


def _letter(character: str) -> str:
    if character == "'":
        return r"\claimquote{}"
    if character == "-":
        return "{-}"
    if character in _SPECIAL:
        return rf"\char{ord(character)}{{}}"
    return _cluster(character)


def _one_line(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(text.split()))


def _clusters(text: str) -> Iterator[str]:
    """Characters with the marks that combine with them."""
    held = ""
    for character in _one_line(text):
        if held and unicodedata.combining(character):
            held += character
            continue
        if held:
            yield held
        held = character
    if held:
        yield held


def _cluster(cluster: str) -> str:
    base, marks = cluster[0], cluster[1:]
    body = _in_math(base) if marks else None
    if body is None or not all(mark in _OVER for mark in marks):
        return "".join(map(_character, cluster))
    for mark in marks:
        body = rf"\{_OVER[mark]}{{{body}}}"
    return rf"\ensuremath{{{body}}}"


def _in_math(text: str) -> str | None:
    """Text within a formula; None if something in it has no place there."""
    parts = [""]
    for before, character in pairwise(" " + text):
        if character == "_" and before.isalnum() and parts[-1][:1] != "_":
            continue
        lead = "_" if before == "_" else ""
        piece = _symbol(character)
        if piece is None or (lead and not character.isalnum()):
            return None
        parts.append(f"{lead}{{{piece}}}" if lead or piece[0] in "^_'" else piece)
    return None if text.endswith("_") else "".join(parts).rstrip()


def _symbol(character: str) -> str | None:
    """A character within a formula; None if it has no place there."""
    if character.isascii():
        fits = character.isalnum() or character in "+-/()=,.*' "
        return character if fits else None
    piece = _character(character)
    if not piece.startswith(r"\ensuremath{"):
        return None
    return piece.removeprefix(r"\ensuremath{").removesuffix("}") + " "


def _mark(match: re.Match[str]) -> str:
    """A superscript or subscript; empty where it cannot be set."""
    up, down = (
        match["up"] or match["round"] or match["power"],
        match["down"] or match["index"],
    )
    if up:
        body = _in_math(up)
        return rf"\ensuremath{{^{{{body}}}}}" if body else ""
    body = _in_math(down)
    return rf"{_cluster(match['base'])}\ensuremath{{_{{{body}}}}}" if body else ""


def _broken(text: str, hang: int) -> str:
    parts, since = [], 0
    inner = text.strip()
    for cluster in _clusters(inner):
        parts.append(_cluster(cluster))
        since = 0 if cluster == " " else since + 1
        if since >= hang or (since >= _FEW and cluster in _AFTER):
            parts.append(_BREAK)
            since = 0
    lead = " " if text[:1] == " " else ""
    return lead + "".join(parts) + (" " if inner and text[-1] == " " else "")


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
    if "⁄" in parts:  # ½ after a 2 must not become 21/2
        above, _, below = parts.partition("⁄")
        whole = (above + below).isascii() and (above + below).isdigit()
        return rf"\ensuremath{{{{}}^{{{above}}}/_{{{below}}}}}" if whole else "?"
    if parts != character and not any(map(unicodedata.combining, parts)):
        return "".join(map(_character, parts))
    return "?"


def _greek(name: str, *, capital: bool) -> str:
    name = {"lamda": "lambda", "omicron": "o"}.get(name, name)
    if name not in _GREEK:
        return "?"
    body = "o" if name == "o" else rf"\{name}"
    if capital:
        body = _LATIN_CAPITALS.get(name, rf"\{name.capitalize()}")
    return rf"\ensuremath{{{body}}}"
