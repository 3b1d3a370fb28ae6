"""The public names: lazy, complete, in any order, with examples that run."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import random
import subprocess
import sys
from enum import Enum

import pytest

import levycollapse as lc

HEAVY = ["torch", "matplotlib", "sympy", "xarray", "pandas", "numba", "scipy"]


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], check=True, capture_output=True, text=True
    ).stdout


def test_import_loads_nothing_heavy():
    loaded = run(f"import sys, levycollapse; print([m for m in {HEAVY} if m in sys.modules])")
    assert loaded.strip() == "[]"


@pytest.mark.parametrize("seed", range(3))
def test_every_name_in_shuffled_order(seed):
    names = list(lc.__all__)
    random.Random(seed).shuffle(names)
    run(f"import levycollapse as lc\nfor name in {names}: assert getattr(lc, name) is not None, name")


def test_face_is_consistent():
    assert len(set(lc.__all__)) == len(lc.__all__)
    assert set(lc.__all__) <= set(dir(lc))
    with pytest.raises(AttributeError, match="no attribute 'beta_of'"):
        _ = lc.beta_of
    typed = inspect.getsource(lc).split("_HOME")[0]
    for name in lc.__all__:
        assert f"import {name} as {name}" in typed, name


def test_version_is_the_installed_one():
    from importlib.metadata import version

    assert version("levycollapse") == lc.__version__


def modules():
    for info in pkgutil.walk_packages(lc.__path__, "levycollapse."):
        yield info.name


@pytest.mark.parametrize("name", ["levycollapse", *modules()])
def test_docstring_examples(name):
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert results.failed == 0


def public_callables():
    for name in lc.__all__:
        item = getattr(lc, name)
        if inspect.ismodule(item):
            yield from ((f"{name}.{n}", getattr(item, n)) for n in item.__all__)
        else:
            yield name, item


def test_every_public_function_has_an_example():
    lacking = [
        name
        for name, item in public_callables()
        if (inspect.isfunction(item) or inspect.isclass(item))
        and not issubclass(item if inspect.isclass(item) else object, (Exception, tuple, Enum))
        and not hasattr(item, "__dataclass_fields__")
        and not inspect.isabstract(item)
        and ">>>" not in (item.__doc__ or "")
    ]
    assert lacking == []
