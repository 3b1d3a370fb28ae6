"""What the README shows is what happens."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from levycollapse.cli import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_python_session():
    results = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert results.attempted >= 5
    assert results.failed == 0


def test_commands(tmp_path, monkeypatch, capsys, without_saving):
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^levycollapse (.*)$", README, flags=re.MULTILINE)
    assert len(commands) == 6
    for command in commands:
        arguments = shlex.split(command)
        if arguments[0] == "phase-diagram":
            arguments = [part.replace(":300", ":30") for part in arguments] + ["--points", "30"]
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 0
        assert capsys.readouterr().out


def test_links_and_targets_exist():
    for target in re.findall(r"\]\(([^)h][^)]*)\)", README):
        assert (ROOT / target).exists(), target
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"`?make ([a-z-]+)", README):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_api_page_lists_every_public_name():
    """Room by room; those that need torch are read as text."""
    page = (ROOT / "docs" / "api" / "index.md").read_text()
    listed: dict[str, set[str]] = {}
    for section in page.split("currentmodule:: ")[1:]:
        module, _, text = section.partition("\n")
        listed[module] = set(re.findall(r"^   ([A-Za-z_]+)$", text, flags=re.MULTILINE))
        if module.endswith("symbolic"):
            listed[module] |= set(re.findall(r"`([A-Za-z_]+)`", text))
    import levycollapse as lc

    rooms = {path.parent.name for path in (ROOT / "levycollapse").glob("[a-z]*/__init__.py")} - {"cli"}
    assert listed.pop("levycollapse") == set(lc.__all__) - rooms
    assert set(listed) == {f"levycollapse.{room}" for room in rooms}
    for room in rooms:
        face = (ROOT / "levycollapse" / room / "__init__.py").read_text()
        names = set(re.findall(r'^    "(\w+)",$', face[face.index("__all__") :], flags=re.MULTILINE))
        # The statuses of units are documented with the tails, where they are defined.
        elsewhere = {"COLUMN_WIDTH", *(["UnitStatus"] if room == "networks" else [])}
        assert listed[f"levycollapse.{room}"] == names - elsewhere, room
