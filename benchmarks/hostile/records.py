"""Sound records to start from: a witness of each kind, and a report with every field.

Everything is plain JSON data, written down here and sealed with the digests of
`verify.recheck`, so that what is changed afterwards is the only fault in it.
"""

import copy
import hashlib
import json
from collections.abc import Iterator
from typing import Any

from verify import recheck

Json = Any

A = [["1/2", "-3"], ["0x1.8p+3", "2/7"]]
FORMULAS = {
    "rational": (
        {"A": A, "b": "1/3"},
        [
            ">",
            ["add", ["entry", ["in", "A"], 1, 0], ["pow", ["in", "b"], 2]],
            ["mul", ["neg", "1/2"], ["total", ["transpose", ["in", "A"]]]],
        ],
    ),
    "elementary": (
        {"x": "0x1.4p+0"},
        [
            "<",
            ["mul", ["exp", ["neg", ["in", "x"]]], ["log", ["add", 1, ["in", "x"]]]],
            ["sqrt", ["sub", ["in", "x"], "2/3"]],
        ],
    ),
    "sum": (
        {"n": 12},
        [
            ">=",
            ["sum", "i", 1, ["in", "n"], ["div", 1, ["in", "i"]]],
            ["max", ["log", ["in", "n"]], ["pow", ["in", "n"], "1/3"]],
        ],
    ),
    "matrix": (
        {"A": [[1, "1/2"], ["-2/3", 4]], "B": [[0, 1], [2, "5/7"]]},
        [
            "!=",
            ["matmul", ["in", "A"], ["in", "B"]],
            ["matmul", ["in", "B"], ["in", "A"]],
        ],
    ),
    "equal": (
        {"a": "7/5", "k": 4},
        [
            "==",
            ["div", ["sub", 1, ["pow", ["in", "a"], ["in", "k"]]], ["sub", 1, "7/5"]],
            ["sum", "j", 0, ["sub", ["in", "k"], 1], ["pow", ["in", "a"], ["in", "j"]]],
        ],
    ),
}


def formula(name: str) -> Json:
    """One of FORMULAS as a record."""
    inputs, relation = copy.deepcopy(FORMULAS[name])
    made = {"kind": "formula", "says": f"{name}: by hand", "inputs": inputs}
    return made | {"relation": relation}


def table(aggregate: str) -> Json:
    """Slopes of eight seeds against a bound."""
    rows = [[i, (0.25 + i / 64).hex(), f"{i}/9"] for i in range(8)]
    # The means are 0.359375 and 7/18; the least and largest slope 0.25 and 0.359375.
    left = ["add", ["in", "slope"], ["mul", "1/100", ["in", "extra"]]]
    bound = {"all": "3/8", "any": "13/50", "mean": "0x1.4p-2"}[aggregate]
    relation = ["<=", left, bound]
    if aggregate == "all":
        rows = [[i, x, 0] for i, x, _ in rows]
    return {
        "kind": "table",
        "says": "The slope of every seed.",
        "columns": ["seed", "slope", "extra"],
        "rows": rows,
        "aggregate": aggregate,
        "relation": relation,
    }


def kkt() -> Json:
    """The point of least norm with x - y ≥ 1 and x + 3y ≥ -4; only the first binds."""
    return resealed({
        "kind": "kkt",
        "says": "The margin is 1/2.",
        "rows": [[{"x": 1, "y": -1}, 1, "1/2"], [{"x": 1, "y": 3}, -4, 0]],
        "solution": {"x": "1/2", "y": "-1/2"},
        "compare": {"x": "2/3"},
        "digest": "",
    })  # fmt: skip


def family() -> Json:
    """A bound in one variable that tends to 0."""
    return {
        "kind": "family",
        "says": "The ratio tends to 0.",
        "variable": "n",
        "bound": ["div", 3, ["sqrt", ["in", "n"]]],
        "toward": "0",
        "instances": [
            {"at": 100, "relation": "<", "value": "1/3"},
            {"at": "400", "relation": "<=", "value": "1/6"},
            {"at": 10_000, "relation": "<", "value": "1/30"},
        ],
        "limit": "a negative power of n",
    }


def polynomials() -> list[Json]:
    """Positive on a box by Bernstein coefficients, and everywhere by squares."""
    box = {
        "kind": "polynomial",
        "says": "x^2 - xy + y^2 + 1/8 > 0 on the box",
        "variables": ["x", "y"],
        "terms": [[1, [2, 0]], [-1, [1, 1]], [1, [0, 2]], ["1/8", [0, 0]]],
        "relation": ">",
        "box": [["0", "1"], ["-1/2", "3/4"]],
        "cells": [0, [1, None, None], [1, None, None]],
        "squares": [],
    }
    squares = {
        "kind": "polynomial",
        "says": "x^2 - 2xy + 2y^2 >= 0",
        "variables": ["x", "y"],
        "terms": [[1, [2, 0]], [-2, [1, 1]], [2, [0, 2]]],
        "relation": ">=",
        "box": None,
        "cells": None,
        "squares": [[1, [[1, [1, 0]], [-1, [0, 1]]]], [1, [[1, [0, 1]]]]],
    }
    return [box, squares]


def enclosure() -> Json:
    """An integral of a Gaussian against the error function."""
    body = ["exp", ["neg", ["pow", ["in", "t"], 2]]]
    scaled = [
        "mul",
        ["div", 2, ["sqrt", ["pi"]]],
        ["integral", "t", 0, ["in", "b"], body],
    ]
    return {
        "kind": "enclosure",
        "says": "The integral is below its bound.",
        "inputs": {"b": "3/2"},
        "relation": ["<", scaled, ["add", ["erf", ["in", "b"]], "1/1000"]],
    }


def resealed(record: Json) -> Json:
    """A kkt record with the digest of its numbers; others as they are."""
    if isinstance(record, dict) and record.get("kind") == "kkt":
        parts = [record.get(key) for key in ("rows", "solution", "compare")]
        text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
        record["digest"] = hashlib.sha256(text.encode()).hexdigest()
    return record


def every() -> list[Json]:
    """One record of each sort, all of them true."""
    return [
        *map(formula, FORMULAS),
        *map(table, ("all", "any", "mean")),
        kkt(),
        family(),
        *polynomials(),
        enclosure(),
    ]  # fmt: skip


def _change(text: str) -> Json:
    return {"rate": {"text": text, "latex": text}}


def _figure() -> Json:
    series = {
        "label": "trained", "x": [1.0, 2.0, 4.0], "y": [0.1, None, 0.3],
        "low": [0.0, None, 0.2], "high": [0.2, None, 0.4], "style": "line",
    }  # fmt: skip
    return {
        "name": "slopes", "title": "Local slope", "x_label": "L", "y_label": "slope",
        "series": [series], "x_log": True, "y_log": False, "marks": {"claimed": 2.0},
        "bands": {"range": [0.1, 0.2]}, "caption": "Mean over seeds.",
    }  # fmt: skip


def _trial(witness: Json) -> Json:
    return {
        "role": "mutant", "name": "half", "verdict": "REFUTED", "rejected": True,
        "reason": "differs by 1/2", "error": "", "measured": "1/2", "margin": -8.5,
        "witness": witness,
    }  # fmt: skip


def check(claim: str, name: str, certificate: Json, witness: Json = None) -> Json:
    """A check with every field filled."""
    resolution = {
        "parameter": "rate", "claimed": "1/3", "decisions": 8, "monotone": True,
        "below": {"accepted": 0.33, "rejected": 0.3}, "above": {"rejected": "0.4"},
    }  # fmt: skip
    study = {
        "name": "slopes", "runs": 32, "diverged": 1, "device": "cpu",
        "dtype": "float64", "keys": ["0123abcd"], "seconds": 2.5,
    }  # fmt: skip
    return {
        "claim": claim, "name": name, "node": f"theorems/p/x.py::{name}",
        "role": "check", "assumption": "", "needed": None, "grade": "certified",
        "scope": "all", "optional": False, "cause": None, "broken": "",
        "verdict": "REFUTED" if witness else "HOLDS", "reason": "by hand",
        "measured": 0.25, "target": "1/3", "margin": 0.5, "interval": [0.2, 0.3],
        "level": 1e-6, "n": 32, "discards": {"diverged": 1}, "seconds": 4.5,
        "seed": 17, "searched": "", "steps": ["Expand.", "Collect."],
        "resolution": [resolution], "witness": witness, "certificate": certificate,
        "figures": [_figure()], "trials": [_trial(formula("rational"))],
        "tightness": [{"bound": "B.2", "observed_over_bound": 0.9, "witness": None}],
        "studies": [study], "traceback": "",
    }  # fmt: skip


def claim(name: str, checks: list[Json], verdict: str = "HOLDS") -> Json:
    """A claim with every field filled."""
    mutant = {
        "name": "half", "change": _change("1/2"), "why_false": "the rate is 1/3",
        "rejected": True, "by": ["proof"], "blind": {"other": "too coarse"},
        "survived": [], "not_run": [], "witness": None,
    }  # fmt: skip
    anchor = {
        "name": "repaired", "change": _change("1/4"), "why_true": "Lemma 2",
        "refuted": False, "held": ["proof"], "witness": None,
    }  # fmt: skip
    variant = {
        "name": "53 for 106", "change": _change("53"), "why_unknown": "slack",
        "verdicts": {"proof": "INCONCLUSIVE"},
    }  # fmt: skip
    need = {
        "assumption": "h", "verdict": "needed", "expected": "needed", "check": "drop",
        "reason": "", "searched": "3 × 3", "n": 9, "witness": table("all"),
    }  # fmt: skip
    refuted = verdict == "REFUTED"
    return {
        "id": name, "paper": "p", "kind": "theorem", "wording": "printed",
        "reading": name.partition("@")[2], "title": "A rate", "differs": "",
        "statement_text": "The rate is 1/3 for all x_1 ≤ 2^n.", "fault": None,
        "statement_latex": r"\eta \le \frac{1}{3}", "quantifiers": "every x ≥ 1",
        "source": "Theorem 1", "parameters": _change("1/3"),
        "assumptions": [{"id": "h", "says": "x is positive."}],
        "finding": {"verdict": verdict, "reason": "as found", "cause": None},
        "nearest": "p/theorem-2" if refuted else "", "weaker": "",
        "module": "theorems/p/theorem_1.py", "verdict": verdict, "grade": "certified",
        "scope": "all", "cause": None, "reason": "by hand", "checks": checks,
        "command": f"verify run '{name}'", "mutants": [mutant], "anchors": [anchor],
        "variants": [variant], "necessity": [need],
        "tightness": [{"bound": "B.2", "observed_over_bound": 0.9, "witness": None}],
    }  # fmt: skip


def report() -> Json:
    """A sealed report with a record of every kind and every field filled."""
    claims = []
    for i, record in enumerate(every()):
        name = f"p/theorem-{i + 3}/part@x"
        claims.append(claim(name, [check(name, "proof", record)]))
    refutes = [check("p/theorem-2", "search", None, formula("sum"))]
    claims.append(claim("p/theorem-2", refutes, "REFUTED"))
    counts = {
        "holds": len(claims) - 1, "refuted": 1, "reading_dependent": 0,
        "failing_steps": 0, "inconclusive": 0, "not_run": 0,
    }  # fmt: skip
    paper = {
        "key": "p", "title": "On rates", "authors": "A. Author", "venue": "V 2024",
        "arxiv": "2401.00001", "counts": counts,
    }  # fmt: skip
    run = {
        "id": "20250101T120000-1", "started": "2025-01-01T12:00:00+00:00",
        "seconds": 12.5, "profile": "smoke", "partial": False, "seed": 0,
        "device": "cpu", "jobs": 2, "command": "verify run", "exit_code": 0,
        "red": [], "crashes": [], "notes": ["no CUDA device"],
    }  # fmt: skip
    own = {
        "name": "two ways", "says": "Both agree.", "verdict": "AGREE", "n": 2,
        "measured": 1e-12, "bound": 1e-9, "why_bound": "rounding", "seconds": 0.5,
        "reason": "",
    }  # fmt: skip
    budget = {
        "spent": 1e-6, "says": "At most 1e-6.",
        "lines": [{"claim": "p/theorem-2", "check": "search", "level": 1e-6}],
    }  # fmt: skip
    return sealed({
        "schema_version": 1, "run": run, "papers": [paper], "claims": claims,
        "provenance": {"git": {"commit": "0123abc"}, "python": "3.11"},
        "error_budget": budget, "self_checks": [own],
    })  # fmt: skip


def sealed(made: Json) -> Json:
    """A report with the digests of its content, where it has any."""
    for digest in (recheck.verdict_digest, recheck.result_digest):
        try:
            made[digest.__name__] = digest(made)
        except recheck.RecheckError:
            made[digest.__name__] = "0" * 64
    return made


def singles(whole: Json, most: int) -> Iterator[Json]:
    """Sealed reports of one claim each, those of at most so many characters."""
    for one in whole["claims"]:
        if len(json.dumps(one)) <= most:
            yield sealed(whole | {"claims": [one]})


def journal(whole: Json) -> bytes:
    """The journal of the run that a report tells of."""
    run = {key: whole["run"][key] for key in _OF_RUN}
    declared = [
        {key: one[key] for key in one if key not in _RESULTS}
        | {"needs": [{"grades": ["certified"], "everywhere": True}]}
        | {"recipe_complete": True, "variations": [_variation()]}
        | {"checks": [{k: x[k] for k in _OF_CHECK} for x in one["checks"]]}
        for one in whole["claims"]
    ]
    header = run | {"schema_version": 1, "key": "k", "papers": whole["papers"]}
    header |= {"claims": declared, "provenance": {}}
    header["self_checks"] = whole.get("self_checks", [])
    lines = [{"type": "header"} | header]
    lines += [{"type": "check"} | x for c in whole["claims"] for x in c["checks"]]
    lines += [{"type": "self-check"} | x for x in header["self_checks"]]
    lines += [{"type": "end", "exit_code": 0, "seconds": 12.5}]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


_OF_RUN = (
    "id", "started", "profile", "seed", "device", "jobs", "command", "partial", "notes",
)  # fmt: skip
_OF_CHECK = (
    "name", "node", "role", "grade", "scope", "optional", "assumption", "needed",
)  # fmt: skip
_RESULTS = {
    "verdict", "fault", "differs", "grade", "scope", "cause", "reason", "command",
    "checks", "mutants", "anchors", "variants", "necessity", "tightness",
}  # fmt: skip


def _variation() -> Json:
    return {
        "role": "mutant", "name": "half", "why": "the rate is 1/3",
        "change": _change("1/2"), "blind": {},
    }  # fmt: skip
