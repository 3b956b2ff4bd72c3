"""Figure 3: the learned attention window shrinks as tasks become less smooth.

Collins et al. (NeurIPS 2024), Section 3.2: "Figure 3 shows that ‖M‖ increases with L in
various settings", during pre-training on ReLU and on cosine tasks, with covariates
uniform on the sphere and with covariates that are not.

Deviations from the text:
    1. The values of L and the number of steps are not given. L is 0.1, 0.3 and 1 here.
       L = 10 is trained and drawn, and reported as a variant: with n = 20 and σ = 0.01
       the optimal window for ReLU tasks hardly moves above L = 1, and for cosine tasks
       ‖M‖ falls to 0, since 20 samples do not resolve cos(10 wᵀx).
    2. Runs of one seed share covariates, directions and noise, so that they are paired.
Not decided here: how fast ‖M‖ grows with L.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Rational, Symbol, Tuple

from theorems.collins2024 import PAPER
from verify import Claim, Kind, Mutant, Outcome, Variant, Wording, check, evidence
from verify.profiles import Profile

if TYPE_CHECKING:
    from theorems.collins2024.window.ablation import Ablation
    from verify.runs import Runs, Trainings

L, sigma = Symbol("L"), Symbol("sigma")
TENTH, THIRD = Rational(1, 10), Rational(3, 10)

CLAIM = Claim(
    id="collins2024/figure-3",
    kind=Kind.EMPIRICAL,
    title="the window shrinks with the Lipschitz constant",
    says="During pre-training ‖M‖ increases with the Lipschitz constant L of tasks.",
    latex=r"L < L' \implies \|M\|_{L} < \|M\|_{L'}",
    quantifiers=(
        "for ReLU and cosine tasks, isotropic and non-isotropic covariates, "
        "d = 5, n = 20, σ = 0.01"
    ),
    source=PAPER.at("Figure 3", "Section 3.2; recipe in Appendix J"),
    wording=Wording.PRINTED,
    recipe_complete=False,
    parameters={"varied": L, "order": Tuple(TENTH, THIRD, 1)},
    mutants=(
        Mutant(
            "opposite order",
            why="rougher tasks need a narrower window, that is a larger ‖M‖",
            order=Tuple(1, THIRD, TENTH),
        ),
        Mutant(
            "first two swapped",
            why="the window at L = 0.3 is narrower than at L = 0.1",
            order=Tuple(THIRD, TENTH, 1),
        ),
        Mutant(
            "the noise instead of L",
            why="more noise needs a wider window",
            varied=sigma,
            order=Tuple(Rational(1, 100), TENTH, THIRD),
        ),
    ),
    variants=(
        Variant(
            "up to L = 10",
            why=(
                "ReLU tasks: the optimal window hardly moves above L = 1; cosine "
                "tasks: 20 samples do not resolve cos(10 wᵀx), and averaging is best"
            ),
            order=Tuple(TENTH, THIRD, 1, 10),
        ),
    ),
)


def plots() -> list[Ablation]:
    """The four plots of the figure, and one that varies the noise instead."""
    from theorems.collins2024.window.ablation import Ablation

    return [
        *(
            Ablation(task, covariates, "L", (0.1, 0.3, 1.0, 10.0), lr=0.1)
            for task in ("relu", "cosine")
            for covariates in ("isotropic", "non-isotropic")
        ),
        Ablation("relu", "isotropic", "sigma", (0.01, 0.1, 0.3), lr=0.1),
    ]


@evidence
def pretraining(profile: Profile, seed: int, device: str, runs: Runs) -> Trainings:
    """Every plot's models, one program per kind of task and covariates."""
    from theorems.collins2024.window.ablation import study

    return runs.get(study("collins2024/figure-3", plots(), profile, seed, device))


@check(
    CLAIM,
    grade="trained",
    scope="L in {0.1, 0.3, 1}, d = 5, n = 20, σ = 0.01, 5000 steps of Adam (App. J)",
)
def windows_shrink_with_lipschitzness(
    claim: Claim, pretraining: Trainings, profile: Profile
) -> Outcome:
    """Compare ‖M‖ between runs of one seed: at the end, and averaged over training."""
    from theorems.collins2024.window import ablation
    from verify.fit.trend import increasing

    order = [float(value) for value in claim.order]
    chosen = [plot for plot in plots() if plot.varied == claim.varied.name]
    return increasing(
        [p for plot in chosen for p in ablation.panels(pretraining, plot, order)],
        profile.level,
        figures=ablation.figures(pretraining, chosen, 3),
    )
