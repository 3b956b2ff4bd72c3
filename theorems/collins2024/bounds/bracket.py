"""How far the minimiser is from its limit law at finite Lambda, enclosed in balls.

The bounds of ``estimator``, with Bessel functions in place of closed formulas:

    L(w) >= signal(w'') + nV(w')/Lambda for w' <= w <= w'', as d_k falls and V rises,
    L(omega) <= the bounds with delta² = 2 TAIL R/n, at any omega,

so a scale whose lower bound exceeds the upper bound at omega is no minimiser. The
search starts on either side where one term suffices, and walks towards omega in steps
that shrink with the gap. The ends are doubles; every comparison is between balls.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

from theorems.collins2024.bounds import limit
from theorems.collins2024.bounds.notation import d
from theorems.collins2024.bounds.scale import AFFINE, Law
from verify import Undecided

if TYPE_CHECKING:
    from flint import arb

BITS = 128
TAIL = 80  # n e^-TAIL is far below all else
REACH = 3  # even degrees up to REACH sqrt(w) are written out: 1 - d_k is about e^-4.5
LONG, SHORT = 0.5, 2.0**-14  # steps of log w: the first, and the last
FAR = 20.0  # the search is given up at e^±FAR omega


class Setting(NamedTuple):
    """One problem, L = 1.

    Attributes:
        law: The class of tasks.
        size: d.
        ratio: Lambda.
        tokens: n.
        middle: Omega. The closer to the minimiser, the closer the bracket.
    """

    law: Law
    size: int
    ratio: int
    tokens: int
    middle: float


class Token(NamedTuple):
    """One token at one scale, in balls: A(w), R(w), and d_k by degree."""

    mass: arb
    ratio: arb
    drops: list[arb]


@functools.cache
def law_at(law: Law, size: int, ratio: int) -> float:
    """The limit law at a finite Lambda."""
    constant, power = limit.kappa(law).subs(d, size), law.order.subs(d, size)
    return float(constant * ratio**power)


def setting(law: Law, size: int, ratio: int, tokens: int) -> Setting:
    """A problem with omega where its bound is least, by golden sections in log w."""
    start = law_at(law, size, ratio)
    low, high, golden = -0.5, 0.5, (math.sqrt(5) - 1) / 2

    def bound(by: float) -> float:
        here = Setting(law, size, ratio, tokens, start)
        return float(upper(here, start * math.exp(by)).mid())

    for _ in range(10):
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if bound(left) < bound(right) else (left, high)
    return Setting(law, size, ratio, tokens, start * math.exp((low + high) / 2))


@functools.cache
def degrees(law: Law, middle: float) -> tuple[int, ...]:
    """The degrees written out."""
    if law is AFFINE:
        return (1,)
    return (1, *range(2, int(REACH * middle**0.5) + 3, 2))


@functools.cache
def shares(law: Law, size: int, middle: float) -> tuple[list[arb], arb]:
    """Weights of E_k at the degrees written out, and of all others together."""
    from flint import arb

    if law is AFFINE:
        return [1 / arb(3 * size)], arb(0)
    m, dim = (arb(size) - 1) / 2, arb(size)
    constant = (dim / 2).gamma() / (2 * arb.pi())  # c_d Γ(m)/(2√π), harmonics

    def weight(degree: int) -> arb:
        p = arb(degree) / 2
        coefficient = constant * (p - arb(0.5)).gamma() / (p + m + 1).gamma()
        count = (2 * degree + dim - 2) * (degree + dim - 2).gamma()
        return coefficient**2 * count / (dim - 1).gamma() / arb(degree + 1).gamma()

    even = [weight(degree) for degree in degrees(law, middle)[1:]]
    first = (dim / 2).gamma() / (arb.pi().sqrt() * (m + 1).gamma())  # λ_0
    rest = 1 / dim - first**2 - sum(even, arb(0))
    return [1 / (6 * dim), *(b / 6 for b in even)], rest / 6


def token(setting: Setting, w: float) -> Token:
    """A(w), R(w) and d_k(w)."""
    from flint import arb

    nu, scale = arb(setting.size) / 2 - 1, arb(w)

    def mass(x: arb) -> arb:
        scaled = x.bessel_i(nu, scaled=True)
        return (nu + 1).gamma() * (2 / x) ** nu * scaled

    here, base = mass(scale), scale.bessel_i(nu, scaled=True)
    drops = [
        1 - scale.bessel_i(nu + degree, scaled=True) / base
        for degree in degrees(setting.law, setting.middle)
    ]
    return Token(here, mass(2 * scale) / here**2, drops)


def upper(setting: Setting, w: float) -> arb:
    """A bound on the loss at a scale, from above."""
    from flint import arb

    here = token(setting, w)
    sampled = here.ratio / setting.tokens
    delta = (2 * TAIL * sampled).sqrt()
    tail = arb(-TAIL).exp()
    if not delta < 1:
        raise Undecided(f"n = {setting.tokens} is too small for the tail bound")
    keep = (1 - delta) ** 2
    weights, rest = shares(setting.law, setting.size, setting.middle)
    # d_k(2w) <= d_k(w), and d_k <= 1 at the degrees that are not written out
    terms = [(x**2 + 2 * sampled * x) / keep + 5 * tail for x in here.drops]
    beyond = (1 + 2 * sampled) / keep + 5 * tail
    signal = sum((b * x for b, x in zip(weights, terms, strict=True)), rest * beyond)
    noise = here.ratio / keep + setting.tokens * tail
    return signal + noise / setting.ratio


def signal(setting: Setting, here: Token) -> arb:
    """Bias² at least, here and at every smaller scale."""
    shrink = (1 + 1 / (setting.tokens * here.mass)) ** -2
    weights, rest = shares(setting.law, setting.size, setting.middle)
    first, *others = (b * x**2 for b, x in zip(weights, here.drops, strict=True))
    return first + shrink * sum(others, rest * here.drops[-1] ** 2)


def noise(setting: Setting, here: Token) -> arb:
    """nV/Lambda at least, here and at every larger scale."""
    shrink = (1 + 1 / (setting.tokens * here.mass)) ** -2
    return here.ratio * shrink / setting.ratio


@functools.cache
def bracket(setting: Setting) -> tuple[float, float]:
    """Enclose every minimiser.

    Args:
        setting: With n so large that the tail bound says something.

    Returns:
        Two doubles; all minimisers are strictly between.
    """
    from flint import ctx

    with ctx.workprec(BITS):
        most = upper(setting, setting.middle)
        return _end(setting, most, -1), _end(setting, most, 1)


def _end(setting: Setting, most: arb, side: int) -> float:
    """Walk inward from where one term suffices, as long as no minimiser is passed."""
    term = signal if side < 0 else noise
    far = 0.0
    while not term(setting, token(setting, _moved(setting, side * far))) > most:
        far += LONG
        if far > FAR:
            raise Undecided(f"no end was found: {setting}")
    at, step = far, LONG
    here = token(setting, _moved(setting, side * at))
    while step > SHORT:
        near = token(setting, _moved(setting, side * (at - step)))
        small, large = (here, near) if side < 0 else (near, here)
        if at > step and signal(setting, large) + noise(setting, small) > most:
            at, here, step = at - step, near, 2 * step
        else:
            step /= 2
    return _moved(setting, side * at)


def _moved(setting: Setting, by: float) -> float:
    """Omega e^by, the same double for the same ``by``."""
    return setting.middle * math.exp(by)
