"""Studies: what they refuse, how they are cut, and what their keys depend on."""

import json
import math
from dataclasses import replace

import pytest

from verify.runs import Batch, StudyError
from verify.runs.study import canonical, key_of
from verify.runs.version import code_version

BAD = [
    ({"trainer": "nowhere"}, "use 'package.module:function'"),
    ({"configurations": []}, "`configurations` is []: give at least one"),
    ({"configurations": [{"size": 1}, {"other": 1}]}, "equal names"),
    ({"configurations": [{"size": 1}, {"size": 1}]}, "each once"),
    ({"seeds": []}, "`seeds` is []"),
    ({"seeds": [1, 1]}, "each once"),
    ({"same": ("colour",)}, "`same`"),
    ({"chunk": 0}, "`chunk` is 0"),
    ({"device": "tpu"}, "choose one of ('cpu', 'cuda')"),
    ({"dtype": "int8"}, "choose one of"),
    ({"bytes_per_run": 0}, "`bytes_per_run` is 0"),
    ({"options": {"steps": math.nan}}, "'steps' is nan; it must be finite"),
    ({"options": {"steps": [1]}}, "use text, a number"),
    (
        {"configurations": [{"size": 1, "lr": math.inf}]},
        "study 'toy/parabolas': 'lr' is inf",
    ),
]


@pytest.mark.parametrize(("change", "said"), BAD, ids=[str(b[0])[:40] for b in BAD])
def test_impossible_studies(lab, change, said):
    with pytest.raises(StudyError) as error:
        replace(lab.study(), **change)
    assert said in str(error.value)


def test_chunks_hold_like_shapes_and_seeds_vary_fastest(lab):
    study = lab.study()
    chunks = study.chunks()
    assert [c.runs for c in chunks] == [5, 5, 2, 5, 5, 2]
    assert sum(c.runs for c in chunks) == study.runs == 24
    for chunk in chunks:
        assert len({c["size"] for c in chunk.content["configurations"]}) == 1
    first = chunks[0].content
    assert first["seeds"] == [11, 12, 13, 11, 12]
    assert [c["lr"] for c in first["configurations"]] == [0.1, 0.1, 0.1, 2.0, 2.0]
    assert all(c.key == key_of(c.text) and json.loads(c.text) for c in chunks)


def test_shapes_join_even_if_they_are_listed_apart(lab):
    apart = [{"size": s, "lr": lr, "target": 0.0} for lr in (1.0, 2.0) for s in (2, 3)]
    chunks = lab.study(configurations=apart, chunk=100).chunks()
    assert [c.runs for c in chunks] == [6, 6]


@pytest.mark.parametrize(
    "change",
    [
        {"seeds": [11, 12, 14]},
        {"options": {"steps": 21}},
        {"chunk": 6},
        {"dtype": "float32"},
        {"device": "cuda"},
        {"trainer": "no_record"},
        {"same": ()},
        {"configurations": [{"target": 0.5, "lr": 0.1, "size": 2}]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_keys_depend_on_what_determines_results(lab, change):
    before = {c.key for c in lab.study().chunks()}
    after = {c.key for c in lab.study(**change).chunks()}
    assert before - after


def test_the_keys_do_not_depend_on_names_order_or_estimates(lab):
    study = lab.study()
    turned = [dict(reversed(c.items())) for c in study.configurations]
    same = lab.study(name="another", configurations=turned, bytes_per_run=9)
    assert [c.key for c in study.chunks()] == [c.key for c in same.chunks()]


def fresh_version(lab):
    code_version.cache_clear()
    return code_version(f"{lab.package}.work")


def test_the_code_counts_and_what_is_written_about_it_does_not(lab):
    before = fresh_version(lab)
    path = lab.root / lab.package / "work.py"
    code = path.read_text()
    words = code.replace("A trainer of parabolas", "Words")
    path.write_text(words.replace("\n\n", "\n\n# why\n\n"))
    assert fresh_version(lab) == before
    path.write_text(code.replace("/ 7", "/ 8"))
    assert fresh_version(lab) != before
    path.write_text(code)
    lab.write(
        "losses.py",
        "def squares(x, target):\n    return (x - target[:, None]).abs().sum(1)\n",
    )
    assert fresh_version(lab) != before


def test_a_module_that_is_not_imported_does_not_count(lab):
    before = fresh_version(lab)
    lab.write("elsewhere.py", "x = 1\n")
    assert fresh_version(lab) == before


def test_the_training_loop_counts(lab, monkeypatch):
    from verify.runs import version

    before = fresh_version(lab)
    tree = version._tree

    def changed(name):
        return None if name == "verify.train.loop" else tree(name)

    monkeypatch.setattr(version, "_tree", changed)
    assert fresh_version(lab) != before
    code_version.cache_clear()


def test_a_trainer_that_is_not_there(lab):
    with pytest.raises(StudyError, match=r"no module 'toy_nowhere\.x'"):
        replace(lab.study(), trainer="toy_nowhere.x:f").chunks()


def test_canonical_json_has_one_spelling():
    assert canonical({"b": 0.1, "a": [1, True]}) == '{"a":[1,true],"b":0.1}'
    for bad in (math.nan, math.inf, {1, 2}, object()):
        with pytest.raises(StudyError):
            canonical(bad)


def test_what_a_batch_shares():
    batch = Batch(
        [{"n": 2, "L": 0.5}, {"n": 2, "L": 1}], [1, 2], {"k": 3}, "cpu", "float64"
    )
    assert (batch.common("n"), batch.common("k")) == (2, 3)
    assert batch.tensor("L").tolist() == [0.5, 1.0]
    assert str(batch.tensor("L").dtype) == "torch.float64"
    for name in ("L", "absent"):
        with pytest.raises(StudyError, match="do not share"):
            batch.common(name)
