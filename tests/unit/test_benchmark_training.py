"""The benchmark runs and says what it measures; how fast is not asserted."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from benchmarks import training

SCRIPT = Path(training.__file__)


@pytest.fixture(autouse=True)
def threads_are_restored():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def numbers(value):
    if isinstance(value, dict):
        for name, part in value.items():
            # A fitted intercept may have either sign.
            yield from () if name == "overhead" else numbers(part)
    elif isinstance(value, list):
        for part in value:
            yield from numbers(part)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def test_the_quick_run_ends_in_one_line_of_figures(tmp_path):
    done = subprocess.run(
        [sys.executable, SCRIPT, "--quick", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures.keys() >= {
        "speedup_over_naive",
        "ngd_us_per_seed_step",
        "peers",
        "scaling",
        "device",
        "threads",
        "torch",
    }
    assert figures["device"] == "cpu"
    assert figures["threads"] == 1
    assert figures["torch"] == torch.__version__
    assert [row["runs"] for row in figures["scaling"]["runs"]] == [1, 4, 16, 64, 256]
    # Rounding, where the loop and the batch agree; everything else is a time.
    peer = figures["peers"]["literal_loop"]
    assert peer.pop("difference") <= 1e-12
    assert all(number > 0 for number in numbers(figures))


def test_no_gpu_is_one_line_and_exit_code_2(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert training.main(["--device", "cuda", "--json"]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert len(err.splitlines()) == 1
    assert "--device cuda" in err


def test_the_gpus_path_runs_on_a_cpu(monkeypatch, capsys):
    # Two threads on a busy machine wait for each other at every call.
    monkeypatch.setattr(training.os, "cpu_count", lambda: 1)
    result = training.device_case("cpu", quick=True, top=4)
    lines = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
    assert lines.pop() == result
    assert result["gpu_over_cpu_at_4"] > 0
    assert [line["runs"] for line in lines] == 2 * [1, 4, 16, 4, 4]
    assert [line["case"] for line in lines] == 5 * ["study"] + 5 * ["ngd"]


def test_the_step_a_graph_captures_is_that_of_the_loop():
    data = training.margin_data(5, "cpu")
    W = training.still(5, "cpu")
    place = W.data_ptr()
    for _ in range(7):
        training.one_step(W, data)
    expected = training.margins(data)(7, None).params["W"]
    assert torch.equal(W, expected)
    assert W.data_ptr() == place


def test_a_graph_that_cannot_be_captured_says_so():
    if torch.cuda.is_available():
        pytest.skip("captures here")
    assert training.graph_us(training.margin_data(2, "cpu"), 1).startswith("failed: ")


def test_saturation_recovers_a_planted_machine():
    rows = [
        {"runs": r, "us_per_run_step": 300 / r + 2}
        for r in (1, 4, 16, 256, 4096, 16384)
    ]
    found = training.saturation(rows)
    assert found["us_per_step"]["overhead"] == pytest.approx(300)
    assert found["us_per_step"]["slope"] == pytest.approx(2)
    assert found["us_per_step"]["misfit"] < 1e-9
    assert found["saturates_at_runs"] == 4096
    assert found["linear_range"] == [4096, 16384]
