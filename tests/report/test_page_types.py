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
    if compiler is None:
        missing = "TypeScript's tsc is not installed (apt-get install node-typescript, or name it by TSC)"
        (pytest.fail if os.environ.get("SQLASSAY_REQUIRE_SERVICES") == "1" else pytest.skip)(missing)
    told = subprocess.run([TOOL], env={**os.environ, "TSC": compiler}, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
