"""Hostile changes: of a value at some place of a record, and of the bytes of a file."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

Json = Any
Path = tuple[Any, ...]

BIDI = "\u202e\u2066\u2067\u202d\u2069"
# Each text breaks out of something, if it is let: the mark tells whose it was.
INJECTIONS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><svg/onload=alert(1)>' onmouseover='alert(1)",
    "javascript:alert(1)",
    "]]></testcase><testcase name='x'/>",
    "<!ENTITY x SYSTEM 'file:///etc/passwd'>&x;",
    r"}\input{/etc/passwd}\write18{id}{",
    r"\def\x{\x}\x $$ \end{document} % \catcode`\@=0 ^^5cinput",
    r"\newcommand{\claimrow}{}\directlua{os.execute('id')}",
    "a_b^c # 50% & ~ { } $x$ \\",
    "| a | b |\n|---|\n[x](javascript:alert(1)) ![i](http://x/y.png) `` ` ``",
    "</summary></details><details open>\n\n# Title\n",
    "\n::error file=x::boo\n::stop-commands::x\n",
    "\x1b[2J\x1b]0;title\x07\x9b31m",
    f"HOLDS{BIDI}SDLOH",
    "{{ 7*7 }} {% include '/etc/passwd' %} {{ self.__init__ }}",
    "${7*7} $(id) `id` ; rm -rf / | true",
    "\ud800 lone \udfff surrogates",
    "\x00\x01\x0b\x0c\x1c\x85\u2028\u2029 controls",
    "e" + "\u0301" * 3000,
    "\U0001d54f\u200d\ufeff\ufffe\uffff astral",
    "__import__('os').system('id')",
    "cos\nsystem\n(S'id'\ntR.",
    "!!python/object/apply:os.system ['id']",
)
PATHS = (
    "../../../../etc/passwd",
    "/etc/passwd",
    "a/../../b",
    "C:\\Windows\\x",
    "\\\\host\\share",
    "CON",
    "aux.json",
    "nul\x00.json",
    "..",
    ".",
    "",
    " ",
    "-rf",
    "a" * 300,
    "~/.ssh/id_rsa",
    "file:///etc/passwd",
)
NUMBERS = (
    0, -1, 1, True, False, 2**31, 2**63, -(2**63) - 1, 2**64, 10**4299, -(10**4299),
    1e308, -1e308, 5e-324, -0.0, 1e-320, 0.1, 1.5, 9007199254740993,
)  # fmt: skip
SPELLED = (
    "p/0", "1/0", "0/0", "-0", "+1", "1/-2", " 1", "1 ", "1_000", "٣", "１", "0.5",
    "1e400", "1e-400", "1e999999999", "-1e999999999", "1e9999999999/3", "NaN", "nan",
    "Infinity", "-inf", "inf", "0x1p+9999", "0x1p-9999", "0x1p+99999", "-0x1.8p+1",
    "0x1.8", "0xp1", "0b11", "1" + "0" * 4299, "9" * 4300, "9" * 4301, "9" * 100_000,
    "1" + "0" * 2000 + "1", "1/" + "7" * 4300, "0" * 4000 + "1", "1j", "None", "",
)  # fmt: skip


def drawn(seed: int, kind: str, number: int) -> random.Random:
    """What draws a case: the same in every process and on every machine."""
    of = f"{seed}/{kind}/{number}"
    return random.Random(of)  # ruff: ignore[suspicious-non-cryptographic-random-usage]


def deep(depth: int, kind: int) -> Json:
    """A value or an expression tree of a depth."""
    tree: Json = 1
    for _ in range(depth):
        tree = ([tree], {"a": tree}, ["neg", tree], ["add", tree, 1])[kind]
    return tree


def trees(rng: random.Random) -> Json:
    """Expression trees that take for ever, or come to more digits than fit."""
    big = "9" * 4300
    return rng.choice((
        ["pow", 2, 10**9],
        ["pow", ["pow", ["pow", 2, 9999], 9999], 9999],
        ["pow", big, 10_000],
        ["exp", ["exp", ["exp", 100]]],
        ["exp", 10**9],
        ["sum", "i", 1, 10**18, 1],
        ["sum", "i", 1, 9999, ["sum", "j", 1, 9999, ["sum", "k", 1, 9999, 1]]],
        ["sum", "i", 1, 9999, ["exp", ["sub", 500_000, ["in", "i"]]]],
        ["sum", "i", 1, 9999, ["pow", f"{big}/{'7' * 4300}", 0]],
        ["sum", "i", 1, 9999, ["div", 1, ["pow", ["in", "i"], 9]]],
        ["matmul", ["ones", 256, 256], ["ones", 256, 256]],
        ["total", ["exp", ["ones", 256, 256]]],
        ["ones", 10**6, 10**6],
        ["eye", -1],
        ["eye", 0],
        ["log", 0],
        ["sqrt", -1],
        ["div", 1, 0],
        ["pow", 0, -1],
        ["pow", -8, "1/3"],
        ["entry", ["eye", 2], 5, -1],
        ["in", "absent"],
        ["in", ["in", "x"]],
        ["__class__"],
        [],
        [[]],
        ["add"],
        ["besseli", 10**9, 10**9],
        ["integral", "t", 0, 1, ["div", 1, ["in", "t"]]],
        ["gamma", -1],
    ))  # fmt: skip


def value(rng: random.Random) -> Json:
    """Something that has no business where it is put."""
    draw = rng.random()
    if draw < 0.25:
        return rng.choice(NUMBERS)
    if draw < 0.45:
        return rng.choice(SPELLED)
    if draw < 0.6:
        return rng.choice(INJECTIONS)
    if draw < 0.68:
        return rng.choice(PATHS)
    if draw < 0.78:
        return trees(rng)
    if draw < 0.88:
        return rng.choice(([], {}, None, "", [[]], [{}], {"": ""}, [None], "x", [1, 2]))
    if draw < 0.94:
        return deep(rng.choice((3, 150, 190, 230)), rng.randrange(4))
    return rng.choice(("x" * 20_000, [0] * 2000, [[0] * 40] * 40, {"k": ["v"] * 500}))


def places(data: Json) -> Iterator[Path]:
    """Every place of a value, the root left out."""
    stack: list[tuple[Path, Json]] = [((), data)]
    while stack:
        path, here = stack.pop()
        steps = here.items() if isinstance(here, dict) else enumerate(here)
        for step, child in steps:
            yield (*path, step)
            if isinstance(child, dict | list):
                stack.append(((*path, step), child))


def at(data: Json, path: Path) -> Json:
    """The value at a place."""
    for step in path:
        data = data[step]
    return data


def _confuse(rng: random.Random, data: Json, path: Path, _paths: list[Path]) -> None:
    at(data, path[:-1])[path[-1]] = value(rng)


def _delete(_rng: random.Random, data: Json, path: Path, _paths: list[Path]) -> None:
    del at(data, path[:-1])[path[-1]]


def _double(rng: random.Random, data: Json, path: Path, _paths: list[Path]) -> None:
    parent = at(data, path[:-1])
    if isinstance(parent, list):
        again = [copy.deepcopy(parent[path[-1]]) for _ in range(rng.choice((1, 2, 40)))]
        parent[path[-1] : path[-1]] = again
    else:
        parent[f"{path[-1]}{rng.choice(('', '2', ' '))}"] = copy.deepcopy(
            parent[path[-1]]
        )


def _swap(rng: random.Random, data: Json, path: Path, paths: list[Path]) -> None:
    other = copy.deepcopy(at(data, rng.choice(paths)))
    at(data, path[:-1])[path[-1]] = other


def _nudge(rng: random.Random, data: Json, path: Path, _paths: list[Path]) -> None:
    old = at(data, path)
    at(data, path[:-1])[path[-1]] = nudged(rng, old)


def nudged(rng: random.Random, old: Json) -> Json:
    """A number off by one, or with the other sign; text a letter longer."""
    if isinstance(old, bool) or old is None:
        return not old
    if isinstance(old, int | float):
        return rng.choice((old + 1, old - 1, -old, old * 2, old / 2))
    if isinstance(old, str):
        digits = [i for i, c in enumerate(old) if c in "0123456789"]
        if digits and rng.random() < 0.7:
            i = rng.choice(digits)
            return (
                old[:i] + str((int(old[i]) + rng.randrange(1, 10)) % 10) + old[i + 1 :]
            )
        if digits and rng.random() < 0.5:
            return old[1:] if old.startswith("-") else f"-{old}"
        return old + rng.choice(("1", "/0", "/2", "x", "\u0301", " "))
    return [old] if isinstance(old, dict) else [*old, 1]


def _inject(rng: random.Random, data: Json, path: Path, paths: list[Path]) -> None:
    old = at(data, path)
    if isinstance(old, str):
        hostile = rng.choice(INJECTIONS if rng.random() < 0.8 else PATHS)
        new = rng.choice((hostile, old + hostile, hostile + old))
        at(data, path[:-1])[path[-1]] = new
    elif isinstance(old, dict):
        old[rng.choice(INJECTIONS + PATHS)] = value(rng)
    else:
        _confuse(rng, data, path, paths)


def _rename(rng: random.Random, data: Json, path: Path, _paths: list[Path]) -> None:
    parent = at(data, path[:-1])
    if isinstance(parent, dict):
        names = (*INJECTIONS, *PATHS, "witness", "kind", "id", "seconds", "__class__")
        parent[rng.choice(names)] = parent.pop(path[-1])
    else:
        rng.shuffle(parent)


Change = Callable[[random.Random, Json, Path, list[Path]], None]
CHANGES: tuple[Change, ...] = (
    _confuse, _confuse, _delete, _double, _swap, _nudge, _inject, _inject, _rename,
)  # fmt: skip


def changed(rng: random.Random, data: Json) -> Json:
    """A copy with one to three hostile changes, at any place."""
    data = copy.deepcopy(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        paths = [*places(data)]
        if not paths:
            break
        deepest = rng.random() < 0.7  # most places are far down: give others a chance
        path = rng.choice(paths)
        path = path if deepest else path[: rng.randrange(1, len(path) + 1)]
        rng.choice(CHANGES)(rng, data, path, paths)
    return data


# What a report may only say in the words of its schema.
FIXED = {"kind", "verdict", "verdicts", "fault", "cause", "grade", "role", "expected"}


def text_only(rng: random.Random, data: Json, share: float) -> Json:
    """A copy that keeps its form, with hostile text in a share of its texts."""
    data = copy.deepcopy(data)
    for path in [*places(data)]:
        old, fixed = at(data, path), FIXED.intersection(path)
        if isinstance(old, str) and not fixed and rng.random() < share:
            hostile = rng.choice(INJECTIONS if rng.random() < 0.85 else PATHS)
            at(data, path[:-1])[path[-1]] = rng.choice((hostile, old + hostile))
    return data


def _token(rng: random.Random, text: bytes) -> bytes:
    """A number, a text or a brace replaced by what strict JSON has not."""
    hostile = rng.choice((
        b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e999", b"1" * 5000,
        b"1" * 1_000_000, b"0" * 1000, b"1.5.5", b"+1", b"0x10", b"'x'", b"// c",
        b'"\xff\xfe"', b'"\\ud800"', b'"\\u0000"', b"\x00", b"undefined",
        b"[" * 100_000, b'{"a":' * 100_000, b"[[[[" * 25_000 + b"]]]]" * 25_000,
    ))  # fmt: skip
    spots = [i for i, c in enumerate(text) if c in b"0123456789"]
    i = rng.choice(spots) if spots else 0
    return text[:i] + hostile + text[i + 1 :]


def _twice(rng: random.Random, text: bytes) -> bytes:
    """A key that stands twice in one object."""
    spots = [i for i, c in enumerate(text) if text[i : i + 2] in {b'{"', b', "'[:2]}]
    i = rng.choice(spots) if spots else 0
    end = text.find(b":", i)
    return text[: i + 1] + text[i + 1 : end] + b": 1, " + text[i + 1 :]


def _flip(rng: random.Random, text: bytes) -> bytes:
    out = bytearray(text)
    for _ in range(rng.choice((1, 1, 4, 40))):
        out[rng.randrange(len(out))] = rng.randrange(256)
    return bytes(out)


def _cut(rng: random.Random, text: bytes) -> bytes:
    return text[: rng.randrange(len(text))]


def _recode(rng: random.Random, text: bytes) -> bytes:
    plain = text.decode("utf-8", "replace")
    how = rng.choice(("utf-16", "utf-32", "utf-8-sig", "latin-1", "utf-7"))
    return plain.encode(how, "replace")


def _pad(rng: random.Random, text: bytes) -> bytes:
    padding = rng.choice((
        b"\x00",
        b" " * 100_000,
        b"\n\n",
        b"{}",
        b"\xef\xbb\xbf",
        b"]",
    ))
    return padding + text if rng.random() < 0.5 else text + padding


BYTES: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _token, _token, _twice, _flip, _flip, _cut, _recode, _pad,
)  # fmt: skip


def spoiled(rng: random.Random, text: bytes) -> bytes:
    """The bytes of a file with one hostile change."""
    return rng.choice(BYTES)(rng, text) if text else text


def dumped(data: Json) -> bytes:
    """JSON text, whatever it holds."""
    return json.dumps(data).encode()
