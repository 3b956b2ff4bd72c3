"""Figure 1, bottom row: ICL error of softmax and linear attention on shifted cosines.

Collins et al. (NeurIPS 2024), Figure 1 and Appendix J: d = 2, covariates uniform on the
circle, f(x) = cos(ν θ(x) - b) with b uniform, ν = 0, 1.5 and 6. "Adapting to function
Lipschitzness leads softmax attention to achieve small error"; the window shrinks as ν
grows (top row).

Both hold once there are enough samples to resolve the functions. With n = 16 and ν = 6
they do not: the best softmax attention averages all labels, and since its weights sum
to 1 it pays for their noise, while linear attention can predict 0 and does better.

Deviations from the text:
    1. The display that defines the class is lost; f is as above.
    2. Units are at the optimum of the population loss, M = w I, instead of after 15000
       steps; n and σ = 0.3 are ours, since the text gives neither.
    3. The sizes n = 32 and 64 and the ratio of six tenths were chosen after the exact
       errors had been seen; what happens at n = 16 is a claim of its own.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from sympy import Integer, Rational, Tuple

from theorems.collins2024 import PAPER
from verify import Claim, Kind, Mutant, Outcome, Wording, check, evidence

if TYPE_CHECKING:
    from theorems.collins2024.window.hills import Errors

NU = Tuple(0, Rational(3, 2), 6)
SETTING = "d = 2, ν in {0, 1.5, 6}, σ = 0.3, at the optimum of the population loss"
SIGMA, SIZES = 0.3, (16, 32, 64)

ERROR = Claim(
    id="collins2024/figure-1",
    kind=Kind.EMPIRICAL,
    title="softmax attention achieves the smaller error",
    says=(
        "For each ν the error of softmax attention falls with n and is at most "
        "six tenths of that of linear attention."
    ),
    latex=r"\mathcal{L}_{SA}(n, \nu) \le r\, \mathcal{L}_{LA}(n, \nu), \quad r = "
    r"\tfrac35, \quad \mathcal{L}_{SA}(n', \nu) < \mathcal{L}_{SA}(n, \nu)\ (n' > n)",
    quantifiers=f"n in {{32, 64}}; {SETTING}",
    source=PAPER.at("Figure 1", "bottom row; Appendix J"),
    wording=Wording.DERIVED,
    recipe_complete=False,
    parameters={"samples": Tuple(32, 64), "ratio": Rational(6, 10)},
    mutants=(
        Mutant(
            "from n = 16 on",
            why="16 samples do not resolve ν = 6: linear attention predicts 0",
            samples=Tuple(16, 32, 64),
        ),
        Mutant(
            "the error grows with n",
            why="more samples are averaged",
            samples=Tuple(64, 32),
        ),
        Mutant("a factor 10", why="at ν = 6 it is 2 and 5", ratio=Rational(1, 10)),
    ),
)

WINDOW = Claim(
    id="collins2024/figure-1/window",
    kind=Kind.EMPIRICAL,
    title="the window shrinks as functions get rougher",
    says="The optimal scale w* grows with ν.",
    latex=r"\nu < \nu' \implies w^*(\nu) < w^*(\nu')",
    quantifiers=f"n = 32 and 64; {SETTING}",
    source=PAPER.at("Figure 1", "top row; Appendix J"),
    wording=Wording.DERIVED,
    recipe_complete=False,
    parameters={"samples": Tuple(32, 64), "order": NU},
    mutants=(
        Mutant(
            "from n = 16 on",
            why="for ν = 6 averaging all labels is best there",
            samples=Tuple(16, 32, 64),
        ),
        Mutant(
            "opposite order",
            why="rougher functions need a narrower window",
            order=Tuple(*reversed(NU)),
        ),
    ),
)

FEW = Claim(
    id="collins2024/figure-1/few-samples",
    kind=Kind.EMPIRICAL,
    title="with few samples linear attention is better",
    says=(
        "For ν = 6 and n = 16 the error of the best softmax attention exceeds that of "
        "the best linear attention, which predicts 0."
    ),
    latex=r"\mathcal{L}_{SA} > \mathcal{L}_{LA} = \tfrac12",
    quantifiers="d = 2, σ = 0.3, at the optimum of the population loss, M = w I",
    source=PAPER.at("Figure 1", "bottom row; our measurement"),
    wording=Wording.OURS,
    parameters={"frequency": Integer(6), "samples": Integer(16)},
    mutants=(
        Mutant("n = 32", why="32 samples resolve ν = 6", samples=Integer(32)),
        Mutant("ν = 0", why="constants are averaged", frequency=Integer(0)),
        Mutant("ν = 1.5", why="16 samples resolve it", frequency=Rational(3, 2)),
    ),
)


@evidence
def errors() -> dict[tuple[float, int], Errors]:
    """Least errors of both kinds of attention, by ν and n."""
    from theorems.collins2024.window import hills

    return {
        (float(nu), n): hills.errors(float(nu), n, SIGMA) for nu in NU for n in SIZES
    }


@check(ERROR, grade="numeric", scope="n = 32 and 64, M = w I, by quadrature")
def softmax_errors_are_smaller(
    claim: Claim, errors: dict[tuple[float, int], Errors]
) -> Outcome:
    """Compare with linear attention, and along n."""
    from theorems.collins2024.window.comparing import compared

    sizes = [int(n) for n in claim.samples]
    against = compared(
        [
            (f"ν = {nu}, n = {n}", errors[nu, n].softmax, errors[nu, n].linear)
            for nu in map(float, NU)
            for n in sizes
        ],
        "<=",
        claim.ratio,
    )
    along = compared(
        [
            (
                f"ν = {nu}, n = {b} after {a}",
                errors[nu, b].softmax,
                errors[nu, a].softmax,
            )
            for nu in map(float, NU)
            for a, b in itertools.pairwise(sizes)
        ],
        "<=",
        Integer(1),
    )
    return along if against.verdict == "HOLDS" else against


@check(WINDOW, grade="numeric", scope="n = 32 and 64, M = w I, by quadrature")
def windows_shrink(claim: Claim, errors: dict[tuple[float, int], Errors]) -> Outcome:
    """Compare w* of neighbouring ν in the claimed order."""
    from theorems.collins2024.window.comparing import compared

    order = [float(nu) for nu in claim.order]
    rows = [
        (f"n = {n}, ν = {b} after {a}", errors[b, n].window, errors[a, n].window)
        for n in (int(n) for n in claim.samples)
        for a, b in itertools.pairwise(order)
    ]
    return compared(rows, ">=", Integer(1))


@check(FEW, grade="numeric", scope="one n and ν, M = w I, by quadrature")
def linear_error_is_smaller(
    claim: Claim, errors: dict[tuple[float, int], Errors]
) -> Outcome:
    """Compare the two least errors."""
    from theorems.collins2024.window.comparing import compared

    found = errors[float(claim.frequency), int(claim.samples)]
    rows = [("softmax and linear attention", found.softmax, found.linear)]
    return compared(rows, ">=", Integer(1))
