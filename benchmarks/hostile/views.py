"""The campaign on what shows reports: nothing raises, and no text becomes a command."""

import contextlib
import re
from collections import Counter
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree  # ruff: ignore[suspicious-xml-etree-import] - ours

from benchmarks.hostile import mutate
from benchmarks.hostile.readers import UNSEEN, _strict
from benchmarks.hostile.watch import Watch
from verify.record import Report
from verify.report import render, typeset
from verify.report import tex as tex_view

Json = Any
FORMATS = ("html", "md", "tex", "junit", "badge", "json")
COMMAND = re.compile(r"\\(?:[a-zA-Z@]+|.)")
BREAKS = UNSEEN - {"\r"}  # in XML a carriage return is a reference
ACTIVE = {"script", "iframe", "object", "embed", "base", "form", "link", "img", "audio"}
ACTIVE |= {"video", "foreignobject", "animate", "set", "frame", "template"}
ADDRESSES = {"href", "src", "xlink:href", "action", "formaction", "data", "srcset"}
SAFE_ADDRESS = re.compile(r"#[^\s]*|https://arxiv\.org/abs/[\w./%~-]*")


class Elements(HTMLParser):
    """What of a page could run, fetch or send something."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: Counter[str] = Counter()
        self.ids: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Count an element that is active, and attributes that are."""
        if tag in ACTIVE:
            self.found[tag] += 1
        for name, text in attrs:
            address = (text or "").strip()
            if name.startswith("on"):
                self.found[f"{tag} {name}"] += 1
            if name in ADDRESSES and not SAFE_ADDRESS.fullmatch(address):
                self.found[f"{tag} {name}={address[:60]}"] += 1
            if name == "style" and re.search(r"url|expression|import|@", address):
                self.found[f"{tag} style"] += 1
            if name == "http-equiv" and "policy" not in address.lower():
                self.found[f"{tag} {name}"] += 1
            if name == "id":
                self.ids[address] += 1


def active(page: str) -> Counter[str]:
    """What of a page could run, fetch or send something, and ids that occur twice."""
    parser = Elements()
    parser.feed(page)
    parser.close()
    twice = {f"id {name[:60]} twice": n for name, n in parser.ids.items() if n > 1}
    return parser.found + Counter(twice)


class Views:
    """Cases that start from sound reports.

    Args:
        seeds: Sealed reports.
        seed: Of the campaign.
    """

    def __init__(self, seeds: Sequence[Json], seed: int = 0) -> None:
        self.seeds = seeds
        self.seed = seed
        sound = [Report.model_validate(x) for x in seeds]
        self.active = Counter(active(render(sound[0], "html")))
        texts = [render(x, "tex") for x in sound]
        self.commands = {*COMMAND.findall("\n".join(texts))} | _commands()

    def made(self, kind: str, number: int) -> Report:
        """The report of a case."""
        rng = mutate.drawn(self.seed, kind, number)
        data = rng.choice(self.seeds)
        if rng.random() < 0.5:
            data = mutate.text_only(rng, data, rng.choice((0.02, 0.1, 0.5, 1.0)))
        sound = Report.model_validate(data)
        for _ in range(rng.choice((0, 3, 10, 30))):  # most changes leave no report
            with contextlib.suppress(ValueError):
                changed = mutate.changed(rng, data)
                sound, data = Report.model_validate(changed), changed
        return sound

    def view(self, watch: Watch, number: int) -> None:
        """One hostile report through every view."""
        case, report = f"view {number}", self.made("view", number)
        for form in FORMATS:
            text = watch.run(f"{case} {form}", lambda f=form: render(report, f))
            if text is not None:
                self._sound(watch, f"{case} {form}", form, text)

    def _sound(self, watch: Watch, case: str, form: str, text: str) -> None:
        if form not in {"json", "tex"}:
            seen = sorted(BREAKS & {*text})
            watch.need(case, not seen, f"control characters {seen}"[:80])
        if form == "html":
            extra = active(text) - self.active
            watch.need(case, not extra, f"on the page: {dict(extra)}"[:300])
        if form in {"junit", "badge"}:
            watch.run(f"{case} parse", lambda: _parsed(text))
        if form == "json":
            watch.need(case, _strict(text), "no strict JSON")
        if form == "tex":
            for fault in self.tex_faults(text):
                watch.fault(case, fault)

    def tex_faults(self, text: str) -> list[str]:
        """What of a LaTeX file was not meant to be there."""
        faults = [] if text.isascii() else ["no ASCII"]
        extra = {*COMMAND.findall(text)} - self.commands
        faults += [f"commands {sorted(extra)[:6]}"] if extra else []
        body = text.replace("\\\\", "").replace(r"\{", "").replace(r"\}", "")
        faults += [] if body.count("{") == body.count("}") else ["braces"]
        return faults


def _commands() -> set[str]:
    """The commands that stand for characters, and those of the macros."""
    tables = (typeset._SPECIAL, typeset._MATH, typeset._PLAIN)
    known = " ".join(text for table in tables for text in table.values())
    known += " ".join(f"\\{name} \\{name.capitalize()}" for name in typeset._GREEK)
    known += " ".join(f"\\{name}" for name in typeset._OVER.values())
    known += " ".join(f"\\{name}" for name in typeset._ACCENTS.values())
    known += Path(tex_view._MACROS).read_text(encoding="ascii")
    return {*COMMAND.findall(known)}


def _parsed(text: str) -> None:
    ElementTree.fromstring(text)  # ruff: ignore[suspicious-xml-element-tree-usage]
