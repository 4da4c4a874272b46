"""Every link in the documentation leads somewhere, and every command it shows exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from sqlassay.cli.app import app

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    missing = [target for target in targets if "://" not in target and not (page.parent / target).resolve().exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_shown_exist(page: Path) -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    shown = set(re.findall(r"^\s*(?:\$ )?sqlassay ([a-z][\w-]*)", page.read_text(encoding="utf-8"), re.MULTILINE))
    assert shown - set(commands) == set()


def test_every_command_is_documented() -> None:
    commands = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert {name for name in commands if f"sqlassay {name}" not in text} == set()


def test_every_page_stands_in_the_reading_order() -> None:
    order = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in ROOT.glob("docs/**/*.md")} - {"README.md"}
    assert {page for page in pages if f"({page})" not in order} == set()
