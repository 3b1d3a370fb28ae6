"""Every notebook runs from top to bottom."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.py"))


@pytest.mark.full
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, tmp_path):
    with warnings.catch_warnings():
        # The notebook machinery's own deprecations are not this package's.
        warnings.simplefilter("ignore")
        import jupytext
        from nbclient import NotebookClient

        notebook = jupytext.read(path)
        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 2
