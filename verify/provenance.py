"""Where a run was made: commit, packages, machine. Nothing here enters a digest."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from verify.catalog import Catalog

PACKAGES = (
    "clarabel",
    "cvxpy",
    "hypothesis",
    "mpmath",
    "numpy",
    "pytest",
    "python-flint",
    "scipy",
    "sympy",
    "theorem-verify",
    "torch",
)


def provenance(folder: Path, device: str = "cpu") -> dict[str, Any]:
    """Describe the code and the machine of a run.

    Args:
        folder: A folder of the project whose commit is recorded.
        device: ``cpu`` or ``cuda``; the GPU is named only for ``cuda``.

    Returns:
        Plain JSON data.
    """
    changes = _git(folder, "status", "--porcelain")
    facts: dict[str, Any] = {
        "commit": _git(folder, "rev-parse", "HEAD"),
        "uncommitted_changes": None if changes is None else bool(changes),
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "packages": {name: _version(name) for name in PACKAGES},
        "environment": {
            name: os.environ[name]
            for name in ("OPENBLAS_CORETYPE", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES")
            if name in os.environ
        },
    }
    if device == "cuda":
        facts["gpu"] = _gpu()
    return facts


def run_key(catalog: Catalog, facts: dict[str, Any]) -> str:
    """Digest of all that a resumed run must share with the run it continues."""
    parts = [catalog.digest(), *catalog.entries]
    parts += [f"{name} {version}" for name, version in facts["packages"].items()]
    parts += [str(facts["python"])]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.processor()


def _gpu() -> str:
    import torch

    properties = torch.cuda.get_device_properties(0)
    return f"{properties.name}, {properties.total_memory // 2**20} MiB"
