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
from importlib.util import find_spec

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
    for name in [*lc.__all__, "networks"]:
        assert f"import {name} as {name}" in typed, name


def test_networks_without_torch_say_what_to_install():
    code = """
import sys

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'")

sys.meta_path.insert(0, NoTorch())
import levycollapse as lc
from levycollapse import *
assert "networks" in dir(lc)
try:
    lc.networks
except ImportError as error:
    print(error)
"""
    assert run(code).strip() == 'levycollapse.networks needs PyTorch: pip install "levycollapse[networks]"'


def test_version_is_the_installed_one():
    from importlib.metadata import version

    assert version("levycollapse") == lc.__version__


def modules():
    for info in pkgutil.walk_packages(lc.__path__, "levycollapse."):
        yield info.name


@pytest.mark.parametrize("name", ["levycollapse", *modules()])
def test_docstring_examples(name):
    if name.startswith("levycollapse.networks"):
        pytest.importorskip("torch")
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert results.failed == 0


def public_callables():
    optional = ["networks"] if find_spec("torch") else []
    for name in [*lc.__all__, *optional]:
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
