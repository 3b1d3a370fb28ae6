"""Numeric functions, LaTeX and the face of the symbolic sub-package."""

from __future__ import annotations

import inspect
import subprocess
import sys

import mpmath as mp
import numpy as np
import pytest
import sympy as sp

from levycollapse import symbolic
from levycollapse.errors import ParameterError


def test_every_public_name_exists_once():
    assert sorted(set(symbolic.__all__)) == sorted(symbolic.__all__)
    assert all(hasattr(symbolic, name) for name in symbolic.__all__)


def test_sympy_comes_with_the_sub_package_only():
    code = (
        "import sys, levycollapse; before = 'sympy' in sys.modules; import levycollapse.symbolic;"
        "print(before, 'sympy' in sys.modules, 'numba' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["False", "True", "False"]


def test_symbols_have_their_ranges():
    assert all(
        x.is_positive for x in (symbolic.kappa, symbolic.alpha, symbolic.lam, symbolic.beta, symbolic.z, symbolic.k)
    )
    assert all(x.is_nonnegative and not x.is_positive for x in (symbolic.eta_G, symbolic.eta_J))
    assert symbolic.s.is_real and symbolic.zeta.is_real and not symbolic.s.is_positive
    assert str(symbolic.lam) == "lambda"


def test_arguments_have_the_order_and_names_of_the_numerical_functions():
    phi = symbolic.numeric(symbolic.characteristic())
    assert list(inspect.signature(phi).parameters) == ["beta", "kappa", "eta_G", "eta_J", "alpha", "lam"]
    by_name = phi(lam=3.0, alpha=1.5, eta_J=0.6, eta_G=0.1, kappa=1.0, beta=0.5)
    assert by_name == phi(0.5, 1.0, 0.1, 0.6, 1.5, 3.0)
    chosen = symbolic.numeric(symbolic.cumulant(2), [symbolic.lam, symbolic.alpha, symbolic.eta_J])
    assert list(inspect.signature(chosen).parameters) == ["lam", "alpha", "eta_J"]


def test_numpy_broadcasts_and_mpmath_keeps_its_precision():
    expr = symbolic.exponent_sensitivities().alpha
    fast, exact = symbolic.numeric(expr), symbolic.numeric(expr, backend="mpmath")
    beta = np.array([0.5, 1.0])[:, None]
    eta_J = np.array([0.6, 0.7, 0.8])
    grid = fast(beta, 1.0, 0.1, eta_J, 1.5, 3.0)
    assert grid.shape == (2, 3)
    with mp.workdps(50):
        value = exact(mp.mpf(1), mp.mpf(1), mp.mpf("0.1"), mp.mpf("0.8"), mp.mpf("1.5"), mp.mpf(3))
        assert float(value) == pytest.approx(grid[1, 2], rel=1e-12)
        assert abs(value - mp.mpf(float(value))) > 1e-30


def test_lambert_form_is_real_and_nan_beyond_the_branch_point():
    leading = symbolic.near_threshold_series(1, alpha=1).explicit(keep=(symbolic.Delta,))
    gap = symbolic.numeric(leading)
    assert list(inspect.signature(gap).parameters) == ["Delta", "kappa", "eta_G", "eta_J", "lam"]
    near, far = gap(Delta=np.array([1e-6, 1e6]), kappa=0.8, eta_G=0.15, eta_J=0.5, lam=2.0)
    assert near.dtype == np.float64 and 0 < near < 1e-6
    assert np.isnan(far)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: symbolic.numeric(symbolic.kappa, backend="jax"), "backend='jax' must be one of 'numpy', 'mpmath'"),
        (lambda: symbolic.numeric(symbolic.kappa, [symbolic.lam]), "expr contains kappa, which is not among"),
        (lambda: symbolic.numeric(sp.Symbol("x")), "expr contains x, which is not among"),
        (lambda: symbolic.numeric(symbolic.kappa, ["kappa"]), "arguments=.* must be SymPy symbols"),
        (lambda: symbolic.numeric(symbolic.moment_identity()), r"undefined function F\(zeta\)"),
        (lambda: symbolic.numeric("kappa"), "expr='kappa' must be a number or a SymPy expression"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_latex_uses_the_names_of_the_field():
    text = symbolic.latex(sp.Eq(symbolic.eta_J_star, symbolic.jump_threshold()))
    assert text.startswith(r"\eta_J^\ast = ")
    for part in (r"\eta_G", r"\kappa", r"\lambda", r"\alpha", r"\Gamma\left(- \alpha\right)", r"\max"):
        assert part in text
    assert "eta_{J}" not in text and "lambda_" not in text
    assert symbolic.latex(symbolic.drift) == r"F{\left(\zeta \right)}"
    series = symbolic.near_threshold_series(2, alpha=1)
    assert symbolic.latex(sp.Eq(symbolic.d, series.series)).startswith("d = d_0 ")
    assert r"W_{-1}\left(" in symbolic.latex(series.where[symbolic.symbols.L])
    assert symbolic.latex(symbolic.jump_symbol()).count("{") == symbolic.latex(symbolic.jump_symbol()).count("}")


def test_latex_sums_read_from_the_leading_term():
    assert symbolic.latex(symbolic.lam - symbolic.beta) == r"\lambda - \beta"
    assert symbolic.latex(symbolic.kappa - symbolic.eta_G) == r"\kappa - \eta_G"
    series = symbolic.latex(symbolic.small_exponent_series(3).series)
    places = [series.index(part) for part in ("1", "b_0^{2}", "b_0^{4}")]
    assert places == sorted(places)
    assert symbolic.latex(-symbolic.kappa - symbolic.lam).count("-") == 2


def test_latex_does_not_call_the_digamma_function_psi():
    text = symbolic.latex(symbolic.exponent_sensitivities().alpha)
    assert r"\operatorname{digamma}\left(- \alpha\right)" in text
    assert "psi" not in text and "polygamma" not in text
    assert (
        symbolic.latex(sp.polygamma(1, symbolic.alpha) ** 2) == r"\operatorname{polygamma}_{1}^{2}\left(\alpha\right)"
    )
