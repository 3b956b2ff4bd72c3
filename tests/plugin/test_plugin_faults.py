"""Faults of the machine during a run: told in one line, and taken up afterwards."""

import json
import shutil

import pytest
from toy import CHECKS, holds, one_check

RAISES = """if 'CALM' in os.environ: return counted(claim)
    raise RuntimeError('CUDA error: unspecified launch failure')"""
LIMITED = """
import resource, sys
import pytest
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), -1))
sys.exit(pytest.main(sys.argv[2:]))
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_check_that_raised_runs_again(project, jobs):
    project.add("theorem_3", holds("toy/theorem-3") + CHECKS + one_check(RAISES))
    done = project.verify("run", f"--jobs={jobs}")
    assert done.code == 1
    assert "unspecified launch failure" in project.report()["run"]["red"][0]
    assert project.verify("run", "--resume", f"--jobs={jobs}", CALM="1").code == 0
    resumed = project.report()
    assert resumed["run"]["red"] == []
    ran = [x["name"] for x in map(json.loads, project.journal()) if "name" in x]
    assert len(ran) == 8  # the one that raised twice, every other once
    assert project.verify("run", CALM="1").code == 0
    assert project.report()["result_digest"] == resumed["result_digest"]


def limited(project, size, *more):
    """Run pytest where no file may be larger than some bytes."""
    line = ("theorems", "--verify-device=cpu", "--verify-profile=smoke", *more)
    return project.python("-c", LIMITED, str(size), *line)


@pytest.mark.parametrize("more", [(), ("-n", "2")], ids=["serial", "distributed"])
def test_a_journal_that_cannot_grow_ends_the_run(project, more):
    pytest.importorskip("resource")
    assert project.pytest("theorems").code == 0
    whole, size = project.report(), len("\n".join(project.journal()))
    shutil.rmtree(project.out)
    done = limited(project, size * 9 // 10, *more)
    assert done.code == 3
    assert "INTERNALERROR" not in done.text
    assert "what is finished is kept: make room, then go on with --resume" in done.text
    assert 1 < len(project.journal()) < 6
    assert all(json.loads(line) for line in project.journal())
    done = project.verify("run", "--resume")
    assert done.code == 0
    assert project.report()["result_digest"] == whole["result_digest"]
