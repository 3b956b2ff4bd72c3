"""The benchmark runs and says what it measures; how fast is not asserted."""

import json

import pytest

from benchmarks import margins
from verify.max_margin import order_margin


def test_the_quick_run_ends_in_one_line_of_figures(capsys):
    assert margins.main(["--quick", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["columns"] == 200
    assert 0 < figures["degenerate"] < 200
    assert figures["several_blocks"] > 0
    assert figures["solver_difference"] < 1e-3
    assert min(value for name, value in figures.items() if "_ms" in name) > 0


def test_a_margin_that_is_none_stops_the_benchmark():
    margin = order_margin([(0, 1)])
    margin.scores[0] *= 2
    with pytest.raises(AssertionError):
        margins.certify(margin)
    with pytest.raises(AssertionError):
        margins.recheck(margin)
