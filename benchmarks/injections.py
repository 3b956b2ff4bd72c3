"""Faults of the machine, brought about on purpose, for the study of faults.

Nothing of this is in the product: disks are small mounts, the clock and torch are
changed by what the loader and the interpreter read from the environment.
"""

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Generator
from pathlib import Path

import psutil

MARK = "VERIFY_FAULT_TRIAL"  # in the environment of every process of a trial

CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

static const long long DAYS[] = {0, 400, -4000, 1, -1, 20};

int clock_gettime(clockid_t id, struct timespec *t)
{
    static int (*real)(clockid_t, struct timespec *);
    struct timespec m;
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(id, t);
    if (failed || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE)) return failed;
    real(CLOCK_MONOTONIC, &m);
    t->tv_sec += 86400 * DAYS[m.tv_sec / 2 % 6];  /* another jump every two seconds */
    return 0;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec s;
    (void) zone;
    clock_gettime(CLOCK_REALTIME, &s);
    t->tv_sec = s.tv_sec;
    t->tv_usec = s.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out)
{
    struct timespec s;
    clock_gettime(CLOCK_REALTIME, &s);
    if (out) *out = s.tv_sec;
    return s.tv_sec;
}
"""

# Loaded by every interpreter of the run. The error is raised once, inside a training.
SITE = r'''
"""Makes torch raise once in the middle of a study."""
import functools
import importlib.abc
import importlib.util
import os
import sys

FLAG, CALL = os.environ["FAULT_FLAG"], int(os.environ["FAULT_CALL"])
made = 0


def in_training():
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_name != "train_into":
        frame = frame.f_back
    return frame is not None


def failing(function):
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        global made
        if not os.path.exists(FLAG) and in_training():
            made += 1
            if made >= CALL:
                os.close(os.open(FLAG, os.O_CREAT | os.O_WRONLY))
                raise RuntimeError("CUDA error: unspecified launch failure (injected)")
        return function(*args, **kwargs)

    return wrapped


class AfterTorch(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def and_wrap(module):
            execute(module)
            module.where = failing(module.where)
            module.matmul = failing(module.matmul)
            module.einsum = failing(module.einsum)
            module.autograd.grad = failing(module.autograd.grad)

        spec.loader.exec_module = and_wrap
        return spec


sys.meta_path.insert(0, AfterTorch())
'''


class UnableError(RuntimeError):
    """A fault cannot be brought about on this machine; the message says why."""


class SmallDisk:
    """A file system in memory, of a size that can be changed, and read-only if asked.

    Args:
        folder: Where it is mounted; made when missing.
        kib: Size.

    Raises:
        UnableError: This user may not mount.
    """

    def __init__(self, folder: Path, kib: int) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._mount("-t", "tmpfs", "-o", f"size={kib}k", "tmpfs")

    def __enter__(self) -> "SmallDisk":
        """Enter."""
        return self

    def __exit__(self, *error: object) -> None:
        """Unmount, though processes that are being killed may still use it."""
        subprocess.run(["umount", "--lazy", str(self.folder)], check=False)

    def change(self, options: str) -> None:
        """Change its size or whether it may be written."""
        self._mount("-o", f"remount,{options}")

    def _mount(self, *words: str) -> None:
        command = ["mount", *words, str(self.folder)]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError as error:
            raise UnableError(f"no mount: {error.strerror}") from error
        if done.returncode:
            raise UnableError(f"cannot mount: {done.stderr.strip()}")


def jumping_clock(folder: Path) -> dict[str, str]:
    """Build the library that makes the wall clock jump.

    Args:
        folder: Where to build it.

    Returns:
        The environment that loads it.

    Raises:
        UnableError: There is no C compiler, or the library does not load.
    """
    compiler = shutil.which("cc")
    if compiler is None:
        raise UnableError("no C compiler for a library that shifts the clock")
    source, library = folder / "clock.c", folder / "clock.so"
    source.write_text(CLOCK, "utf-8")
    words = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source)]
    done = subprocess.run([*words, "-ldl"], capture_output=True, text=True)
    if done.returncode:
        raise UnableError(f"the library cannot be compiled: {done.stderr.strip()}")
    return {"LD_PRELOAD": str(library)}


def raising_torch(folder: Path, call: int) -> dict[str, str]:
    """Write what makes torch raise once, at a given call inside a training.

    Args:
        folder: Where to write it; one per run.
        call: Which call of a function of torch in a training process fails.

    Returns:
        The environment that loads it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sitecustomize.py").write_text(SITE, "utf-8")
    flag = folder / "raised"
    return {
        "PYTHONPATH": str(folder),
        "FAULT_FLAG": str(flag),
        "FAULT_CALL": str(call),
    }


def family(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Every process that descends from a command, itself first."""
    try:
        head = psutil.Process(process.pid)
        return [head, *head.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def controller(process: subprocess.Popen[bytes]) -> psutil.Process | None:
    """The pytest process of a run; None while it has not started."""
    for member in family(process)[1:]:
        with contextlib.suppress(psutil.Error):
            if "pytest" in member.cmdline():
                return member
    return None


def workers(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """The check workers of a distributed run."""
    head = controller(process)
    with contextlib.suppress(psutil.Error):
        if head is not None:
            return [
                p for p in head.children() if any("exec(" in w for w in p.cmdline())
            ]
    return []


def wait_for(
    found: Callable[[], object], process: subprocess.Popen[bytes], pause: float = 0.02
) -> bool:
    """Wait until something is there; False when the command ended before."""
    while not found():
        if process.poll() is not None:
            return False
        time.sleep(pause)
    return True


def kill_one(some: list[psutil.Process]) -> str:
    """Kill the first of some processes, as the kernel does when memory is short."""
    for victim in some:
        with contextlib.suppress(psutil.NoSuchProcess):
            victim.send_signal(signal.SIGKILL)
            return f"process {victim.pid} killed"
    return "nothing left to kill"


def starve(victim: psutil.Process, mib: int) -> str:
    """Let a process map no more than some memory beyond what it has."""
    with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
        limit = victim.memory_info().vms + (mib << 20)
        resource.prlimit(victim.pid, resource.RLIMIT_AS, (limit, limit))
        return f"{mib} MiB left to process {victim.pid}"
    return "the process had ended"


def outlived(mark: str, seconds: float = 30.0) -> list[int]:
    """Processes that carry a mark and are still there after some seconds."""
    until = time.monotonic() + seconds
    while (some := marked(mark)) and time.monotonic() < until:
        time.sleep(0.2)
    return some


def marked(mark: str) -> list[int]:
    """Processes that carry a mark in their environment."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if (
                process.environ().get(MARK) == mark
                and process.status() != psutil.STATUS_ZOMBIE
            ):
                found.append(process.pid)
    return found


@contextlib.contextmanager
def folder_for(root: Path, name: str) -> Generator[Path, None, None]:
    """Make a folder, and take it away in the end."""
    folder = root / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def room(folder: Path) -> int:
    """Bytes in all files below a folder."""
    return sum(p.stat().st_size for p in folder.rglob("*") if os.path.isfile(p))
