"""Accuracy of the tail index from an envelope, coverage of its interval, and what is not taken for a power law.

Run `python studies/invert_envelope.py` (about 10 minutes on one core; resumable: finished cells are kept) to write
studies/invert_envelope.json. 128 lags in [1, 1e4], 1 % multiplicative Gaussian noise, seeds 0 to n-1 in every
cell, n = 100 with a power-law tail and 40 in a control.

Spectra with a power-law tail:
    pareto  pure, from tau = 1
    cosh    stationary law of the model without jumps (THEORY 5): zeta has density ~ cosh(zeta)^-beta
    jumps   stationary law with jumps, alpha 1.5, lam 3, from `stationary_density` where the package has it
Controls: one and two exponentials, log-normals, a truncated Pareto, and a tail with the collapsed phase's logarithm.
Masses: coverage of the interval of the mass above a time scale.
"""

import argparse
import json
import platform
from pathlib import Path

import numpy as np
import scipy

import levycollapse as lc
from levycollapse._envelope.forward import envelope
from levycollapse._envelope.inverse import invert_envelope
from levycollapse._laws.spectra import LogNormal, Pareto, TruncatedPareto

LAGS = np.geomspace(1.0, 1e4, 128)
NOISE = 0.01
#: Repetitions of a cell with a power-law tail, and of a control.
SEEDS, CONTROL_SEEDS = 100, 40
BETAS = (0.4, 0.8, 1.5)
#: Laws and time scales for the mass above.
MASS_LAWS = {
    "pareto 0.4": Pareto(0.4),
    "pareto 0.8": Pareto(0.8),
    "pareto 1.5": Pareto(1.5),
    "log-normal sd 1": LogNormal(3.0, 1.0),
    "log-normal sd 2": LogNormal(3.0, 2.0),
}
THRESHOLDS = (10.0, 100.0, 1000.0)
PATH = Path(__file__).with_suffix(".json")


def on_grid(log_density, low, high):
    """Envelope of a smooth density of y = log tau by the trapezoidal rule, which is exact to rounding for it."""
    y = np.linspace(low, high, 20_001)
    log_p = log_density(y)
    return envelope(np.exp(y), LAGS, np.exp(log_p - log_p.max()))


def cosh(beta):
    """Envelope of the stationary law of zeta without jumps, density ~ cosh(zeta)^-beta."""
    return on_grid(lambda y: -beta * np.logaddexp(y, -y), -60.0, min(60 + 40 / beta, 300.0))


def collapsed(rate, log_power):
    """Density of log tau ~ e^(-rate y) y^log_power for y >= 1."""
    return on_grid(lambda y: -rate * y + log_power * np.log(y), 1.0, 60.0)


def model_envelope(beta, alpha=1.5, lam=3.0, kappa=0.5, eta_G=0.05):
    """Envelope of the model whose exponent is beta, from its stationary law."""
    eta_J = lc.intensity_for_exponent(beta, kappa, eta_G, alpha, lam)
    model = lc.CollapseModel.from_parameters(kappa=kappa, eta_G=eta_G, eta_J=eta_J, alpha=alpha, lam=lam)
    return np.asarray(lc.stationary_density(model).envelope(LAGS))


def cases():
    """Name -> (true index or None, envelope without noise, as a function)."""
    found = {}
    for beta in BETAS:
        found[f"pareto {beta}"] = beta, lambda beta=beta: Pareto(beta).envelope(LAGS)
        found[f"cosh {beta}"] = beta, lambda beta=beta: cosh(beta)
        if hasattr(lc, "stationary_density"):
            found[f"jumps {beta}"] = beta, lambda beta=beta: model_envelope(beta)
    found["exponential 100"] = None, lambda: np.exp(-LAGS / 100)
    found["exponentials 5, 500"] = None, lambda: 0.5 * np.exp(-LAGS / 5) + 0.5 * np.exp(-LAGS / 500)
    found["log-normal sd 1"] = None, lambda: LogNormal(3.0, 1.0).envelope(LAGS)
    found["log-normal sd 2"] = None, lambda: LogNormal(3.0, 2.0).envelope(LAGS)
    found["log-normal sd 3"] = None, lambda: LogNormal(3.0, 3.0).envelope(LAGS)
    found["log-normal sd 4"] = None, lambda: LogNormal(3.0, 4.0).envelope(LAGS)
    found["truncated 0.8, 300"] = None, lambda: TruncatedPareto(0.8, 1.0, 300.0).envelope(LAGS)
    found["collapsed 1.5, -2.5"] = None, lambda: collapsed(1.5, -2.5)
    return found


def run_cell(name, sigma_given, seeds):
    """Statistics of one cell over the given seeds."""
    beta, function = cases()[name]
    f = function()
    rows, statuses = [], {}
    for seed in seeds:
        noise = 1 + NOISE * np.random.default_rng(seed).standard_normal(LAGS.size)
        found = invert_envelope(LAGS, f * noise, NOISE if sigma_given else None)
        statuses[found.status.name] = statuses.get(found.status.name, 0) + 1
        rows.append(found.beta)
    value, low, high = np.array(rows).T
    cell = {"spectrum": name, "sigma_given": sigma_given, "n": len(rows), "statuses": statuses}
    tails = np.isfinite(value)
    if tails.any():
        cell |= {"median": round(float(np.median(value[tails])), 5)}
    if beta is not None:
        error = np.where(tails, value / beta - 1, np.inf)
        cell |= {
            "beta": beta,
            "within_5_percent": int((np.abs(error) <= 0.05).sum()),
            "worst": round(float(np.abs(error[tails]).max()), 5),
            "bias": round(float(error[tails].mean()), 5),
            "sd": round(float(error[tails].std()), 5),
            "covered": int(((low <= beta) & (beta <= high)).sum()),
            "half_width": round(float(np.median((high - low)[tails]) / (2 * beta)), 5),
        }
    return cell


def mass_cell(name, seeds):
    """How often the 95 % interval of the mass above a time scale holds the true one."""
    law = MASS_LAWS[name]
    f = law.envelope(LAGS)
    covered, widths = dict.fromkeys(THRESHOLDS, 0), {tau: [] for tau in THRESHOLDS}
    for seed in seeds:
        noise = 1 + NOISE * np.random.default_rng(seed).standard_normal(LAGS.size)
        found = invert_envelope(LAGS, f * noise, NOISE)
        for tau in THRESHOLDS:
            _, low, high = found.mass_above(tau)
            truth = float(law.sf(tau))
            covered[tau] += low <= truth <= high
            widths[tau].append((high - low) / (2 * truth))
    return {
        "mass_above": name,
        "n": len(seeds),
        "thresholds": list(THRESHOLDS),
        "covered": [int(covered[tau]) for tau in THRESHOLDS],
        "half_width": [round(float(np.median(widths[tau])), 4) for tau in THRESHOLDS],
    }


def main():
    """Run the cells that the record lacks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--control-seeds", type=int, default=CONTROL_SEEDS)
    options = parser.parse_args()
    record = {"cells": []}
    if PATH.exists():
        record = json.loads(PATH.read_text())
    record |= {
        "lags": [1.0, 1e4, 128],
        "noise": NOISE,
        "versions": {
            "levycollapse": lc.__version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "python": platform.python_version(),
        },
    }
    masses = {(cell["mass_above"], cell["n"]) for cell in record.setdefault("masses", [])}
    for name in MASS_LAWS:
        if (name, options.control_seeds) not in masses:
            cell = mass_cell(name, range(options.control_seeds))
            print(cell, flush=True)
            record["masses"].append(cell)
            PATH.write_text(json.dumps(record, indent=1, allow_nan=False) + "\n")
    done = {(cell["spectrum"], cell["sigma_given"], cell["n"]) for cell in record["cells"]}
    for name, (beta, _) in sorted(cases().items(), key=lambda item: item[1][0] is not None):
        count = options.control_seeds if beta is None else options.seeds
        for sigma_given in (True, False):
            if (name, sigma_given, count) in done:
                continue
            cell = run_cell(name, sigma_given, range(count))
            print(cell, flush=True)
            record["cells"].append(cell)
            PATH.write_text(json.dumps(record, indent=1, allow_nan=False) + "\n")


if __name__ == "__main__":
    main()
