"""Entry point: every expected error is one line on stderr and exit code 2."""

from __future__ import annotations

import sys
import warnings

import typer

from ..errors import AccuracyWarning, CheckpointError, ConvergenceError, ParameterError
from . import diagram, networks, theory
from .envelope import envelope
from .learnability import learnability
from .output import Interrupted
from .simulate import simulate
from .stationary import stationary

#: The exit code into which typer turns a keyboard interrupt.
INTERRUPTED = 130

app = typer.Typer(
    name="levycollapse",
    help="Heavy-tailed learning dynamics of gated recurrent networks.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(show: bool) -> None:
    if show:
        from .. import __version__

        typer.echo(f"levycollapse {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    pass


app.command("phase-diagram")(diagram.phase_diagram)
app.command("simulate")(simulate)
app.command("stationary")(stationary)
app.command("envelope")(envelope)
app.command("learnability")(learnability)
app.add_typer(networks.app, name="networks")
app.command("exponent")(theory.exponent)
app.command("threshold")(theory.threshold)
app.command("design")(theory.design)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit.

    Parameters
    ----------
    arguments : list of str, optional
        Instead of `sys.argv[1:]`.
    """
    sys.exit(_run(arguments))


def _run(arguments: list[str] | None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", AccuracyWarning)
            warnings.showwarning = _show
            code = app(arguments or ["--help"], prog_name="levycollapse", standalone_mode=False)
    except typer.TyperException as error:
        return _fail(error.format_message())
    except (ParameterError, ConvergenceError, CheckpointError) as error:
        return _fail(str(error))
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except OSError as error:
        return _fail(f"{error.strerror or error}: {error.filename}" if error.filename else str(error))
    except Interrupted as error:
        return _fail(str(error), code=INTERRUPTED)
    if code == INTERRUPTED:
        return _fail("interrupted; nothing was written", code=INTERRUPTED)
    return code if isinstance(code, int) else 0


def _show(message: Warning | str, *_: object, **__: object) -> None:
    """A warning in one line, without the place in this package that gave it."""
    print(f"levycollapse: warning: {' '.join(str(message).split())}", file=sys.stderr)


def _fail(message: str, code: int = 2) -> int:
    print(f"levycollapse: error: {' '.join(message.split())}", file=sys.stderr)
    return code
