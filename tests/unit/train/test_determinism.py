import os

import pytest
import torch

from verify.train.determinism import deterministic, generator, per_run


def normal(g):
    return torch.randn(3, 5, generator=g, dtype=torch.float64)


def state():
    matmul = torch.backends.cuda.matmul.fp32_precision
    return (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
        matmul,
        torch.backends.cudnn.conv.fp32_precision,
        torch.backends.mkldnn.matmul.fp32_precision,
        torch.get_num_threads(),
        os.environ.get("CUBLAS_WORKSPACE_CONFIG"),
    )


def test_generator_repeats_and_separates_streams():
    assert torch.equal(normal(generator(1, "a")), normal(generator(1, "a")))
    assert not torch.equal(normal(generator(1, "a")), normal(generator(1, "b")))


def test_generator_leaves_the_global_stream_alone():
    before = torch.get_rng_state()
    normal(generator(1, "a"))
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("cut", [1, 3, 6])
def test_draws_do_not_depend_on_the_split_of_the_runs(cut):
    seeds = [11, 5, 8, 2, 9, 30, 4]
    whole = per_run(normal, seeds, "data")
    parts = [per_run(normal, part, "data") for part in (seeds[:cut], seeds[cut:])]
    assert whole.shape == (7, 3, 5)
    assert torch.equal(whole, torch.cat(parts))


def test_no_runs_is_an_error():
    with pytest.raises(ValueError, match="`seeds`"):
        per_run(normal, [], "data")


def test_inside_everything_is_strict():
    with deterministic(threads=1):
        enabled, warn_only, *precisions, threads, workspace = state()
        assert (enabled, warn_only, threads) == (True, False, 1)
        assert set(precisions) == {"ieee"}
        assert workspace in {":4096:8", ":16:8"}
        assert torch.get_float32_matmul_precision() == "highest"


@pytest.fixture
def unusual_settings(monkeypatch):
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    threads = torch.get_num_threads()
    matmul = torch.backends.cuda.matmul
    precision = matmul.fp32_precision
    matmul.fp32_precision = "tf32"
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.set_num_threads(2)
    yield state()
    matmul.fp32_precision = precision
    torch.use_deterministic_algorithms(False)
    torch.set_num_threads(threads)


def test_everything_is_restored(unusual_settings):
    with deterministic(threads=1):
        assert state() != unusual_settings
    assert state() == unusual_settings


def test_everything_is_restored_after_an_error(unusual_settings):
    with pytest.raises(KeyError), deterministic(threads=1):
        raise KeyError
    assert state() == unusual_settings
