"""Theorem 3.4, in numbers: w_KQ itself at chosen (d, n, σ²), to twelve digits.

Collins et al. (NeurIPS 2024), Theorem 3.4, bounds the optimal scale w_KQ by powers of
Λ = nL²/σ². That the population loss has one minimiser in w, and none else stationary,
is tacit there. For given (d, n, σ²) it can be proved: in ball arithmetic L'(w) < 0 to
the left of an interval and > 0 to its right, on the whole line.

    d = 5, n = 20, σ = 0.01 (Appendix J):   affine 6.680658300754, ReLU 6.731942022693.

How it is done is in docs/certified-minimiser.md: L' is a one-dimensional integral, with
bounds for each thing left out; panels of polynomials carry signs from points to
intervals, and the nearest token's contribution to infinity.

Deviations from the text:
    1. These are statements of ours; L = 1 and Σ = I.
    2. w is the main text's: γ_i is proportional to exp(w x_i·x).
Not decided here: uniqueness for all d, n, σ. It is observed on random losses (1500 in
the full profile), and proved one loss at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sympy import Integer, Rational, Tuple

from theorems.collins2024 import PAPER
from theorems.collins2024.enclosure.decide import DISCREPANCY, d, t
from verify import Claim, Mutant, Outcome, Wording, check, evidence
from verify.profiles import Profile

if TYPE_CHECKING:
    from theorems.collins2024.enclosure.line import Line
    from theorems.collins2024.enclosure.population import Population
    from theorems.collins2024.enclosure.scan import Scan

ONE = Integer(1)
# d, n, σ², w* of the affine and of the ReLU class, found by the secant method.
PAPERS = (5, 20, Rational(1, 10_000), "6.68065830075386", "6.73194202269312")
OTHERS = (
    (3, 5, Integer(1), "0.46165735533657", "0.252941574042341"),
    (3, 100, Rational(9, 100), "6.24836747281464", "6.57122416749667"),
    (4, 50, Rational(1, 100), "8.09708719669709", "8.4625989300612"),
    (5, 20, Rational(9, 100), "3.34671378819448", "2.77900622755382"),
    (6, 2, Integer(1), "0.10443272417703", "0.0533801525537268"),
)


def _configurations(*rows: tuple, shift: int = 0, scale: Rational = ONE) -> Tuple:
    """Rows with exact centres; for mutants in another dimension, or with other w*."""
    return Tuple(
        *(
            Tuple(size + shift, n, sigma2, *(scale * Rational(w) for w in centres))
            for size, n, sigma2, *centres in rows
        )
    )


def _without_noise(*rows: tuple) -> tuple[tuple, ...]:
    return tuple((size, n, Integer(0), *rest) for size, n, _, *rest in rows)


def _swapped(*rows: tuple) -> tuple[tuple, ...]:
    return tuple((*rest, relu, affine) for *rest, affine, relu in rows)


TOO_SMALL = "1e-11 of w* is below what floating point resolves"
KNOWS_HARMONICS = "its quadrature knows the discrepancies 1 - P_k only"


def _mutants(*rows: tuple) -> tuple[Mutant, ...]:
    """False changes of the claim for these configurations."""
    ten = Rational(1, 10**11)
    float_blind = {"signs_by_quadrature": TOO_SMALL}
    return (
        Mutant(
            "w* up by 1e-11 of itself",
            why="L' > 0 at the left end of the interval then",
            blind=float_blind,
            configurations=_configurations(*rows, scale=1 + ten),
        ),
        Mutant(
            "w* down by 1e-11 of itself",
            why="L' < 0 at the right end of the interval then",
            blind=float_blind,
            configurations=_configurations(*rows, scale=1 - ten),
        ),
        Mutant(
            "2w for w",
            why="weights exp(2w x_i·x) have their optimum at w*/2",
            scale=Integer(2),
        ),
        Mutant(
            "directions from N(0, I)",
            why="E|ω|² is d instead of 1, so that Λ is dΛ",
            spread=d,
        ),
        Mutant(
            "1 - P² for 1 - P",
            why="the first harmonic's discrepancy is 1 - t",
            blind={"signs_by_quadrature": KNOWS_HARMONICS},
            discrepancy=1 - t**2,
        ),
        Mutant(
            "one dimension more",
            why="the sphere's density near x is another",
            configurations=_configurations(*rows, shift=1),
        ),
        Mutant(
            "classes swapped",
            why="the kink of ReLU makes another bias",
            configurations=_configurations(*_swapped(*rows)),
        ),
        Mutant(
            "without noise",
            why="noise widens the window",
            configurations=_configurations(*_without_noise(*rows)),
        ),
    )


SAYS = (
    "For both classes the population loss has exactly one stationary point in w, its "
    "global minimiser, and it lies within 1e-12 of w* of the number given"
)
COMMON = {
    "half_width": Rational(1, 10**12),
    "scale": Integer(1),
    "spread": Integer(1),
    "discrepancy": DISCREPANCY,
}
LATEX = (
    r"\mathcal L'(w) < 0 \ (w \le w_-), \quad \mathcal L'(w) > 0 \ (w \ge w_+), \quad "
    r"w_\mp = (1 \mp 10^{-12})\, w^*"
)

CLAIM = Claim(
    id="collins2024/theorem-3.4/minimiser",
    title="the optimal scale in the paper's default",
    says=f"{SAYS}; d = 5, n = 20, σ = 0.01, L = 1.",
    latex=LATEX,
    quantifiers="d = 5, n = 20, σ² = 1e-4, L = 1; all w in R",
    source=PAPER.at("Theorem 3.4", "the default of Appendix J"),
    wording=Wording.OURS,
    parameters=COMMON | {"configurations": _configurations(PAPERS)},
    mutants=_mutants(PAPERS),
)

MORE = Claim(
    id="collins2024/theorem-3.4/minimiser/others",
    title="the optimal scale in five other cases",
    says=f"{SAYS}; five values of (d, n, σ²) with d = 3 to 6, L = 1.",
    latex=LATEX,
    quantifiers="(d, n, σ²) as listed, L = 1; all w in R",
    source=PAPER.at("Theorem 3.4"),
    wording=Wording.OURS,
    parameters=COMMON | {"configurations": _configurations(*OTHERS)},
    mutants=_mutants(*OTHERS),
)


def _proofs(
    claim: Claim, progress: Callable[[int, int], None]
) -> dict[Population, Line]:
    from theorems.collins2024.enclosure.decide import losses
    from theorems.collins2024.enclosure.line import certify

    todo = list(losses(claim))
    found = {}
    for i, claimed in enumerate(todo):
        found[claimed.population] = certify(claimed.population, *claimed.ends)
        progress(i + 1, len(todo))
    return found


@evidence
def proofs(progress: Callable[[int, int], None]) -> dict[Population, Line]:
    """Signs of L' on the whole line, in the paper's default."""
    return _proofs(CLAIM, progress)


@evidence
def more_proofs(progress: Callable[[int, int], None]) -> dict[Population, Line]:
    """Signs of L' on the whole line, in the other cases."""
    return _proofs(MORE, progress)


@evidence
def random_losses(
    profile: Profile, seed: int, progress: Callable[[int, int], None]
) -> Scan:
    """Slopes of random losses by quadrature, 25 noises each."""
    from theorems.collins2024.enclosure.scan import scan

    return scan(seed, profile.pick(smoke=2, default=8, full=60), progress)


@check(
    CLAIM,
    grade="certified",
    scope="the two ends of the interval: a stationary point lies inside",
)
def signs_at_the_ends(claim: Claim) -> Outcome:
    """Enclose L' at both ends of each interval, as tightly as its sign asks for."""
    from theorems.collins2024.enclosure.decide import brackets

    return brackets(claim)


@check(CLAIM, grade="certified", scope="all", profiles=("default", "full"))
def one_stationary_point(claim: Claim, proofs: dict[Population, Line]) -> Outcome:
    """Signs of L' between the ends and ±∞, by panels and by the nearest token."""
    from theorems.collins2024.enclosure.decide import whole_line

    return whole_line(claim, proofs)


@check(MORE, grade="certified", scope="all", profiles=("full",))
def one_stationary_point_each(
    claim: Claim, more_proofs: dict[Population, Line]
) -> Outcome:
    """The same for the other cases."""
    from theorems.collins2024.enclosure.decide import whole_line

    return whole_line(claim, more_proofs)


@check(
    CLAIM,
    MORE,
    grade="property",
    scope="w* by quadrature; random losses, d = 4..6, n = 8..1000, w in [0.05, 60]",
)
def signs_by_quadrature(claim: Claim, random_losses: Scan) -> Outcome:
    """Read the sign of L' beside w* in floating point; look for a second minimum."""
    from theorems.collins2024.enclosure.scan import decide

    return decide(claim, random_losses)
