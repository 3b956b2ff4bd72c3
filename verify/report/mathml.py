"""LaTeX to MathML, for pages that need neither scripts nor a network."""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from xml.etree.ElementTree import (  # ruff: ignore[suspicious-xml-etree-import] - only writes
    Element,
    tostring,
)

from latex2mathml.converter import Converter

_TAGS = {
    "math", "mrow", "mi", "mo", "mn", "mtext", "mspace", "mfrac", "msqrt", "mroot",
    "msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts",
    "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom", "menclose",
}  # fmt: skip
_ATTRIBUTES = {
    "xmlns", "display", "alttext", "stretchy", "fence", "form", "separator", "accent",
    "movablelimits", "linethickness", "mathvariant", "columnalign", "rowspacing",
    "columnspacing", "width", "height", "depth", "lspace", "rspace", "minsize",
    "maxsize", "displaystyle", "scriptlevel", "notation",
}  # fmt: skip
_CHILDREN = {
    "mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2,
    "msubsup": 3, "munderover": 3,
}  # fmt: skip


MAX_LENGTH = 20_000  # characters; converting takes a time that grows with the square


@lru_cache(maxsize=4096)
def mathml(latex: str, *, block: bool = False) -> str | None:
    """Convert LaTeX to MathML.

    The converter drops what it cannot read and escapes nothing, so its tree is checked
    and written out here: only known elements and attributes pass.

    Args:
        latex: Mathematics without delimiters.
        block: Whether to display it on a line of its own.

    Returns:
        A ``<math>`` element, or ``None`` where the LaTeX is not understood.
    """
    if len(latex) > MAX_LENGTH:
        return None
    try:
        tree = Converter(display="block" if block else "inline").convert_to_element(
            latex
        )
        if not _clean(tree):
            return None
    except Exception:  # ruff: ignore[blind-except] - the LaTeX is shown
        return None
    _slim(tree)
    if block:
        tree.set("alttext", latex)
    return tostring(tree, encoding="unicode")


def _slim(element: Element) -> None:
    """Leave out what a browser takes for granted: thousands of formulas fit a page.

    A row with one child means the child, an element inside an HTML page needs no
    namespace, brackets are fences that stretch and have one form each.
    """
    usual = {"xmlns": element.get("xmlns"), "display": "inline"}
    if element.tag == "mo" and element.text in {*"()[]{}"}:
        usual |= {"fence": "true", "form": element.get("form")}
        usual |= {"stretchy": "true"}
    for name in [n for n, value in usual.items() if element.get(n) == value]:
        element.attrib.pop(name, None)
    for place, child in enumerate(list(element)):
        _slim(child)
        lone = child.tag == "mrow" and len(child) == 1 and not child.attrib
        if lone or (
            element.tag == "math" and len(element) == 1 and child.tag == "mrow"
        ):
            element[place : place + 1] = list(child)


def _clean(element: Element) -> bool:
    """Tidy a tree in place; say whether it is complete."""
    # The converter leaves escapes inside \text as they are.
    text = re.sub(r"\\([&%_#${}])", r"\1", unescape(element.text or ""))
    if element.tag not in _TAGS or "\\" in text or unescape(element.tail or "").strip():
        return False
    if len(element) != _CHILDREN.get(element.tag, len(element)):
        return False
    element.text = text
    for name in element.attrib.keys() - _ATTRIBUTES:
        del element.attrib[name]
    return all(_clean(child) for child in element)
