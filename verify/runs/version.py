"""The version of a trainer's code: a digest of what it can execute.

Comments, docstrings and layout do not count, so that writing does not retrain.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from verify.runs.errors import StudyError

ENGINE = "verify.train"  # the part of the engine that decides what is trained


@functools.cache
def code_version(module: str) -> str:
    """Digest the code of a trainer's module and of what it imports.

    Imports are followed, wherever they stand, into ``verify.train`` and into the
    trainer's own top-level package. Packages of others count by the version of torch.

    Args:
        module: Import name of the module that defines the trainer.

    Returns:
        32 hexadecimal digits.

    Raises:
        StudyError: The module cannot be found or read.
    """
    own = module.partition(".")[0]
    found: dict[str, ast.Module] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        tree = _tree(name)
        if tree is None:
            if name == module:
                raise StudyError(
                    f"no module {module!r} to train with; is its folder on sys.path?"
                )
            continue
        found[name] = tree
        waiting += [n for n in _imports(tree, name) if _counts(n, own)]
    parts = [f"{name}\n{ast.dump(tree)}\n" for name, tree in sorted(found.items())]
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:32]


def _counts(name: str, own: str) -> bool:
    top = name.partition(".")[0]
    if top == "verify":
        return f"{name}.".startswith(f"{ENGINE}.")
    return top == own


def _tree(name: str) -> ast.Module | None:
    """Parse a module without its docstrings; None when it is no Python file."""
    spec = _spec(name)
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        return None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if (
            isinstance(
                node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
            )
            and ast.get_docstring(node, clean=False) is not None
        ):
            node.body = node.body[1:]
    return tree


def _spec(name: str) -> ModuleSpec | None:
    """Find a module without importing its packages: an entry of a cache may name it."""
    first, *rest = name.split(".")
    try:
        spec, path = importlib.util.find_spec(first), first
        for part in rest:
            places = spec.submodule_search_locations if spec else None
            if places is None:
                return None
            path = f"{path}.{part}"
            spec = PathFinder.find_spec(path, places)
    except (ImportError, AttributeError, ValueError):  # a name of a module, no module
        return None
    return spec


def _imports(tree: ast.Module, module: str) -> Iterator[str]:
    """Every name that an import statement may load as a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:  # relative to the package
                package = module.rsplit(".", node.level)[0]
                base = f"{package}.{base}" if base else package
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
