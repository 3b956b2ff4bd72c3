"""The page of a real run in a real browser. Marker: browser."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of a small run of the theorem modules."""
    folder = tmp_path_factory.mktemp("run")
    command = [sys.executable, "-m", "pytest", "theorems", "-q", "-m", "symbolic"]
    options = ["--verify-profile=smoke", f"--verify-out={folder}"]
    done = subprocess.run(
        command + options, cwd=ROOT, env=os.environ, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout.decode()
    return folder / "index.html"


def browse(page, *options):
    """Open the page in Chromium; what it printed, and what it logged."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    assert chromium, "no Chromium on the PATH; install it to run this test"
    command = [chromium, *FLAGS, f"--user-data-dir={page.parent / 'profile'}"]
    done = subprocess.run(
        [*command, *options, page.as_uri()], capture_output=True, text=True, check=True
    )
    return done.stdout, done.stderr


def test_the_page_shows_its_claims_and_logs_no_error(page):
    text, log = browse(page, "--dump-dom")
    assert "ren2024/theorem-3.1@keys-without-query" in text
    assert "<math" in text
    assert "CONSOLE" not in log


@pytest.mark.parametrize("width", [390, 1200])
def test_the_page_is_drawn_at_phone_and_desktop_width(page, width):
    shot = page.parent / f"{width}.png"
    browse(page, f"--window-size={width},1600", f"--screenshot={shot}")
    assert shot.stat().st_size > 20_000
