"""All mutants of a module: the operators of mutmut, applied one place at a time.

mutmut itself leaves out decorated functions, class bodies and module constants. Here
those are mutated as well, since a table of signs or the cost of an operation can be as
wrong as a loop. Left out is what no run can see, or what says something to people only:

* annotations, docstrings, imports for type checkers, the first argument of ``cast``;
* literals with a blank inside functions: the wording of messages. That a message is
  there, and which one, is mutated through its call.

A mutant has a name that survives changes elsewhere in the file, so that an explanation
in ``survivors.md`` stays with it.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import libcst as cst
from libcst import matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators

TYPES_ONLY = m.If(test=m.Name("TYPE_CHECKING"))
DOCSTRING = m.Expr(value=m.SimpleString() | m.ConcatenatedString())
CAST = m.Call(func=m.Name("cast"))
Span = tuple[int, int, int, int]  # from line and column, to line and column


@dataclass(frozen=True)
class Mutant:
    """One change of one place.

    Attributes:
        name: ``path::function::digest``, unchanged by edits elsewhere.
        path: The module, relative to the repository.
        where: Function or class, dotted; ``<module>`` outside of any.
        span: Where the place begins and ends: line, column, line, column.
        original: The node that is replaced.
        changed: What replaces it.
        code: The text of the module.
        module: The tree that it is replaced in.
    """

    name: str
    path: str
    where: str
    span: Span
    original: cst.CSTNode = field(repr=False)
    changed: cst.CSTNode = field(repr=False)
    code: str = field(repr=False)
    module: cst.Module = field(repr=False)

    @cached_property
    def source(self) -> str:
        """The module with the change."""
        code, old = self.code, self.module.code_for_node(self.original)
        lines = code.splitlines(keepends=True)
        first, left, last, right = self.span
        start = sum(map(len, lines[: first - 1])) + left
        end = sum(map(len, lines[: last - 1])) + right
        if code[start:end] == old:  # ten times as fast as replacing in the tree
            return code[:start] + self.module.code_for_node(self.changed) + code[end:]
        changed = self.module.deep_replace(self.original, self.changed)
        return cst.ensure_type(changed, cst.Module).code

    @property
    def diff(self) -> tuple[str, str]:
        """The lines that go and those that come, on one line each."""
        texts = (self.code.splitlines(), self.source.splitlines())
        found = list(difflib.unified_diff(*texts, n=0, lineterm=""))[2:]
        old = " ".join(x[1:].strip() for x in found if x.startswith("-"))
        new = " ".join(x[1:].strip() for x in found if x.startswith("+"))
        return old, new

    @property
    def compiles(self) -> bool:
        """Whether it is Python, and another text than the original."""
        try:
            ast.parse(self.source)
        except SyntaxError:
            return False
        return self.source != self.code


def mutants(root: Path, path: str) -> list[Mutant]:
    """All mutants of a module in the order of its text.

    Args:
        root: The repository.
        path: The module, relative to it.

    Returns:
        Those that do not compile, and those that change nothing, included: see
        `Mutant.compiles`.
    """
    code = (root / path).read_text("utf-8")
    walk = _Walk()
    module = MetadataWrapper(cst.parse_module(code)).visit(walk)
    found, seen = [], Counter[str]()
    for where, span, original, changed in walk.found:
        texts = [module.code_for_node(node) for node in (original, changed)]
        key = "\0".join([path, where, *texts])
        digest = hashlib.sha256(f"{key}\0{seen[key]}".encode()).hexdigest()[:8]
        seen[key] += 1
        name = f"{path}::{where}::{digest}"
        found.append(Mutant(name, path, where, span, original, changed, code, module))
    return found


class _Walk(cst.CSTVisitor):
    """Collect (where, span, original, changed) for every operator and node."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, Span, cst.CSTNode, cst.CSTNode]] = []
        self.names: list[str] = []
        self.functions = 0

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Mutate a node, unless no run can see it, and what is below it."""
        if self._unseen(node):
            return False
        for changed in self._changes(node):
            at = self.get_metadata(PositionProvider, node)
            span = (at.start.line, at.start.column, at.end.line, at.end.column)
            where = ".".join(self.names) or "<module>"
            self.found.append((where, span, node, changed))
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            self.names.append(node.name.value)
            self.functions += isinstance(node, cst.FunctionDef)
        if m.matches(node, CAST):
            cst.ensure_type(node, cst.Call).args[-1].visit(self)
            return False
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        """Leave a function or class."""
        if isinstance(original_node, cst.FunctionDef | cst.ClassDef):
            self.names.pop()
            self.functions -= isinstance(original_node, cst.FunctionDef)

    def _unseen(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Annotation | cst.Import | cst.ImportFrom):
            return True
        if m.matches(node, TYPES_ONLY | DOCSTRING):
            return True
        wording = self.functions and isinstance(node, cst.SimpleString)
        return bool(wording) and " " in str(node.evaluated_value)

    def _changes(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        if m.matches(node, CAST):
            return
        for kind, operator in mutation_operators:
            if isinstance(node, kind):
                yield from operator(node)
