"""The catalogue: finding, loading and selecting theorem modules of small projects."""

import sys
from pathlib import Path

import pytest

from verify import catalog as module
from verify.catalog import Catalog, CatalogError, load_module, theorem_files
from verify.catalog import theorem_root as root_of
from verify.paper import ClaimError, Paper

HEAD = """
from verify import *

PAPER = Paper("toy", "A toy paper")


def four(id="toy/lemma-1", **changes):
    given = dict(
        id=id,
        says="Two and two are four.",
        source=PAPER.at("Lemma 1"),
        parameters={"total": 4},
        mutants=(Mutant("six", why="w", total=6), Mutant("seven", why="w", total=7)),
    )
    return Claim(**(given | changes))


def decide(claim):
    return Holds("counted", n=1)


def both(*claims):
    check(*claims, grade="property", scope="some")
    proof = check(*claims, grade="symbolic", scope="all")(decide)
    hunt = check(*claims, grade="property", scope="some")
    return proof, hunt
"""

CHECKS = """
@check(*CLAIMS, grade="symbolic", scope="all")
def proof(claim):
    return Holds("counted")


@check(*CLAIMS, grade="property", scope="some")
def hunt(claim):
    return Holds("counted", n=1)
"""


def forget():
    for name in list(sys.modules):
        if name == "theorems" or name.startswith("theorems."):
            del sys.modules[name]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Write and load theorem modules; this repository's own stay importable."""
    before = {n: m for n, m in sys.modules.items() if n.split(".")[0] == "theorems"}
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    forget()
    folder = tmp_path / "theorems"
    yield Project(folder)
    forget()
    sys.modules.update(before)
    sys.path_importer_cache.pop(str(tmp_path), None)


class Project:
    def __init__(self, folder):
        self.folder = folder
        self.write("__init__", "", paper="")
        self.write("__init__", "")

    def write(self, name, text, paper="toy"):
        path = self.folder / paper / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def claims(self, name, *claims, checks=CHECKS):
        return self.write(name, f"{HEAD}\nCLAIMS = ({', '.join(claims)},)\n{checks}")

    def load(self):
        return Catalog.load([self.folder])

    def error(self):
        (error,) = self.load().errors.values()
        return error


# ---------------------------------------------------------------- places


def test_root_is_searched_upwards(tmp_path):
    deep = tmp_path / "theorems" / "toy" / "data"
    beside = tmp_path / "docs" / "pages"
    for folder in (deep, beside):
        folder.mkdir(parents=True)
    (file := deep.parent / "lemma.py").touch()
    for start in (deep, deep.parents[1], beside, tmp_path, file):
        assert root_of(start) == tmp_path / "theorems"


def test_nearest_root_wins(tmp_path):
    inner = tmp_path / "inner" / "theorems"
    (inner / "toy").mkdir(parents=True)
    (tmp_path / "theorems").mkdir()
    assert root_of(inner / "toy") == inner
    assert root_of(tmp_path / "inner") == inner
    assert root_of(tmp_path) == tmp_path / "theorems"


def test_no_root(tmp_path):
    (tmp_path / "theorems").touch()  # a file is no folder
    with pytest.raises(CatalogError, match="--theorems"):
        root_of(tmp_path)


def test_file_selection(tmp_path):
    paper = tmp_path / "theorems" / "toy"
    (paper / "layers").mkdir(parents=True)
    chosen = [paper / "b.py", paper / "a.py"]
    others = [
        paper / "_private.py", paper / "__init__.py", paper / "test_a.py",
        paper / "conftest.py", paper / "a.txt", paper / "layers" / "exact.py",
        paper.parent / "tools.py",
    ]  # fmt: skip
    for path in (*chosen, *others):
        path.touch()
    assert theorem_files(tmp_path) == chosen[::-1]
    assert theorem_files(paper.parent) == theorem_files(paper) == chosen[::-1]
    assert theorem_files(chosen[0]) == chosen[:1]
    assert [theorem_files(path) for path in others] == [[]] * 5 + [[], []]
    assert theorem_files(tmp_path / "none") == []


# ---------------------------------------------------------------- loading


def test_claims_and_checks_in_order(project):
    project.claims("b", 'four("toy/lemma-2")', 'four("toy/lemma-1")')
    project.claims("a", 'four("toy/lemma-3")')
    catalog = project.load()
    catalog.raise_errors()
    assert list(catalog.entries) == ["toy/lemma-3", "toy/lemma-2", "toy/lemma-1"]
    entry = catalog.entries["toy/lemma-2"]
    assert [c.name for c in entry.checks] == ["proof", "hunt"]
    assert entry.node_name(entry.checks[1]) == "hunt[lemma-2]"
    assert entry.path == project.folder / "toy" / "b.py"
    assert [e.claim.id for e in catalog] == list(catalog.entries)


def test_paper_comes_from_the_package(project):
    project.write("__init__", 'from verify import Paper\nPAPER = Paper("toy", "Named")')
    project.claims("a", "four()")
    assert project.load().papers["toy"].title == "Named"


def test_paper_of_a_package_that_names_none(project):
    project.claims("a", "four()")
    assert project.load().papers == {"toy": Paper("toy", "toy")}


def test_file_given_twice_is_loaded_once(project):
    path = project.claims("a", "four()")
    catalog = Catalog.load([path, project.folder, path])
    catalog.raise_errors()
    assert catalog.files == (path,)


def test_import_error_is_recorded_and_others_load(project):
    bad = project.write("a", "import no_such_package_here")
    worse = project.write("b", "def (")
    project.claims("c", "four()")
    catalog = project.load()
    assert list(catalog.entries) == ["toy/lemma-1"]
    assert set(catalog.errors) == {bad, worse}
    assert isinstance(catalog.errors[worse], SyntaxError)
    with pytest.raises(CatalogError, match=r"toy/a\.py: ModuleNotFoundError") as caught:
        catalog.raise_errors()
    assert caught.value.__cause__ is catalog.errors[bad]


def test_two_projects_are_told_apart(project, tmp_path):
    load_module(project.claims("a", "four()"))
    other = tmp_path / "other" / "theorems" / "toy" / "a.py"
    other.parent.mkdir(parents=True)
    other.touch()
    with pytest.raises(CatalogError, match="one project at a time"):
        load_module(other)


def test_module_is_imported_once(project):
    path = project.claims("a", "four()")
    first = load_module(path)
    assert first is load_module(path) is sys.modules["theorems.toy.a"]


def test_imported_checks_belong_to_their_own_module(project):
    project.claims("a", "four()")
    project.write("b", "from theorems.toy.a import *")
    catalog = project.load()
    catalog.raise_errors()
    assert catalog.entries["toy/lemma-1"].path.name == "a.py"


# ---------------------------------------------------------------- ids


def test_id_in_two_modules(project):
    project.claims("a", "four()")
    project.claims("b", "four()")
    assert "a.py and in b.py" in str(project.error())


def test_id_twice_in_one_module(project):
    project.claims("a", "four()", "four()")
    assert "two claims are called 'toy/lemma-1'" in str(project.error())


@pytest.mark.parametrize("ids", [("1", "1@x"), ("1@x", "1")])
def test_bare_id_beside_readings(project, ids):
    project.claims("a", *(f'four("toy/lemma-{name}")' for name in ids))
    error = project.error()
    assert isinstance(error, CatalogError)
    assert "only rows with @" in str(error)


def test_readings_and_prefixes_are_no_mixture(project):
    ids = ("1@x", "1@y", "11", "2")
    project.claims("a", *(f'four("toy/lemma-{name}")' for name in ids))
    catalog = project.load()
    catalog.raise_errors()
    assert len(catalog.entries) == 4


@pytest.fixture
def three(project):
    project.claims("a", 'four("toy/lemma-1@x")', 'four("toy/lemma-1@y")')
    project.claims("b", 'four("toy/theorem-2.1")')
    return project.load()


@pytest.mark.parametrize(
    ("patterns", "chosen"),
    [
        ([], "xyt"),
        (["toy/*"], "xyt"),
        (["toy/lemma-1"], "xy"),
        (["toy/lemma-1@y"], "y"),
        (["*@x"], "x"),
        (["toy/theorem-2.1", "toy/lemma-1@x"], "xt"),
        (["toy/lemma-1", "*@x", "toy/lemma-1@x"], "xy"),
        (["toy/theorem-?.1"], "t"),
    ],
    ids=str,
)
def test_select(three, patterns, chosen):
    names = {"x": "toy/lemma-1@x", "y": "toy/lemma-1@y", "t": "toy/theorem-2.1"}
    assert three.select(iter(patterns)) == [names[key] for key in chosen]


@pytest.mark.parametrize(
    ("pattern", "near"),
    [
        ("toy/theorem-21", "toy/theorem-2.1"),
        ("toy/lema-1", "toy/lemma-1"),
        ("toy/lemma-1@yy", "toy/lemma-1@y"),
        ("toy/theorem-2", "toy/theorem-2.1"),
        ("TOY/theorem-2.1", "toy/theorem-2.1"),
    ],
)
def test_nearest_id_is_suggested(three, pattern, near):
    with pytest.raises(CatalogError, match="no claim matches") as caught:
        three.select(["toy/*", pattern])
    assert f"did you mean {near!r}?" in str(caught.value)


def test_nothing_near(three):
    with pytest.raises(CatalogError) as caught:
        three.select(["@@@@"])
    assert "did you mean" not in str(caught.value)
    assert "verify list" in str(caught.value)


# ---------------------------------------------------------------- validation

SIX = 'Mutant("six", why="w", total=6{})'


@pytest.mark.parametrize(
    ("mutants", "says"),
    [
        ((', blind={"guess": "w"}', ""), "is blind in ['guess']"),
        ((', blind={"hunt": "w", "proof": "w"}', ""), "every check is blind to 'six'"),
        ((', blind={"hunt": "w"}', ', blind={"hunt": "w"}'), "blind to every mutant"),
        ((', blind={"hunt": "w"}', ""), ""),
        ((', blind={"hunt": "w"}', ', blind={"proof": "w"}'), ""),
    ],
)
def test_blind_cells(project, mutants, says):
    first, second = (SIX.format(blind) for blind in mutants)
    second = second.replace("six", "seven").replace("6", "7")
    project.claims("a", f"four(mutants=({first}, {second}))")
    catalog = project.load()
    if not says:
        catalog.raise_errors()
        return
    (error,) = catalog.errors.values()
    assert isinstance(error, ClaimError)
    assert says in str(error)
    assert catalog.entries == {}


PROOF, HUNT = CHECKS.split("\n\n\n")
OPTIONAL = 'scope="some", optional=True'


@pytest.mark.parametrize(
    ("checks", "claim", "says"),
    [
        (PROOF, "four()", "no check is property or trained"),
        (HUNT, "four()", 'no check is symbolic or certified or numeric of scope "all"'),
        (PROOF.replace('"all"', '"N ≤ 3"') + "\n\n" + HUNT, "four()", 'scope "all"'),
        (PROOF + "\n\n" + HUNT.replace('scope="some"', OPTIONAL), "four()", "property"),
        (HUNT, 'four(finding=inconclusive(Cause.BUDGET, "more"))', ""),
    ],
    ids=["proof only", "hunt only", "proof of a part", "optional", "inconclusive"],
)
def test_requirements(project, checks, claim, says):
    project.claims("a", claim, checks=checks)
    catalog = project.load()
    if says:
        (error,) = catalog.errors.values()
        assert isinstance(error, ClaimError)
        assert says in str(error)
    else:
        catalog.raise_errors()
        assert len(catalog.entries) == 1


def test_necessity_alone_is_no_check(project):
    checks = """
@necessity(*CLAIMS, assumption="h", needed=True, grade="property", scope="some")
def drop(claim):
    return Holds("counted", n=1)
"""
    project.claims("a", 'four(assumes=(Assumption("h", "h"),))', checks=checks)
    assert "has no check" in str(project.error())


def test_claim_that_no_check_decides(project):
    project.claims("a", "four()")
    project.claims("b", 'four("toy/lemma-2")', checks="LOST = four('toy/lemma-3')")
    catalog = project.load()
    (error,) = catalog.errors.values()
    assert isinstance(error, ClaimError)
    assert "toy/lemma-3 has no check" in str(error)
    assert list(catalog.entries) == ["toy/lemma-1"]


def test_claim_of_another_module_needs_no_check_here(project):
    project.claims("a", "four()", checks=f"CLAIM, = CLAIMS\n{CHECKS}")
    path = project.claims("b", 'four("toy/lemma-2")')
    path.write_text(path.read_text() + "\nfrom theorems.toy.a import CLAIM\n")
    for places in ([project.folder], [path]):
        catalog = Catalog.load(places)
        catalog.raise_errors()
        assert "toy/lemma-2" in catalog.entries


@pytest.mark.parametrize("second", ["hunt", "proof"])
def test_two_checks_of_one_name(project, second):
    again = f"\n\n{HUNT.replace('def hunt', 'def other')}\nother = check("
    again += f'*CLAIMS, grade="numeric", scope="s")({second}.function)\n'
    project.claims("a", "four()", checks=CHECKS + again)
    assert f"two of its checks are called '{second}'" in str(project.error())


# ---------------------------------------------------------------- digest


def test_digest_follows_the_sources(project):
    path = project.claims("a", "four()")
    helper = project.write("_tools", "x = 1\n")
    catalog = project.load()
    seen = [catalog.digest()]
    assert catalog.digest() == seen[0]
    for file in (path, helper, project.folder / "__init__.py"):
        file.write_text(file.read_text() + "\n# changed\n")
        seen.append(catalog.digest())
    helper.rename(helper.with_name("_other.py"))
    seen.append(catalog.digest())
    project.write("notes", "x = 1\n", paper="unrelated")
    seen.append(catalog.digest())
    (project.folder / "toy" / "data.txt").write_text("no source")
    assert len(set(seen)) == len(seen) == 6
    assert catalog.digest() == seen[-1]


def test_digest_covers_the_engine(project, monkeypatch, tmp_path):
    project.claims("a", "four()")
    catalog = project.load()
    before = catalog.digest()
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "catalog.py").touch()
    monkeypatch.setattr(module, "__file__", str(tmp_path / "engine" / "catalog.py"))
    assert catalog.digest() != before


def test_repository_stays_importable():
    import theorems.ren2024

    assert Path(theorems.ren2024.__file__).parents[2] == Path(__file__).parents[2]
    assert theorems.ren2024.PAPER.key == "ren2024"
