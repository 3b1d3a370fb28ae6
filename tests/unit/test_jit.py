"""How kernels become functions of arrays, and what several processes make of one empty cache."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from levycollapse._kernels._jit import scalar
from levycollapse._kernels.exponent import exponent, exponent_with_status, phi
from levycollapse._kernels.interpolation import STENCIL, interpolate
from levycollapse._kernels.phases import phase

MODEL = (1.0, 0.1, 0.62, 1.5, 3.0)


def test_numbers_give_numbers():
    beta = exponent(*MODEL)
    assert isinstance(beta, np.float64) and abs(phi(beta, *MODEL)) < 1e-14
    many = exponent_with_status(*MODEL)
    assert isinstance(many, tuple) and len(many) == 5 and many[0] == beta
    assert [type(value) for value in many] == [np.float64] * 3 + [np.int64] * 2
    assert isinstance(phase(*MODEL, 0.0), np.int64)
    assert exponent(1, 0.1, 0.62, 1.5, 3) == beta


def test_arrays_broadcast_in_any_layout():
    kappa = np.linspace(0.5, 2.0, 12).reshape(3, 4)
    alpha = np.array([[0.4], [1.0], [1.7]])
    expected = np.array([[exponent(k, 0.1, 0.62, a, 3.0) for k in row] for row, (a,) in zip(kappa, alpha, strict=True)])

    def found(k, a=alpha):
        return exponent(k, 0.1, 0.62, a, 3.0)

    np.testing.assert_array_equal(found(kappa), expected)
    np.testing.assert_array_equal(found(np.asfortranarray(kappa)), expected)
    np.testing.assert_array_equal(found(kappa[:, ::-1]), expected[:, ::-1])
    np.testing.assert_array_equal(found(np.asarray(kappa.tolist(), dtype=object).astype(float)), expected)
    frozen = kappa.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(found(frozen), expected)
    unaligned = np.zeros(12, dtype=[("byte", "i1"), ("value", "f8")])
    unaligned["value"] = kappa.ravel()
    assert not unaligned["value"].flags.aligned
    np.testing.assert_array_equal(found(unaligned["value"].reshape(3, 4)), expected)
    np.testing.assert_array_equal(found(kappa.astype(">f8")), expected)
    np.testing.assert_array_equal(exponent(kappa[0].tolist(), 0.1, 0.62, 0.4, 3.0), expected[0])
    assert found(np.empty((0, 3, 4))).shape == (0, 3, 4)
    with pytest.raises(ValueError, match="broadcast"):
        found(np.ones((2, 4)))


def test_code_for_other_types_has_another_file(tmp_path):
    """Two processes that read an empty index and then save code for two types: the last index may lose one of them,
    but leads neither to the other's code."""

    @scalar
    def function(x):
        return x

    kept = type(function._cache._cache_file)
    first, second = (kept(str(tmp_path), "function-1", "stamp") for _ in range(2))
    first._load_index = dict
    first._save_index, late = (lambda index: None), first._save_index
    first.save(("int64", "machine"), "code for int64")
    second.save(("float64", "machine"), "code for float64")
    late({("int64", "machine"): next(p.name for p in tmp_path.glob("*.nbc") if b"int64" in p.read_bytes())})
    del first._load_index
    assert first.load(("int64", "machine")) == "code for int64"
    assert first.load(("float64", "machine")) is None
    second.save(("float64", "machine"), "code for float64")
    assert first.load(("float64", "machine")) == "code for float64"
    assert first.load(("int64", "machine")) == "code for int64"


def test_interpolation_in_any_shape():
    table = np.sin(0.3 * np.arange(40.0))
    at = np.array([[9.0, 10.25], [20.5, 17.125]])
    np.testing.assert_allclose(interpolate(table, at), np.sin(0.3 * at), rtol=1e-13)
    np.testing.assert_array_equal(interpolate(table, at.T), interpolate(table, at).T)
    assert isinstance(interpolate(table, 10.25), float) and interpolate(table, 10.25) == interpolate(table, at)[0, 1]
    assert interpolate(table[:STENCIL], 9.0) == table[9]


# Compiled without arguments from the outside, as in a script; every process prints the same numbers.
FIRST_CALLS = """
import sys
import numpy as np
from levycollapse._kernels import exponent, gth, interpolation, log_concave, phases, symbol_complex

print("ready", flush=True)
sys.stdin.readline()
model = (1.0, 0.1, 0.62, 1.5, 3.0)
answers = [
    exponent.exponent(*model),
    exponent.exponent_with_status(*model),
    phases.phase(*model, 0.0),
    symbol_complex.symbol_complex(0.1, 0.7, 0.62, 1.5, 3.0),
    gth.stationary_vector(np.arange(9.0).reshape(3, 3)),
    interpolation.interpolate(np.arange(40.0) ** 2, 20.3),
    log_concave.log_integral(0.0, 1.0, 1.0, 1.0, 1.0, 1.0),
]
print(repr([np.ravel(answer).tolist() for answer in answers]))
"""


def start(cache):
    """A process that waits before its first call."""
    return subprocess.Popen(
        [sys.executable, "-c", FIRST_CALLS],
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    answer, complaint = process.communicate("\n")
    assert process.returncode == 0, complaint
    return answer.removeprefix("ready\n")


def contents(cache):
    return {path.name: path.read_bytes() for path in cache.rglob("*.nb[ci]")}


@pytest.mark.full
def test_processes_that_share_an_empty_cache(tmp_path):
    """All compile and write at once; what they leave is whole, and a later process only reads it."""
    together = [start(tmp_path) for _ in range(3)]
    for process in together:
        assert process.stdout.readline() == "ready\n"
    with ThreadPoolExecutor(len(together)) as pool:
        answers = list(pool.map(finish, together))
    left = contents(tmp_path)
    assert any(name.startswith("exponent.exponent_with_status") for name in left)
    assert any(name.startswith("gth.stationary_vector") for name in left)
    answers.append(finish(start(tmp_path)))
    assert len(set(answers)) == 1 and answers[0].count("[") == 8
    # Nothing was compiled again.
    assert contents(tmp_path) == left
