"""Commands that answer with a number: exponent, threshold, design."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .output import answer
from .ranges import number

Kappa = Annotated[str, typer.Option("--kappa", metavar="NUMBER", help="Restoring plateau of the drift, > 0.")]
EtaG = Annotated[str, typer.Option("--eta-G", metavar="NUMBER", help="Gaussian intensity, >= 0.")]
EtaJ = Annotated[str, typer.Option("--eta-J", metavar="NUMBER", help="Jump intensity, >= 0.")]
Alpha = Annotated[str, typer.Option("--alpha", metavar="NUMBER", help="Stability index, in (0, 2).")]
Lam = Annotated[str, typer.Option("--lam", metavar="NUMBER", help="Tempering lambda, >= 0.")]
Beta = Annotated[str, typer.Option("--beta", metavar="NUMBER", help="The wanted exponent, > 0.")]
Json = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]


def exponent(kappa: Kappa, eta_g: EtaG, eta_j: EtaJ, alpha: Alpha, lam: Lam, json: Json = False) -> None:
    """Exponent, phase and tail of a model.

    Example: levycollapse exponent --kappa 1 --eta-G 0.1 --eta-J 0.62 --alpha 1.5 --lam 3
    """
    import levycollapse as lc

    parameters = _numbers(kappa=kappa, eta_G=eta_g, eta_J=eta_j, alpha=alpha, lam=lam)
    found = lc.solve_exponent(**parameters)
    tail = lc.tail_law(**parameters)
    record: dict[str, Any] = {
        "beta": found.beta,
        "status": found.status,
        "error": found.error,
        "phase": lc.phase(**parameters),
        "eta_J_star": lc.jump_threshold(**{name: v for name, v in parameters.items() if name != "eta_J"}),
        "tail": {
            "form": tail.form,
            "rate": tail.rate,
            "log_power": tail.log_power,
            "loglog_power": tail.loglog_power,
        },
    }
    answer({"parameters": parameters, **record} if json else record, json)


def threshold(kappa: Kappa, eta_g: EtaG, alpha: Alpha, lam: Lam, json: Json = False) -> None:
    """Threshold and critical jump intensity.

    eta_J* is where the exponent sets in, eta_J_critical where beta = 1.

    Example: levycollapse threshold --kappa 1 --eta-G 0.1 --alpha 1.5 --lam 3
    """
    import levycollapse as lc

    parameters = _numbers(kappa=kappa, eta_G=eta_g, alpha=alpha, lam=lam)
    record = {"eta_J_star": lc.jump_threshold(**parameters), "eta_J_critical": lc.critical_intensity(**parameters)}
    answer({"parameters": parameters, **record} if json else record, json)


def design(beta: Beta, kappa: Kappa, eta_g: EtaG, alpha: Alpha, lam: Lam, json: Json = False) -> None:
    """Jump intensity for a wanted exponent.

    Example: levycollapse design --beta 0.5 --kappa 1 --eta-G 0.1 --alpha 1.5 --lam 3
    """
    import levycollapse as lc

    parameters = _numbers(beta=beta, kappa=kappa, eta_G=eta_g, alpha=alpha, lam=lam)
    found = lc.solve_intensity(**parameters)
    record = {"eta_J": found.eta_J, "status": found.status}
    answer({"parameters": parameters, **record} if json else record, json)


def _numbers(**texts: str) -> dict[str, float]:
    return {name: number(name, text) for name, text in texts.items()}
