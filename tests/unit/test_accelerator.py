"""The device of a run: when torch has to be asked for a GPU, and when it need not."""

from types import SimpleNamespace

import pytest
import torch

from verify import accelerator
from verify.accelerator import cuda_is_there, device_of

CPU = """from typing import Optional
cuda: Optional[str] = None
hip: Optional[str] = None
"""


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Make torch seem to be built so; asked for a GPU, it sees one."""

    def made(version):
        (tmp_path / "version.py").write_text(version)
        spec = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
        monkeypatch.setattr(accelerator, "find_spec", {"torch": spec}.get)

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    return made


def config(device):
    return SimpleNamespace(option=SimpleNamespace(verify_device=device))


def test_a_build_for_cpus_is_not_asked(build):
    build(CPU)
    assert not cuda_is_there()
    assert device_of(config("auto")) == "cpu"
    with pytest.raises(pytest.UsageError, match="sees no CUDA device"):
        device_of(config("cuda"))


@pytest.mark.parametrize(
    "version",
    [
        CPU.replace("cuda: Optional[str] = None", "cuda = '12.8'"),
        CPU.replace("hip: Optional[str] = None", "hip = '6.4'"),
        "cuda = None\n",  # says nothing of ROCm
        "",
    ],
)
def test_any_other_build_is_asked(build, version):
    build(version)
    assert cuda_is_there()
    assert device_of(config("auto")) == device_of(config("cuda")) == "cuda"
    assert device_of(config("cpu")) == "cpu"


def test_torch_without_a_version_file_is_asked(build, tmp_path):
    build("")
    (tmp_path / "version.py").unlink()
    assert cuda_is_there()


def test_the_torch_that_is_here_agrees():
    assert cuda_is_there() is torch.cuda.is_available()
