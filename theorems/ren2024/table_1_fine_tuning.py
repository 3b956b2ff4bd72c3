"""Table 1: the three modifications in a fine-tuned BERT (Appendix E.5).

Ren and Liu fine-tune BERT-base on CoLA, MRPC, STS-B and RTE, and show the best of
several settings of each modification beside the original, without a spread.

None of this is decided here. The test labels are not public, how often a setting was
run and how the new branches start is not given, and a best of several compared with a
single run gains by selection alone. What is here is the question on a small
scale: the modifications in all-MiniLM-L6-v2 (6 layers, width 384), fine-tuned at 5
seeds, paired, on a task built from a lexicon that a package ships: is the gloss of a
word kind or not? That is not BERT-base, and not GLUE. With folders of one's own
(``VERIFY_MODEL``, ``VERIFY_GLUE``) the same code trains bert-base-uncased on the four
tasks with the paper's recipe, scored on the development sets.

Reported, and not judged: mean paired differences with a Student interval, the seeds at
which a setting is better, and how much a best of as many originals would exceed one.
Readings of what the text leaves open: ``real/modifications.py``.
Runs under ``make verify-real`` only; no profile includes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Symbol, Tuple

from theorems.ren2024 import PAPER, real
from verify import (
    Cause,
    Claim,
    Inconclusive,
    Kind,
    Outcome,
    Wording,
    check,
    evidence,
    inconclusive,
)

if TYPE_CHECKING:
    from theorems.ren2024.real.study import FineTuned
    from verify.profiles import Profile
    from verify.runs import Runs

OPEN = inconclusive(
    Cause.RECIPE,
    "seeds and repetitions are not given, the best of several settings is compared "
    "with one original, and the test labels are not public; 32 seeds of BERT-base on "
    "the four tasks, with one setting per modification fixed beforehand, would decide",
)
SETTING = "BERT-base on CoLA, MRPC, STS-B and RTE, 5 epochs, batches of 32, rate 2e-5"


def _claim(part: str, title: str, says: str, settings: tuple[str, ...]) -> Claim:
    return Claim(
        id=f"ren2024/table-1/{part}",
        kind=Kind.EMPIRICAL,
        title=title,
        says=says,
        latex=r"\max_s \mathrm{score}(s) > \mathrm{score}(\text{original})",
        quantifiers=SETTING,
        source=PAPER.at("Table 1", "Appendix E.5"),
        wording=Wording.PRINTED,
        recipe_complete=False,
        parameters={"settings": Tuple(*map(Symbol, settings))},
        finding=OPEN,
    )


REGULARISED = _claim(
    "regularised",
    "regularised attention helps on three tasks of four",
    "Except for RTE, the best regularised models outperform the original model; when "
    "the absolute value of α is too large, performance declines significantly.",
    ("α = -0.5", "α = -0.1", "α = 0.1", "α = 0.5"),
)
AUGMENTED = _claim(
    "augmented",
    "augmented attention helps on all four tasks",
    "The best augmented models achieve better performance than the original model "
    "across all four datasets; augmenting the values alone is the most effective.",
    ("g_1, c = 1",),
)
NEGATIVE = _claim(
    "negative",
    "negative samples help on two tasks of four",
    "The best negative models only outperform the original model on CoLA and STS-B; "
    "on MRPC and RTE they are worse.",
    ("r = 0.2, β = 0.1",),
)
COMBINED = _claim(
    "combined",
    "combinations are not better than augmentation alone",
    "The best combinations are slightly inferior to the best augmented models, so that "
    "using all three modifications is not necessary.",
    ("g_1, c = 1", "g_1 and negative"),
)
CLAIMS = (REGULARISED, AUGMENTED, NEGATIVE, COMBINED)


@evidence
def fine_tuned(
    profile: Profile, seed: int, device: str, runs: Runs
) -> tuple[FineTuned, ...]:
    """All settings at some seeds, on the built task or on the user's GLUE."""
    from theorems.ren2024.real import study

    return study.fine_tuned(runs, seed, device, study.size(profile))


@check(
    *CLAIMS,
    grade="trained",
    scope="a small BERT on a built task, or the user's own; 5 seeds (full: 32)",
    profiles=real.profiles(),
)
def paired_scores(claim: Claim, fine_tuned: tuple[FineTuned, ...]) -> Outcome:
    """Describe each setting's paired difference to the original; never decides."""
    from theorems.ren2024.real import study

    names = [setting.name for setting in claim.settings]
    lines, means = [], []
    for found in fine_tuned:
        gains = [study.gain(found, name) for name in names]
        means += [g.mean for g in gains]
        free = study.luck(found, len(names))
        original = found.found[study.ORIGINAL][:, 0].mean()
        lines.append(
            f"{found.task}, {found.scores[0]} {original:.3f} of the original; "
            f"{'; '.join(map(str, gains))}; the best of {len(names)} originals gains "
            f"{free:.3f}; {found.unfinished} runs diverged"
        )
    return Inconclusive(
        "not the paper's recipe. " + " | ".join(lines),
        cause=Cause.RECIPE,
        measured=max(means),
        n=sum(len(f.found[study.ORIGINAL]) for f in fine_tuned) * len(names),
        searched="; ".join(found.says for found in fine_tuned),
        figures=study.figure(fine_tuned, names),
    )
