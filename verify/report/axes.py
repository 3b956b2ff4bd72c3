"""Axes of a figure: scales, ticks, and text whose width can only be estimated."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_NARROW, _WIDE = set("fijlrtI1.,:;|!'()[]/ ‖"), set("mwMW@%—→≤≥∈∞")


@dataclass(frozen=True)
class Scale:
    """A map from values to places on the page.

    Attributes:
        low: Value, or its decimal logarithm, at ``start``.
        high: The same at ``stop``.
        start: Place in user units.
        stop: Place in user units.
        log: Whether values are logarithmised.
    """

    low: float
    high: float
    start: float
    stop: float
    log: bool

    def at(self, value: float) -> float:
        """The place of a value."""
        share = (_level(value, self.log) - self.low) / (self.high - self.low)
        return self.start + share * (self.stop - self.start)

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Values to label, with their labels.

        Args:
            most: Largest number of labels that fit.

        Returns:
            Pairs of a value and its label, in order.
        """
        if not self.log:
            return _evenly(self.low, self.high, most)
        first, last = math.ceil(self.low - 1e-9), math.floor(self.high + 1e-9)
        if last - first >= 2:
            step = math.ceil((last - first + 1) / most)
            start = first + -first % step  # multiples of the step, so that 1 is one
            return [(10.0**k, number(10.0**k)) for k in range(start, last + 1, step)]
        fine = [
            m * 10.0**k
            for k in range(first - 1, last + 1)
            for m in (1, 2, 5)
            if self.low - 1e-9 <= math.log10(m * 10.0**k) <= self.high + 1e-9
        ]
        if len(fine) >= 3:
            return [(value, number(value)) for value in fine]
        return _evenly(10.0**self.low, 10.0**self.high, most)


def scale(
    values: Iterable[float], start: float, stop: float, *, log: bool, margin: float
) -> Scale:
    """A scale that holds all values.

    Args:
        values: Finite, and positive on a logarithmic scale.
        start: Place of its lower end.
        stop: Place of its upper end.
        log: Whether it is logarithmic.
        margin: Share of the range to leave free on both sides.

    Returns:
        The scale; from 0 to 1, or 1 to 10, where there is nothing to hold.

    Raises:
        OverflowError: The range of the values is no float.
    """
    levels = [_level(value, log) for value in values] or [0.0, 1.0]
    low, high = min(levels), max(levels)
    # One value alone: some room around it. Less than rounding leaves visible: likewise.
    least = 0.1 if log else 1e-9 * max(abs(low), abs(high)) or 1.0
    if high - low < least:
        low, high = low - least / 2, high + least / 2
    spare = margin * (high - low)
    if not math.isfinite(high - low + 2 * spare):
        raise OverflowError(f"values from {low:g} to {high:g} span more than a float")
    return Scale(low - spare, high + spare, start, stop, log)


def _level(value: float, log: bool) -> float:
    return math.log10(value) if log else value


def _evenly(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Multiples of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    values = [k * step for k in range(first, last + 1)]
    largest = max(map(abs, values), default=0.0)
    if largest >= 1e5 or (values and step < 1e-4 and largest < 1e-2):
        return [(value, number(value)) for value in values]
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return [(v, f"{v:.{decimals}f}".replace("-", "−")) for v in values]


def number(value: float) -> str:
    """A number in few characters, powers of ten as such.

    Args:
        value: Any finite number.

    Returns:
        Four digits of it: ``0.02``, ``12340``, ``10⁻⁷`` or ``5·10⁸``.
    """
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{float(f'{value:.4g}'):.9g}".replace("-", "−")
    digits, power = f"{value:.3e}".split("e")
    digits = digits.rstrip("0").rstrip(".").replace("-", "−")
    raised = f"10{str(int(power)).translate(_RAISED)}"
    return raised if digits == "1" else f"{digits}·{raised}"


def width(text: str, size: float) -> float:
    """Estimate how wide a text is in whatever sans-serif the reader has.

    Args:
        text: One line.
        size: Of the font.

    Returns:
        A width that is rather too large.
    """
    ems = sum(
        0.38 if c in _NARROW else 0.95 if c in _WIDE else 0.72 if c.isupper() else 0.62
        for c in text
    )
    return ems * size


MAX_TEXT = 1000  # characters of a label; nobody reads more beside a figure


def wrap(text: str, size: float, room: float) -> list[str]:
    """Break a text between words, and a word that is too long anywhere.

    Args:
        text: What to break.
        size: Of the font.
        room: Width that a line may have.

    Returns:
        The lines; none for an empty text.
    """
    lines: list[str] = []
    if len(text) > MAX_TEXT:
        text = f"{text[:MAX_TEXT]} …"
    for given in text.split():
        word = given
        if lines and width(f"{lines[-1]} {word}", size) <= room:
            lines[-1] += f" {word}"
            continue
        while width(word, size) > room:
            fits = 1
            while width(word[: fits + 1], size) <= room:
                fits += 1
            lines.append(word[:fits])
            word = word[fits:]
        if word:
            lines.append(word)
    return lines


def plain(text: str) -> str:
    """Escape a text for XML, which knows no control characters at all."""
    return escape("".join(c if c.isprintable() else "\ufffd" for c in text))
