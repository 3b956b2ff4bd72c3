"""Theorem 3.4, trained: Adam reaches the optimal window, and its exponents.

Collins et al. (NeurIPS 2024), Theorem 3.4 and Section 3.2. The theorem is about the
minimiser of the population loss; here models are trained, and M is compared with it:

    1. tr(M)/d is w*(d, n, σ, L), the minimiser by quadrature;
    2. its slope over log Λ, corrected for finite Λ, is 2/(d+3) for affine and 2/(d+2)
       for ReLU tasks;
    3. with the covariates of Assumption 3.3, x = Σ^{-1} u, and tasks w ~ Σ U_d, M is
       w Σ², not w Σ.

The recipe is ours: that of Figures 3 and 4 is not run to convergence
(figure_4_noise_and_samples.py). A first recipe passed with a margin of 0.08 at one
seed; the learning rate was then lowered, before other seeds were run.
Not decided here: the exponents themselves; training shows that it reaches the optimum,
and their proofs are elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Integer, Interval, Rational, Symbol

from theorems.collins2024 import PAPER
from verify import Claim, Kind, Mutant, Outcome, Wording, check, evidence
from verify.profiles import Profile

if TYPE_CHECKING:
    from verify.runs import Runs, Trainings

d = Symbol("d", positive=True)

REACHED = Claim(
    id="collins2024/theorem-3.4/trained/optimum",
    kind=Kind.EMPIRICAL,
    title="training reaches the optimal window",
    says=(
        "Trained with Adam, one task per step, the averaged tr(M)/d is the minimiser "
        "w* of the population loss, up to 5 %."
    ),
    latex=r"\operatorname{tr}(M)/d = w^*(d, n, \sigma, L)",
    quantifiers=(
        "affine and ReLU tasks, L = 1, n = 128, Λ = 100, 700, 5000; d = 3, in the full "
        "profile d = 2, 3, 5"
    ),
    source=PAPER.at("Theorem 3.4", "our measurement"),
    wording=Wording.OURS,
    parameters={"reached": Interval(Rational(95, 100), Rational(105, 100))},
    mutants=(
        Mutant(
            "the scale of the appendix",
            why="its exp(-w|x_i - x|²) has half of this w",
            reached=Interval(Rational(45, 100), Rational(55, 100)),
        ),
        Mutant(
            "twice the scale",
            why="M is the optimum itself",
            reached=Interval(Rational(19, 10), Rational(21, 10)),
        ),
        Mutant(
            "a tenth above the optimum",
            why="M fluctuates about the optimum",
            reached=Interval(Rational(105, 100), Rational(115, 100)),
        ),
    ),
)

EXPONENTS = Claim(
    id="collins2024/theorem-3.4/trained",
    kind=Kind.EMPIRICAL,
    title="exponents of trained windows",
    says=(
        "The trained window grows with Λ like Λ^{2/(d+3)} for affine and like "
        "Λ^{2/(d+2)} for ReLU tasks, after the exact correction for finite Λ and n."
    ),
    latex=(
        r"\frac{\Delta \log \operatorname{tr} M}{\Delta \log \Lambda} - \left("
        r"\frac{\Delta \log w^*}{\Delta \log \Lambda} - \tfrac{2}{d+3}\right) = "
        r"\tfrac{2}{d+3}, \quad \text{ReLU: } \tfrac{2}{d+2}"
    ),
    quantifiers=(
        "L = 1, n = 128, Λ = 100 to 5000 by σ; d = 3, in the full profile d = 2, 3, 5"
    ),
    source=PAPER.at("Theorem 3.4", "our measurement"),
    wording=Wording.OURS,
    parameters={"affine": 2 / (d + 3), "relu": 2 / (d + 2)},
    mutants=(
        Mutant(
            "the exponent of the proof",
            why="noise grows like w^{(d-1)/2}, not w^{d/2}",
            affine=2 / (d + 4),
        ),
        Mutant(
            "classes swapped",
            why="the bias is w^{-2} for affine, w^{-3/2} for ReLU tasks",
            affine=2 / (d + 2),
            relu=2 / (d + 3),
        ),
        Mutant(
            "as if ReLU tasks had no kink",
            why="the kink makes the bias w^{-3/2}",
            relu=2 / (d + 3),
        ),
        Mutant(
            "bias w^{-1} for ReLU tasks",
            why="their bias is w^{-3/2}; then 1/(1 + (d-1)/2)",
            relu=2 / (d + 1),
        ),
        Mutant(
            "half the exponents",
            why="the scale enters once, not squared",
            affine=1 / (d + 3),
            relu=1 / (d + 2),
        ),
    ),
)

FORM = Claim(
    id="collins2024/theorem-3.4/form/trained",
    kind=Kind.EMPIRICAL,
    title="M is a multiple of Σ², not of Σ",
    says=(
        "With covariates x = Σ^{-1} u and tasks w ~ Σ U_d as printed, the trained M is "
        "w* Σ², with the w* of the sphere: off by the factor Σ from Theorem 3.4."
    ),
    latex=r"M = w^* \Sigma^{p}, \quad p = 2",
    quantifiers="affine tasks, d = 3, Σ = diag(.6, 1, 1.7), n = 32, σ = .5, L = 1",
    source=PAPER.at("Theorem 3.4", "Assumption 3.3; our measurement"),
    wording=Wording.OURS,
    parameters={"power": Integer(2)},
    mutants=(
        Mutant(
            "as printed", why="the scores are uᵀ Σ^{-1} M Σ^{-1} u", power=Integer(1)
        ),
        Mutant(
            "the identity", why="the covariates are not isotropic", power=Integer(0)
        ),
        Mutant("inverse", why="wide directions need small M", power=Integer(-2)),
    ),
)


@evidence
def trained(profile: Profile, seed: int, device: str, runs: Runs) -> Trainings:
    """Models of every class, dimension and Λ."""
    from theorems.collins2024.window import scaling

    return runs.get(scaling.study(profile, seed, device))


@evidence
def stretched(profile: Profile, seed: int, device: str, runs: Runs) -> Trainings:
    """Models on covariates that are not isotropic."""
    from theorems.collins2024.window import scaling

    return runs.get(scaling.stretched_study(profile, seed, device))


@evidence
def optima(profile: Profile) -> dict[tuple[str, int], Any]:
    """w* of every class and dimension at the three Λ."""
    from theorems.collins2024.window import scaling

    return {
        (task, d): scaling.exact(task, d)
        for d in scaling.dimensions(profile)
        for task in scaling.CLASSES
    }


@check(
    REACHED,
    grade="trained",
    scope="both classes, three Λ, d = 3 (full: d = 2, 3, 5), Adam with averaging",
    profiles=("default", "full"),
)
def averages_are_the_optimum(
    claim: Claim,
    trained: Trainings,
    optima: dict[tuple[str, int], Any],
    profile: Profile,
) -> Outcome:
    """Student intervals of tr(M)/(d w*), inside the claimed range.

    The tolerance: one task per step keeps M at a relative spread r about w*, and the
    loss is steeper below w* than above, which moves the mean by r² d(d+1)/2 times
    |w L'''/(2 L'')| ≈ 2 (bias w^{-2}, noise w^{(d-1)/2}). With r = 3 to 4 %, seen in
    trials at this recipe's later rates, that is 1 to 2 %; 5 % leaves as much again for
    the way not yet gone.
    """
    from theorems.collins2024.window import bands, scaling

    ends = float(claim.reached.start), float(claim.reached.end)
    found = []
    for setting in scaling.settings(profile):
        at = scaling.LAMBDAS.index(setting.Lambda)
        best = float(optima[setting.task, setting.d][at])
        ratio = scaling.scales(trained, setting) / best
        found.append(bands.Band(f"tr(M)/(d w*), {setting},", ratio, *ends))
    return bands.within(
        found, profile.level, figures=[scaling.figure(trained, profile)]
    )


@check(
    EXPONENTS,
    grade="trained",
    scope="both classes, d = 3 (full: d = 2, 3, 5), Λ = 100 to 5000, n = 128",
    profiles=("default", "full"),
)
def slopes_follow_the_exponents(
    claim: Claim,
    trained: Trainings,
    optima: dict[tuple[str, int], Any],
    profile: Profile,
) -> Outcome:
    """Trained slope, less (exact local slope less exact exponent), per seed.

    Within a quarter of the distance to the nearest mutant: 2/(d+4) for affine and
    2/(d+3) for ReLU tasks.
    """
    from theorems.collins2024.window import bands, scaling

    nearest = {"affine": 2 / (d + 4), "relu": 2 / (d + 3)}
    found, ranges, exponents = [], {}, {}
    for (task, dimension), windows in optima.items():
        exponent = float(EXPONENTS.parameters[task].subs(d, dimension))
        tolerance = (exponent - float(nearest[task].subs(d, dimension))) / 4
        claimed = float(claim.parameters[task].subs(d, dimension))
        correction = float(scaling.slope(windows)) - exponent
        values = scaling.trained_slopes(trained, task, dimension) - correction
        says = f"exponent, {task}, d = {dimension},"
        ends = claimed - tolerance, claimed + tolerance
        found.append(bands.Band(says, values, *ends))
        ranges[task, dimension], exponents[task, dimension] = ends, exponent
    drawn = scaling.slope_figure(trained, optima, ranges, exponents)
    return bands.within(found, profile.level, figures=[drawn])


@check(
    FORM,
    grade="trained",
    scope="affine tasks, d = 3, Σ = diag(.6, 1, 1.7), n = 32, σ = .5",
    profiles=("default", "full"),
)
def diagonal_follows_the_square(
    claim: Claim, stretched: Trainings, profile: Profile
) -> Outcome:
    """Powers of Σ between neighbouring entries of diag M, and M_ii/Σ_i^p against w*.

    The powers may be off by a quarter of the distance 1 to the nearest mutant; the
    entries by 10 %: twice what `averages_are_the_optimum` allows the mean of them.
    """
    from theorems.collins2024.window import bands, optimum, scaling

    (configuration,) = stretched.study.configurations
    diagonal = scaling.averages(stretched, dict(configuration))
    Sigma, power = np.array(scaling.SIGMA), float(claim.power)
    best = float(optimum.windows("affine", 3, [1.0], [32.0], [0.5])[0])
    steps = np.diff(np.log(diagonal), axis=1) / np.diff(np.log(Sigma))
    found = [
        bands.Band(f"power, entries {i + 1} and {i + 2},", steps[:, i], power - 0.25,
                   power + 0.25)
        for i in range(2)
    ]  # fmt: skip
    for i, entry in enumerate(Sigma):
        ratio = diagonal[:, i] / (best * entry**power)
        found.append(bands.Band(f"M_ii/(w* Σ_ii^p), i = {i + 1},", ratio, 0.9, 1.1))
    drawn = scaling.power_figure(stretched, best)
    return bands.within(found, profile.level, figures=[drawn])
