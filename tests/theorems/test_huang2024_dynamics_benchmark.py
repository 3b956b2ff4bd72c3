"""The benchmark of Algorithm 1 runs and says what it measures; not how fast."""

import json

import pytest
import torch

from benchmarks import ngd


@pytest.fixture(autouse=True)
def threads_are_restored():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_the_quick_run_ends_in_one_line_of_figures(capsys):
    assert ngd.main(["--quick", "--json"]) == 0
    out = capsys.readouterr().out
    figures = json.loads(out.splitlines()[-1])
    assert figures.keys() == {"start_s", "literal", "step", "horizon", "torch"}
    assert figures["literal"]["difference"] <= 1e-12
    assert figures["torch"]["difference"] <= 1e-11
    assert all(figures["step"][phase] > 0 for phase in ("early_us", "late_us"))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_says_so(capsys):
    assert ngd.main(["--device", "cuda"]) == 2
    assert "no" in capsys.readouterr().err
