"""A report made by hand that holds one of everything a view has to show."""

import math

from verify.record import (
    AnchorRecord,
    AssumptionRecord,
    BudgetLine,
    CheckRecord,
    ClaimRecord,
    Counts,
    ErrorBudget,
    FigureRecord,
    FindingRecord,
    Formula,
    MutantRecord,
    NecessityRecord,
    PaperRecord,
    Report,
    ResolutionRecord,
    RunRecord,
    SeriesRecord,
    Side,
    TightnessRecord,
    Trial,
    VariantRecord,
)
from verify.verdict import Cause, Fault, Grade, Kind, Verdict

HOSTILE = "<script>alert(1)</script> ]]> \\input{x} 50% a|b & c_d `e` \x01 <img src=x>"

FORMULA = {
    "kind": "formula",
    "says": "Five tokens on which the closed form misses the margin.",
    "inputs": {"A": [["1/2", "-3"], ["0x1.8p+3", "2/7"]], "b": "1/3"},
    "relation": [
        ">",
        ["add", ["entry", ["in", "A"], 0, 1], ["pow", ["in", "b"], 2]],
        ["mul", ["neg", "1/2"], ["exp", ["sub", 1, ["in", "b"]]]],
    ],
}
TABLE = {
    "kind": "table",
    "says": "The slope of every seed.",
    "columns": ["seed", "slope"],
    "rows": [[i, (0.25 + i / 64).hex()] for i in range(40)],
    "aggregate": "mean",
    "relation": ["<=", ["in", "slope"], "2/3"],
}


def change(text="2*m/(k + m)", latex=r"\frac{2 m}{k + m}"):
    return {"optimal": Formula(text=text, latex=latex)}


def figure(**changes):
    base = FigureRecord(
        name="slopes",
        title="Local slope of the attention scale",
        x_label=r"Lipschitz constant $\Lambda$",
        y_label="slope",
        x_log=True,
        series=[
            SeriesRecord(
                label="trained, 32 seeds",
                x=[0.0, 1.0, 10.0, 100.0, 1000.0],
                y=[0.1, 0.2, 0.31, 0.37, None],
                low=[0.0, 0.15, 0.27, 0.35, None],
                high=[0.2, 0.25, 0.35, 0.39, None],
            ),
            SeriesRecord(label="exact", x=[1.0, 1000.0], y=[0.22, 0.4], style="steps"),
            SeriesRecord(label="_b", x=[1.0, 9.0], y=[0.3, 0.35], style="points"),
        ],
        marks={"claimed range": 300.0, "never": -1.0},
        caption="Mean over seeds with a 99.9 % band; the exact slope is dashed.",
    )
    return base.model_copy(update=changes)


def check(name="exact_search", **fields):
    base = {
        "claim": "",
        "name": name,
        "node": f"theorems/x.py::{name}",
        "grade": Grade.CERTIFIED,
        "scope": "all",
        "verdict": Verdict.HOLDS,
        "seconds": 1.25,
        "seed": 17,
    }
    return CheckRecord(**{**base, **fields})


def claim(name="ren2024/theorem-3.1@keys", **fields):
    verdict = fields.get("verdict", Verdict.HOLDS)
    base = {
        "id": name,
        "paper": name.partition("/")[0],
        "kind": Kind.THEOREM,
        "wording": "printed",
        "reading": name.partition("@")[2],
        "title": "Softmax attention equals one gradient step",
        "statement_text": "The output of attention is that of the dual model after N "
        "steps of gradient descent.",
        "statement_latex": r"h'_{T+1} = W_V X\,\mathrm{softmax}\!\left("
        r"\frac{(W_K X)^\top W_Q x}{\sqrt{d_o}}\right) \quad \forall N \ge 1",
        "quantifiers": "every N ≥ 1, every W_Q, W_K, W_V",
        "source": "Theorem 3.1 (Eq. (7), proof in Appendix B)",
        "parameters": {"scale": Formula(text="1/N", latex=r"\frac{1}{N}")},
        "assumptions": [AssumptionRecord(id="kernel", says="φ reproduces exp.")],
        "verdict": verdict,
        "fault": None,
        "finding": FindingRecord(verdict=verdict),
        "differs": "",
        "grade": None,
        "scope": "",
        "cause": None,
        "reason": "",
        "weaker": "",
        "nearest": "",
        "module": "theorems.ren2024.theorem_3_1_dual_form",
        "command": f"verify run '{name}' --profile default --seed 0",
        "checks": [],
        "mutants": [],
        "anchors": [],
        "variants": [],
        "necessity": [],
        "tightness": [],
    }
    return ClaimRecord(**{**base, **fields})


def rich_holds():
    trials = [
        Trial(
            role="mutant",
            name="half",
            verdict=Verdict.REFUTED,
            rejected=True,
            margin=-8.5,
            reason="differs by 0.5",
        ),
        Trial(role="mutant", name="swap", verdict=Verdict.HOLDS, error="ValueError: x"),
    ]
    resolution = ResolutionRecord(
        parameter="scale",
        claimed="1/2",
        below=Side(accepted=0.49, rejected=0.47),
        above=Side(accepted=None, rejected=0.52),
        decisions=8,
        monotone=False,
    )
    return claim(
        grade=Grade.SYMBOLIC,
        scope="all",
        reason="The residual simplifies to zero.",
        weaker="no search is possible",
        checks=[
            check(
                "trained_twin",
                grade=Grade.TRAINED,
                scope="d ≤ 8",
                figures=[figure()],
                measured=0.3712345678,
                target=0.4,
                margin=0.25,
                interval=(0.35, 0.39),
                level=1e-3,
                n=32,
                discards={"diverged": 2},
                certificate=TABLE,
                searched="Λ in [1, 1000]",
            ),
            check(
                "proof",
                grade=Grade.SYMBOLIC,
                steps=["Expand.", "Collect <terms>."],
                resolution=[resolution],
                trials=trials,
                optional=True,
                margin="1/3",
            ),
        ],
        mutants=[
            MutantRecord(
                name="half",
                change=change(),
                why_false="the factor is 1",
                rejected=True,
                by=["proof"],
                blind={"trained_twin": "too coarse"},
                witness=FORMULA,
            ),
        ],
        anchors=[
            AnchorRecord(
                name="complete orders",
                change=change(),
                why_true="Lemma 2",
                refuted=False,
                held=["proof"],
            )
        ],
        variants=[
            VariantRecord(
                name="53 for 106",
                change=change(),
                why_unknown="slack",
                verdicts={"proof": Verdict.INCONCLUSIVE},
            )
        ],
        necessity=[
            NecessityRecord(
                assumption="kernel",
                verdict="needed",
                witness=FORMULA,
                expected="needed",
                check="without_kernel",
                searched="3 × 3 integers",
                n=200,
            )
        ],
        tightness=[TightnessRecord(bound="Lemma C.2", observed_over_bound=0.912)],
    )


def rich_broken():
    return claim(
        "huang2024/lemma-5",
        title=f"Gradients are parallel {HOSTILE}",
        reason=f"search: mutant survived {HOSTILE}",
        verdict=Verdict.INCONCLUSIVE,
        fault=Fault.BROKEN,
        cause=Cause.FAULT,
        finding=FindingRecord(verdict=Verdict.HOLDS, reason=HOSTILE),
        differs=f"INCONCLUSIVE against HOLDS {HOSTILE}",
        statement_latex=rf"\frac{{1 \text{{{HOSTILE}}}",
        statement_text=HOSTILE,
        nearest=HOSTILE,
        checks=[
            check(
                "search",
                verdict=Verdict.INCONCLUSIVE,
                broken=f"E {HOSTILE}",
                traceback=f"Traceback\n  {HOSTILE}",
                witness={"kind": HOSTILE},
                certificate={"kind": "formula", "says": HOSTILE},
                figures=[
                    figure(name=HOSTILE, title=HOSTILE, caption=HOSTILE),
                    figure(
                        name="bad",
                        title="A bad one",
                        series=[SeriesRecord(label="l", x=[1.0], y=[1.0, 2.0])],
                    ),
                ],
            )
        ],
        mutants=[
            MutantRecord(
                name=HOSTILE,
                change=change(HOSTILE, HOSTILE),
                why_false=HOSTILE,
                rejected=False,
                by=[],
                blind={},
                survived=["search"],
            )
        ],
    )


def rich_report(**changes):
    claims = [
        rich_holds(),
        claim(
            "ren2024/theorem-3.1@no-query",
            verdict=Verdict.REFUTED,
            grade=Grade.CERTIFIED,
            scope="one witness suffices",
            reason="the query is missing from its own keys",
            checks=[check(verdict=Verdict.REFUTED, margin=-math.inf, witness=FORMULA)],
        ),
        claim(
            "huang2024/proposition-2",
            verdict=Verdict.REFUTED,
            grade=Grade.CERTIFIED,
            scope="one witness suffices",
            reason="five tokens suffice",
            nearest="huang2024/proposition-2/repaired",
            title="The max-margin solution",
            finding=FindingRecord(verdict=Verdict.REFUTED, reason="Hall's condition"),
            checks=[check(verdict=Verdict.REFUTED, margin=-2.5, witness=FORMULA)],
        ),
        claim(
            "huang2024/proposition-2/repaired",
            grade=Grade.NUMERIC,
            scope="k ≤ 6",
            title="The max-margin solution, block by block",
            wording="ours",
        ),
        rich_broken(),
        claim(
            "huang2024/step-d.1",
            kind=Kind.PROOF_STEP,
            verdict=Verdict.REFUTED,
            title="The proof's third inequality",
            reason="wrong sign",
        ),
        claim(
            "huang2024/figure-2",
            kind=Kind.EMPIRICAL,
            verdict=Verdict.INCONCLUSIVE,
            cause=Cause.RECIPE,
            reason="the step size is not given",
        ),
        claim(
            "huang2024/theorem-4",
            verdict=Verdict.NOT_RUN,
            reason="not run: rates",
            finding=FindingRecord(verdict=Verdict.HOLDS),
        ),
    ]
    base = {
        "verdict_digest": "sha256:" + "ab" * 32,
        "result_digest": "sha256:" + "cd" * 32,
        "run": RunRecord(
            id="20250101-120000-ab12",
            started="2025-01-01T12:00:00+00:00",
            seconds=312.4,
            profile="default",
            partial=True,
            seed=0,
            device="cpu",
            jobs=2,
            command="verify run --profile default",
            exit_code=3,
            red=[f"huang2024/lemma-5: BROKEN {HOSTILE}"],
            crashes=["worker gw1 was killed by signal 9"],
            notes=["no CUDA device: 2 optional checks did not run"],
        ),
        "provenance": {
            "git": {"commit": "0123abc", "dirty": False},
            "packages": {"numpy": "2.4.6", "torch": "2.13.0"},
            "platform": "Linux x86_64",
        },
        "error_budget": ErrorBudget(
            spent=2e-3,
            says="At most 0.002 by the union bound.",
            lines=[
                BudgetLine(
                    claim="ren2024/theorem-3.1@keys", check="trained_twin", level=1e-3
                )
            ],
        ),
        "papers": [
            PaperRecord(
                key="ren2024",
                title="Towards understanding how attention learns",
                authors="Ren and Liu",
                venue="NeurIPS 2024",
                arxiv="2310.13220",
                counts=Counts(holds=1, reading_dependent=1),
            ),
            PaperRecord(
                key="huang2024",
                title="Non-asymptotic convergence of training",
                authors="Huang, Liang and Yang",
                venue="NeurIPS 2024",
                arxiv="",
                counts=Counts(
                    holds=1, refuted=1, failing_steps=1, inconclusive=2, not_run=1
                ),
            ),
        ],
        "claims": claims,
    }
    return Report(**{**base, **changes})
