"""Do the types of the page's JavaScript, which it says in JSDoc, hold?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sqlassay.report import html

TOOL = Path(__file__).parents[2] / "tools" / "check_page_js.sh"
PARTS = sorted((Path(html.__file__).parent / "templates").glob("*.js"))


def test_every_part_is_checked_and_none_opts_out() -> None:
    listed = set(re.findall(r"\w+\.js\b", TOOL.read_text(encoding="utf-8").split("--lib")[1]))
    assert listed == {part.name for part in PARTS}
    for part in PARTS:
        text = part.read_text(encoding="utf-8")
        assert text.startswith("// @ts-check\n"), part.name
        assert "@ts-ignore" not in text, part.name
        assert "@ts-nocheck" not in text, part.name
        assert "innerHTML" not in text, part.name


@pytest.mark.timeout(240)
def test_the_types_hold() -> None:
    compiler = os.environ.get("TSC") or shutil.which("tsc")
    if compiler is None or _major(compiler) < 5:
        pytest.skip("TypeScript's tsc, 5 or newer, is not installed (npm install -g typescript, or name it by TSC)")
    told = subprocess.run([TOOL], env={**os.environ, "TSC": compiler}, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr


def _major(compiler: str) -> int:
    """The first number of `Version 5.9.3`."""
    told = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    return int(told.split()[-1].split(".")[0])
