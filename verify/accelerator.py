"""The device of a run: torch is asked for a GPU only where it may have one.

Importing torch takes seconds, and what starts a run needs nothing else of it.
"""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path

import pytest


def device_of(config: pytest.Config) -> str:
    """The device of the run.

    Args:
        config: With the option ``--verify-device``.

    Returns:
        ``cpu`` or ``cuda``.

    Raises:
        UsageError: CUDA was asked for and there is none.
    """
    wanted = str(config.option.verify_device)
    if wanted == "cpu":
        return "cpu"
    if cuda_is_there():
        return "cuda"
    if wanted == "cuda":
        raise pytest.UsageError(
            "--device cuda: torch sees no CUDA device; use --device cpu, or install a "
            "CUDA build (make verify TORCH=cuda)"
        )
    return "cpu"


def cuda_is_there() -> bool:
    """Whether torch sees a CUDA device; a build for CPUs alone is not imported."""
    if _for_cpus_alone():
        return False
    import torch

    return torch.cuda.is_available()


def _for_cpus_alone() -> bool:
    """Whether torch says in ``version.py`` that it was built without CUDA and ROCm."""
    spec = find_spec("torch")
    for place in (spec and spec.submodule_search_locations) or ():
        path = Path(place) / "version.py"
        if path.exists():
            said = _constants(path.read_text("utf-8"))
            return all(said.get(name, "?") is None for name in ("cuda", "hip"))
    return False  # torch is asked, or is missed where it is imported


def _constants(source: str) -> dict[str, object]:
    """Names to which a source assigns a constant; nothing is run."""
    found: dict[str, object] = {}
    for line in ast.parse(source).body:
        if not isinstance(line, ast.Assign | ast.AnnAssign):
            continue
        if not isinstance(line.value, ast.Constant):
            continue
        targets = line.targets if isinstance(line, ast.Assign) else [line.target]
        found |= {t.id: line.value.value for t in targets if isinstance(t, ast.Name)}
    return found
