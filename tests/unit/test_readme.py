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
    import levycollapse as lc

    page = (ROOT / "docs" / "api" / "index.md").read_text()
    listed = set(re.findall(r"^   ([A-Za-z_]+)$", page, flags=re.MULTILINE)) | set(re.findall(r"`([A-Za-z_]+)`", page))
    names = {name for name in lc.__all__ if name not in ("plotting", "symbolic")}
    names |= set(lc.plotting.__all__) - {"COLUMN_WIDTH"} | set(lc.symbolic.__all__)
    assert names <= listed, sorted(names - listed)
    sections, networks = page.split("currentmodule:: levycollapse.plotting")[0].split(
        "currentmodule:: levycollapse.networks"
    )
    torch_names = set(re.findall(r"^   ([A-Za-z_]+)$", networks, flags=re.MULTILINE))
    face = (ROOT / "levycollapse" / "networks" / "__init__.py").read_text()
    assert torch_names == set(re.findall(r'^    "(\w+)",$', face, flags=re.MULTILINE))
    top = set(re.findall(r"^   ([A-Za-z_]+)$", sections, flags=re.MULTILINE)) - {"levycollapse"}
    assert top == {name for name in lc.__all__ if name not in ("plotting", "symbolic")}
