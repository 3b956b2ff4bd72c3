"""The store of trained runs: content-addressed, atomic, locked, checked when read.

An entry is one safetensors file named by its key. It is written beside its place and
then renamed, so that it is there whole or not at all; its header carries the chunk's
text, of which the key is the digest, and a digest of its tensors. What does not match
is put into quarantine and trained again.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import secrets
import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from verify.runs.errors import StoreError
from verify.runs.study import key_of

Arrays = Mapping[str, NDArray[Any]]
SUFFIX = ".safetensors"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True)
class Entry:
    """What the store has under a key.

    Attributes:
        text: The chunk's canonical JSON.
        arrays: Named arrays.
        made: Where, when and how long it was trained; enters no digest.
    """

    text: str
    arrays: Arrays
    made: Mapping[str, Any]


class Store:
    """A folder of trained chunks, shared by any number of processes.

    Args:
        folder: Made when something is first written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()

    @property
    def quarantine(self) -> Path:
        """Where entries go that are not what they say."""
        return self.folder / "quarantine"

    def path(self, key: str) -> Path:
        """The file of an entry."""
        return self.folder / "entries" / key[:2] / f"{key}{SUFFIX}"

    def has(self, key: str) -> bool:
        """Whether there is an entry; whether it is sound shows when it is read."""
        return self.path(key).is_file()

    def __iter__(self) -> Iterator[str]:
        """Iterate over the key of every entry."""
        for path in sorted(self.folder.glob(f"entries/*/*{SUFFIX}")):
            yield path.name.removesuffix(SUFFIX)

    def get(self, key: str) -> Entry | None:
        """Read and check an entry.

        Args:
            key: Of the chunk.

        Returns:
            The entry; None when there is none, or when it was damaged: then it has
            been moved to the quarantine.

        Raises:
            StoreError: The file is there and cannot be read.
        """
        path = self.path(key)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._trouble("read", error) from error
        entry = _decoded(data, key)
        if entry is None:
            self._put_aside(path)
        return entry

    def put(self, text: str, arrays: Arrays, made: Mapping[str, Any]) -> None:
        """Write an entry, whole or not at all.

        Args:
            text: The chunk's canonical JSON.
            arrays: Named arrays.
            made: Where, when and how long it was trained.

        Raises:
            StoreError: The folder is read-only, full or not there.
        """
        import safetensors.numpy

        arrays = {k: np.ascontiguousarray(a) for k, a in arrays.items()}
        header = {
            "chunk": text,
            "sha256": _digest(arrays),
            "made": json.dumps(dict(made), allow_nan=False),
        }
        path = self.path(key_of(text))
        temporary = path.parent / f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with temporary.open("xb") as file:
                    file.write(safetensors.numpy.save(dict(arrays), header))
                    file.flush()
                    os.fsync(file.fileno())
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
            _sync(path.parent)
        except OSError as error:
            raise self._trouble("write to", error) from error

    def require_writable(self) -> None:
        """Find out before training whether results can be kept.

        Raises:
            StoreError: They cannot.
        """
        probe = self.folder / f".probe-{os.getpid()}-{secrets.token_hex(4)}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                probe.write_bytes(b"0" * 4096)
            finally:
                probe.unlink(missing_ok=True)
        except OSError as error:
            raise self._trouble("write to", error) from error

    @contextlib.contextmanager
    def lock(self, key: str, *, wait: bool = True) -> Generator[bool, None, None]:
        """Hold the right to train a chunk; a killed holder frees it.

        Args:
            key: Of the chunk.
            wait: Wait for another holder.

        Yields:
            Whether it is held: always, unless ``wait`` is false.

        Raises:
            StoreError: The lock file cannot be made.
        """
        path = self.folder / "locks" / f"{key}.lock"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = FileLock(path, timeout=-1 if wait else 0, poll_interval=0.05)
            lock.acquire()
        except Timeout:
            yield False
            return
        except OSError as error:
            raise self._trouble("write to", error) from error
        try:
            yield True
        finally:
            lock.release()

    def touch(self, key: str) -> None:
        """Note that an entry was used, for ``gc``."""
        with contextlib.suppress(OSError):  # a shared read-only store is fine
            os.utime(self.path(key))

    def _put_aside(self, path: Path) -> None:
        place = self.quarantine / f"{path.name}.{time.time_ns()}"
        try:
            self.quarantine.mkdir(parents=True, exist_ok=True)
            path.replace(place)
        except FileNotFoundError:
            return  # another process was faster
        except OSError as error:
            raise self._trouble("put a damaged entry aside in", error) from error

    def _trouble(self, what: str, error: OSError) -> StoreError:
        why = "it is full" if error.errno in _FULL else error.strerror or str(error)
        return StoreError(
            f"cannot {what} the cache folder {self.folder}: {why}. Runs that are "
            "finished are kept; choose another folder with --cache or VERIFY_CACHE, or "
            "make room with `verify cache gc`"
        )


def _decoded(data: bytes, key: str) -> Entry | None:
    """Read an entry; None when any of it is not as it was written."""
    import safetensors.numpy
    from safetensors import SafetensorError

    try:
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        stored = header["__metadata__"]
        text, made = stored["chunk"], json.loads(stored["made"])
        arrays = safetensors.numpy.load(data)
    except (ValueError, KeyError, TypeError, SafetensorError, RecursionError):
        return None
    if key_of(text) != key or _digest(arrays) != stored.get("sha256"):
        return None
    return Entry(text, arrays, made)


def _digest(arrays: Arrays) -> str:
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        head = json.dumps([name, array.dtype.str, array.shape]).encode()
        digest.update(len(head).to_bytes(8, "little") + head + array.tobytes())
    return digest.hexdigest()


def _sync(folder: Path) -> None:
    """Make a rename last through a power cut, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
