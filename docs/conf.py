"""How the documentation is built: `make docs`; a warning is an error.

Nothing in the pages comes from the network: formulas become MathML when they are built,
and the commands and the schema are printed from the package itself.
"""

import re
from importlib import metadata
from pathlib import Path

import click
from latex2mathml.converter import convert

import verify.cli
from verify.record import Report

project = "verify"
release = metadata.version("theorem-verify")
html_title = f"verify {release}"
html_theme = "furo"
html_math_renderer = "mathml"
html_theme_options = {"source_edit_link": None, "source_view_link": None}
html_show_copyright = html_show_sphinx = html_copy_source = False

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "**/*.inc"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
default_role = "code"  # single quotes in docstrings are code
nitpicky = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 80
napoleon_use_rtype = False
napoleon_use_ivar = True


def mathml(self, node, display):
    """Write a formula as MathML, which browsers set by themselves."""
    self.body.append(convert(node.astext(), display=display))


def inline(self, node):
    """A formula in a line."""
    mathml(self, node, "inline")
    from docutils.nodes import SkipNode

    raise SkipNode


def block(self, node):
    """A formula of its own."""
    mathml(self, node, "block")
    from docutils.nodes import SkipNode

    raise SkipNode


def as_plain_text(*event):
    """Keep |x| and names that end in _ from being taken for markup."""
    lines, code = event[-1], re.compile(r"(``.*?``|`.*?`)")
    for i, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...")):
            continue
        indent = " " * (len(line) - len(line.lstrip()))  # a bullet is meant as one
        parts = code.split(line.lstrip())
        parts[::2] = [
            re.sub(r"(?<!\\)(\||\b\w+_(?=\W|$)|(?<!^)\*)", mark, p) for p in parts[::2]
        ]
        lines[i] = indent + "".join(parts)


def mark(match):
    """Take the meaning off a character."""
    text = match[0]
    return f"{text[:-1]}\\_" if text.endswith("_") else f"\\{text}"


def commands(group, title):
    """The help of every command, subcommands after their group."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{title} {name}")
            continue
        context = click.Context(command, info_name=f"{title} {name}", terminal_width=88)
        yield f"## `{title} {name}`\n\n```text\n{command.get_help(context)}\n```\n"


def generate(app):
    """Write what is printed from the package, beside the pages that include it."""
    place = Path(app.srcdir) / "reference"
    texts = {
        "commands.inc": "\n".join(commands(verify.cli.main, "verify")),
        "schema.inc": fields(),
    }
    for name, text in texts.items():
        (place / name).write_text(text, encoding="utf-8")


def fields():
    """Tables of the fields of a report, from its schema."""
    schema = Report.model_json_schema(mode="serialization")
    records = {"Report": schema, **schema["$defs"]}
    tables = {name for name, record in records.items() if "properties" in record}
    parts = []
    for name in records:
        says, *_ = records[name].get("description", "").partition("\n")
        parts.append(f"## {name}\n\n{says}\n")
        if name not in tables:
            words = (f"`{word}`" for word in records[name]["enum"])
            parts.append(f"One of {', '.join(words)}.\n")
            continue
        parts.append("| field | type |\n|---|---|")
        for field, about in records[name]["properties"].items():
            parts.append(f"| `{field}` | {kind(about)} |")
        parts.append("")
    return "\n".join(parts) + "\n"


def kind(about):
    """The type of a field, in words."""
    if "$ref" in about:
        name = about["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in about:
        return " or ".join(kind(one) for one in about["anyOf"])
    if about.get("type") == "array":
        return f"list of {kind(about.get('items', {}))}"
    if "enum" in about or "const" in about:
        words = about.get("enum", [about.get("const")])
        return " or ".join(f"`{word}`" for word in words)
    return about.get("type", "any")


def setup(app):
    """Set the build up."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.connect("builder-inited", generate)
    app.connect("autodoc-process-docstring", as_plain_text)
    return {"parallel_read_safe": True}
