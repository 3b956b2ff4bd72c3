"""The power study at tiny size: honest instruments pass, planted faults show."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.power import (
    bound,
    direction,
    identity,
    noise,
    rate,
    run,
    study,
    summary,
    trees,
)
from benchmarks.power.cases import FAULT, Extra
from theorems.collins2024.window import bands
from verify import Holds, judge
from verify.fit import trend
from verify.fit.intervals import mean_interval
from verify.report.trust import parse
from verify.symbolic import prove_equal
from verify.train.seeds import seed_of

TINY = study.Sizes(true=6, false=6, curve=2, whole=2, extra=2)


def verdicts(family, name, count):
    block = study.Block(family, name, count)
    return [study.decided(block, number, 1)[1] for number in range(count)]


def too_narrow(values, level):
    return mean_interval(values, min(0.999, level * 1e5))


@pytest.mark.parametrize("family", study.FAMILIES)
def test_both_paths_agree_and_nothing_is_wrong(family):
    block = study.Block(family, study.WHOLE, 4)
    for number in range(4):
        truth, verdict, same = study.decided(block, number, 1)
        assert same
        assert verdict != {"true": "REFUTED", "false": "HOLDS"}[truth]
        assert verdict != FAULT


@pytest.mark.parametrize(
    ("family", "module"), [("exponent", bands), ("monotone trend", trend)]
)
def test_a_wrong_level_refutes_true_claims(monkeypatch, family, module):
    assert "REFUTED" not in verdicts(family, study.TRUE, 60)
    monkeypatch.setattr(module, "mean_interval", too_narrow)
    monkeypatch.setattr("verify.fit.intervals.STANDARD_ERRORS", 0.0)
    assert "REFUTED" in verdicts(family, study.TRUE, 60)


def test_floating_point_refutes_bounds_that_are_attained(monkeypatch):
    """By rounding: the recheck of the witness finds it, and without it nothing does."""
    assert {*verdicts("bound", study.TRUE, 25)} == {"HOLDS"}
    monkeypatch.setattr(bound, "BACKEND", "numpy")
    found = {*verdicts("bound", study.TRUE, 25)}
    assert FAULT in found
    assert "REFUTED" not in found
    monkeypatch.setattr(judge, "_invalid", lambda role, record: "")
    assert "REFUTED" in verdicts("bound", study.TRUE, 25)


def test_a_blunt_comparison_of_scores_misses_what_is_false(monkeypatch):
    assert {*verdicts("direction", study.FALSE, 20)} == {"REFUTED"}

    def blunt(claim):
        claimed = [float(x) for x in claim.scores]
        problem = claim.domain
        if isinstance(problem, direction.Order):
            found = [*direction.order_margin(problem.edges).scores.values()]
        else:
            found = direction.minimise(problem.rows, problem.bounds).solution
        assert np.allclose([float(x) for x in found], claimed)
        return Holds("close")

    family = study.FAMILIES["direction"]
    changed = study.FAMILIES | {"direction": replace(family, decide=blunt)}
    monkeypatch.setattr(study, "FAMILIES", changed)
    assert "HOLDS" in verdicts("direction", study.FALSE, 20)


def test_a_law_without_its_bend_holds_of_other_exponents(monkeypatch):
    assert {*verdicts("rate", "curve/0.1", 20)} == {"REFUTED"}
    monkeypatch.setattr("theorems.huang2024.rates.decay.resolution", lambda t: 10.0)
    assert "REFUTED" in verdicts("rate", study.TRUE, 10)  # the lead is never enough


def test_a_prover_that_proves_everything_is_found(monkeypatch):
    assert "HOLDS" not in verdicts("identity", study.FALSE, 8)

    def always(left, right):
        return prove_equal(left, left)

    monkeypatch.setattr("verify.symbolic.identity.prove_equal", always)
    monkeypatch.setattr("benchmarks.power.identity.prove_equal", always)
    assert {"HOLDS", FAULT} & {*verdicts("identity", study.FALSE, 8)}


@pytest.mark.parametrize(
    ("name", "count", "number", "root", "verdict"),
    [
        # Floats are finite where a side has a pole.
        (study.FALSE, study.FULL.false, 419, 1, "REFUTED"),
        # The left side is 0 on the instances that were drawn first.
        (study.WHOLE, study.FULL.whole, 62, 1, "HOLDS"),
        # The right side is wrong by a factor of 3, as a mutant would be.
        (study.WHOLE, study.FULL.whole, 211, 2, "REFUTED"),
    ],
)
def test_identities_of_other_root_seeds(name, count, number, root, verdict):
    block = study.Block("identity", name, count)
    assert study.decided(block, number, root)[1:] == (verdict, True)


def test_rewriting_keeps_the_value_and_the_truth_is_decided_apart():
    rng = np.random.default_rng(5)
    for _ in range(40):
        sort, left, right = identity._pair(rng)
        assert trees.equal(left, right, rng)
        if sort in {"scalars", "exponentials"}:
            assert not trees.equal(left, ("add", right, trees.number(1, 7)), rng)
    x = ("scalar", 0)
    assert trees.equal(("power", ("exp", 1, 0, -1), 2), ("exp", 2, 0, -2), rng)
    with pytest.raises(trees.UnusableError):
        trees.residue(("div", x, trees.number(0)), trees.point(rng))


@pytest.mark.parametrize("name", [*noise.LAWS, *noise.BEYOND])
def test_noise_has_mean_0_and_spread_1(name):
    """Means over 200,000 numbers, within 6 standard errors of their law."""
    law = (noise.LAWS | noise.BEYOND)[name]
    rng = np.random.default_rng(seed_of(0, name))
    values = law(rng, (200_000, 1))
    if name == "seeds correlated by 0.1":  # a common part stays in the mean
        values = np.concatenate([law(rng, (50, 1)) for _ in range(4000)])
        assert abs(values.mean()) < 6 * np.sqrt((0.1 + 0.9 / 50) / 4000)
    else:
        assert abs(values.mean()) < 6 / np.sqrt(200_000)
    # Fourth moments are infinite for t with 3 degrees: a wide range for all.
    assert 0.7 < values.std() < 1.4


def test_planted_problems_have_the_planted_solution():
    rng = np.random.default_rng(2)
    tight = 0
    for _ in range(30):
        problem, scores = direction.planted(rng)
        found = direction.minimise(problem.rows, problem.bounds)
        assert [*found.solution] == scores
        tight += len(found.tight) > sum(y > 0 for y in found.multipliers)
        order, scores, _ = direction.blocks(rng)
        assert [*direction.order_margin(order.edges).scores.values()] == scores
    assert tight > 3  # degenerate problems are among them


def test_a_study_is_resumed_and_refuses_lines_of_others(tmp_path, monkeypatch):
    path, names = tmp_path / "lines.jsonl", ["direction", "rate"]
    blocks = study.blocks(TINY, names)
    lines = study.Lines.open(path, TINY, 0)
    study.run(lines, blocks[:3], jobs=1)
    whole = path.read_text()
    path.write_text(whole + '{"key": ["direction", "tr')  # killed while it wrote
    again = study.Lines.open(path, TINY, 0)
    assert again.done == lines.done
    assert path.read_text() == whole
    calls = []
    monkeypatch.setattr(study, "run_chunk", counted(study.run_chunk, calls))
    study.run(again, blocks, jobs=1)
    assert len(calls) == len(blocks) - 3
    with pytest.raises(study.StudyError, match="other sizes, another seed"):
        study.Lines.open(path, TINY, 1)
    found = summary.measured(again, blocks)
    assert [one.true.n for one in found] == [6, 6]
    assert json.loads(json.dumps(summary.results(found, again)))["families"]


def counted(function, calls):
    def call(*given):
        calls.append(given)
        return function(*given)

    return call


def tally(**verdicts):
    found = summary.Tally()
    found.add({"verdicts": {"all": verdicts}, "apart": 0, "wrong": [], "seconds": 1.0})
    return found


def of_exponents(true, false, curve):
    family = study.FAMILIES["exponent"]
    whole, curve = tally(HOLDS=240), {w: tally(**v) for w, v in curve.items()}
    return summary.Measured(family, true, false, whole, curve, {})


def test_the_table_counts_bounds_and_names_what_was_missed():
    curve = {
        1.5: {"REFUTED": 50, "INCONCLUSIVE": 50},
        2.0: {"REFUTED": 98, "INCONCLUSIVE": 2},
        3.0: {"REFUTED": 99, "INCONCLUSIVE": 1},
        4.0: {"REFUTED": 100},
    }
    good = of_exponents(
        tally(HOLDS=29_000, INCONCLUSIVE=1000), tally(REFUTED=3000), curve
    )
    row = dict(zip(summary.COLUMNS, good.row(), strict=True))
    assert (row["false-REFUTED"], row["inconclusive, true"]) == (0, 1000)
    assert row["upper 95 %, REFUTED"] == pytest.approx(3 / 30_000, rel=2e-3)
    assert row["resolution at .99"] == "3"
    assert good.missed == []
    bad = of_exponents(
        tally(HOLDS=29_990, REFUTED=10), tally(REFUTED=2990, HOLDS=9, FAULT=1), curve
    )
    assert len(bad.missed) == 3
    assert "were missed: exponent: 10 of 30000 true" in summary.says([bad])
    assert "below the targets" in summary.says([good])


def test_what_is_shipped_can_be_read_by_the_report(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(study, "FULL", TINY)
    monkeypatch.setattr(run, "TRUST", tmp_path / "trust" / "power.json")
    monkeypatch.setattr(run, "RESULTS", tmp_path / "results.json")
    assert run.main(["--write", "--small"]) == 2
    cheap = {"rate": replace(study.FAMILIES["rate"], extras=EXTRAS)}
    monkeypatch.setattr(study, "FAMILIES", cheap)
    monkeypatch.setattr(summary, "FAMILIES", cheap)
    lines = str(tmp_path / "lines.jsonl")
    assert run.main(["--write", "--jobs", "1", "--lines", lines]) == 0
    read = parse(json.loads((tmp_path / "trust" / "power.json").read_text()))
    assert (read.name, len(read.rows)) == ("power", 1)
    assert "Outside the assumptions, rate: of 2 true laws" in read.notes[-1]
    assert json.loads((tmp_path / "results.json").read_text())["families"]["rate"]
    assert "HOLDS" in shown(capsys, "rate/true/0")
    assert run.main(["--case", "rate/true/x"]) == 2


EXTRAS = {"slow": Extra("true laws, slow", True, rate.slowly)}


def shown(capsys, case):
    capsys.readouterr()
    assert run.main(["--case", case]) == 0
    return capsys.readouterr().out
