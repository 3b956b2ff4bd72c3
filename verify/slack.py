"""Slack of bounds: how close instances come, as an empirical distribution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from verify.outcome import Figure, Series

MOST = 101  # steps drawn of one distribution: the extremes and 99 ranks between them
LEAST = 1e-9  # ratios below are drawn here, so that zeros fit on a logarithmic axis
FAR = 0.05  # a logarithmic axis where the median of a distribution is below


def slack(ratios: Mapping[str, Iterable[float]], *, title: str = "") -> Figure:
    """Draw the distributions of observed over bound.

    Args:
        ratios: By bound; at most 1 where the bound holds. Those of lower bounds are
            bound over observed.
        title: What is bounded.

    Returns:
        A figure named ``slack``, with a mark at 1.

    >>> figure = slack({"norm": [0.5, 1.0]})
    >>> figure.series[0].x, figure.series[0].y
    ([0.5, 0.5, 1.0], [0.0, 0.5, 1.0])
    """
    found = {
        says: sorted(max(LEAST, float(x)) for x in xs) for says, xs in ratios.items()
    }
    found = {says: xs for says, xs in found.items() if xs}
    last = max([1.0, *(xs[-1] for xs in found.values())])
    series = tuple(_steps(says, xs, last) for says, xs in found.items())
    return _drawn(title, series, log=any(map(_is_tiny, found.values())))


def together(figures: Iterable[Figure]) -> tuple[Figure, ...]:
    """Draw distributions that were found one by one in one figure.

    Args:
        figures: Of :func:`slack`, and others.

    Returns:
        One figure of all distributions, before the others as they are.
    """
    given = tuple(figures)
    slacks = [one for one in given if one.name == "slack" and one.series]
    if not slacks:
        return given
    series = tuple(one for figure in slacks for one in figure.series)
    log = any(figure.x_log for figure in slacks)
    joined = _drawn(slacks[0].title, series, log=log)
    return (joined, *(one for one in given if one.name != "slack"))


def _drawn(title: str, series: tuple[Series, ...], *, log: bool) -> Figure:
    hidden = log and any(one.x[0] <= LEAST for one in series)
    return Figure(
        name="slack",
        title=title or "Slack of the bounds",
        x_label="observed / bound (lower bounds: bound / observed)",
        y_label="share of instances",
        series=series,
        x_log=log,
        marks={"attained": 1.0},
        caption=(
            "Share of the instances at which the ratio is at most this large. Where a "
            "curve rises close to 1 the bound is nearly attained."
            + (" Ratios below 10⁻⁹, zeros among them, are drawn there." * hidden)
        ),
    )


def _is_tiny(ratios: list[float]) -> bool:
    """Whether most ratios that are not 0 would be next to 0 on a linear axis."""
    shown = [x for x in ratios if x > LEAST]
    return not shown or shown[len(shown) // 2] < FAR


def _steps(says: str, ratios: list[float], last: float) -> Series:
    """The empirical distribution function at evenly spaced ranks."""
    n = len(ratios)
    ranks: Iterable[int] = range(n)
    if n > MOST:
        ranks = sorted({round(k * (n - 1) / (MOST - 1)) for k in range(MOST)})
    x = [ratios[0], *(ratios[k] for k in ranks)]
    y = [0.0, *((k + 1) / n for k in ranks)]
    if last > x[-1]:
        x, y = [*x, last], [*y, 1.0]
    noun = "instance" if n == 1 else "instances"
    return Series(f"{says}, {n} {noun}", x, y, style="steps")
