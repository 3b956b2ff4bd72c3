"""Lemma C.2: the signal term never exceeds 4L².

Collins et al. (NeurIPS 2024), Appendix C: L_signal(w) ≤ 4L² for all w, as tokens are at
most 2 away from the query. Among affine tasks the worst scale is w → -∞, where weight
falls on the farthest token: L_signal → 4L²/(3d).

Deviations from the text:
    1. None. The bound holds for every L-Lipschitz task, not only on average.
"""

from __future__ import annotations

from theorems.collins2024 import PAPER
from theorems.collins2024.bias import kink, trivial
from theorems.collins2024.bias.assumptions import LIPSCHITZ, SPHERE
from verify import Claim, Mutant, Outcome, Refuted, check, evidence, necessity
from verify.profiles import Profile

CLAIM = Claim(
    id="collins2024/lemma-c.2",
    title="bias at most 4L²",
    says="For every scale, of either sign, the signal term is at most 4L².",
    latex=r"\mathcal L_{\mathrm{signal}}(w) \le 4 L^2",
    quantifiers="for all d ≥ 2, n ≥ 1, L-Lipschitz tasks and all w",
    source=PAPER.at("Lemma C.2"),
    assumes=(SPHERE, LIPSCHITZ),
    parameters={"bound": 4 * trivial.L**2},
    mutants=(
        Mutant("4L", why="the loss scales with L²", bound=4 * trivial.L),
        Mutant("L²/4", why="L²/3 at d = 2, n = 1", bound=trivial.L**2 / 4),
        Mutant("L²/20", why="L²/4 at d = 2, n = 2, w = 0", bound=trivial.L**2 / 20),
    ),
)


@check(CLAIM, grade="symbolic", scope="all")
def tokens_are_within_two(claim: Claim) -> Outcome:
    """Average of squares of differences, each at most (2L)²."""
    return trivial.decide(claim)


@evidence
def signals(profile: Profile, seed: int) -> kink.Ratios:
    """Exact signals on random d, n and w of any sign."""
    return kink.draw(seed, profile.pick(smoke=6, default=40, full=1000))


@check(CLAIM, grade="property", scope="affine and ReLU tasks, d = 2..6, |w| ≤ 300")
def signal_on_instances(claim: Claim, signals: kink.Ratios) -> Outcome:
    """Hold the bound against exact signals at L = 1 and L = 100."""
    return trivial.observed(claim, signals)


@necessity(
    CLAIM,
    assumption="lipschitz",
    needed=True,
    grade="symbolic",
    scope="linear tasks of slope 10L, d = 2, n = 1",
)
def steeper_tasks(claim: Claim) -> Outcome:
    """A task ten times as steep has 25 times that loss with one token."""
    witness = trivial.steep(claim.bound)
    return Refuted("slope 10L: 100 L² at d = 2, n = 1", witness=witness)
