"""`levycollapse simulate`: paths to a file and a picture, in pieces so that an interruption loses little."""

from __future__ import annotations

import json
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from .._checks import POSITIVE, checked
from ..errors import ParameterError
from . import model
from .files import check_dataset_name, read_dataset, write_dataset
from .output import Interrupted
from .ranges import number, whole

#: Attribute in which the file keeps the parameters that it was made with.
PARAMETERS = "parameters"
#: Seconds that a piece of the run should take: what an interruption loses at most.
PIECE_SECONDS = 2.0
#: Seconds between two saves, which a killed run falls back to, and the least ratio of that time to what a save takes.
SAVE_SECONDS = 10.0
SAVE_RATIO = 10.0
STORED_TIMES = 200


def simulate(
    kappa: model.Kappa = None,
    eta_g: model.EtaG = None,
    eta_j: model.EtaJ = None,
    alpha: model.Alpha = None,
    lam: model.Lam = None,
    center: model.Center = None,
    drift_width: model.DriftWidth = None,
    paths: Annotated[str | None, typer.Option("--paths", metavar="COUNT", help="Number of paths [1000].")] = None,
    t_end: Annotated[str, typer.Option("--t-end", metavar="NUMBER", help="Time to reach.")] = "20",
    dt: Annotated[str | None, typer.Option("--dt", metavar="NUMBER", help="Time step [0.01].")] = None,
    scheme: Annotated[str | None, typer.Option(help="euler-maruyama or strang [strang].")] = None,
    initial: Annotated[str | None, typer.Option(metavar="NUMBER", help="State of every path at time 0 [0].")] = None,
    seed: Annotated[str | None, typer.Option(metavar="INTEGER", help="Seed; without one it is new each time.")] = None,
    store_every: Annotated[
        str | None,
        typer.Option("--store-every", metavar="STEPS", help="Steps between stored states [about 200 times]."),
    ] = None,
    resume: Annotated[
        Path | None, typer.Option("--continue", metavar="FILE", help="Go on from a file of this command.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File, .nc or .zarr [results/simulation/paths.nc, or the continued file]."),
    ] = None,
) -> None:
    """Simulate paths of the model.

    Writes the states (NetCDF or Zarr) and a picture of paths and histogram (PNG and PDF) beside them. Ctrl-C leaves a
    valid file with the run so far, and says how to continue it; the continuation has the same bits as an
    uninterrupted run. The file is also written every 10 seconds (less often if it takes more than a second to write),
    so that a run that is killed outright loses no more than that.

    Example: levycollapse simulate --eta-J 0.8 --paths 2000 --t-end 10 --dt 0.02 --seed 1
    """
    given = {
        "kappa": kappa,
        "eta_G": eta_g,
        "eta_J": eta_j,
        "alpha": alpha,
        "lam": lam,
        "center": center,
        "width": drift_width,
    }
    texts = {**given, "paths": paths, "dt": dt, "scheme": scheme, "initial": initial, "seed": seed}
    if resume is None:
        run = _Run.fresh(texts, store_every)
    else:
        named = [name for name, text in texts.items() if text is not None]
        if named:
            raise ParameterError(f"{named[0]} is taken from the file that is continued; leave it out")
        run = _Run.of(resume, store_every)
    target = output or resume or Path("results/simulation/paths.nc")
    check_dataset_name(target)
    run.to(_positive("t_end", t_end), target)


class _Run:
    """A simulation that grows piece by piece."""

    def __init__(self, settings: dict[str, Any], result: Any = None) -> None:
        import levycollapse as lc

        self.settings = settings
        self.result = result
        self.interrupted = False
        self.model = lc.CollapseModel.from_parameters(**settings["model"])

    @classmethod
    def fresh(cls, texts: dict[str, str | None], store_every: str | None) -> _Run:
        settings: dict[str, Any] = {
            "model": model.parameters(texts),
            "n_paths": whole("paths", texts["paths"] or "1000"),
            "dt": _positive("dt", texts["dt"] or "0.01"),
            "scheme": texts["scheme"] or "strang",
            "initial": number("initial", texts["initial"] or "0"),
            "seed": None if texts["seed"] is None else whole("seed", texts["seed"], least=0),
            "store_every": None if store_every is None else whole("store_every", store_every),
        }
        return cls(settings)

    @classmethod
    def of(cls, path: Path, store_every: str | None) -> _Run:
        result = read_dataset(path)
        if PARAMETERS not in result.attrs:
            raise ParameterError(f"{path} was not made by `levycollapse simulate`")
        settings = _checked_settings(path, result)
        if store_every is not None:
            settings["store_every"] = whole("store_every", store_every)
        return cls(settings, result)

    def to(self, t_end: float, target: Path) -> None:
        from .._simulate.record import Record

        dt = self.settings["dt"]
        done = 0 if self.result is None else Record.of(self.result).step
        last = round(t_end / dt)
        if self.settings["store_every"] is None:
            self.settings["store_every"] = max(1, last // STORED_TIMES)
        stride = self.settings["store_every"]
        if self.result is not None and t_end <= done * dt:
            raise ParameterError(f"t_end={t_end!r} must be later than the end of the continued file, {done * dt:g}")

        target.parent.mkdir(parents=True, exist_ok=True)
        # A terminated run ends as an interrupted one.
        previous = {kind: signal.signal(kind, self._interrupt) for kind in (signal.SIGINT, signal.SIGTERM)}
        saved, interval = time.monotonic(), SAVE_SECONDS
        try:
            self._compile()
            with _bar(last - done) as bar:
                piece = stride
                while done < last:
                    started = time.monotonic()
                    stop = min(last, (done // stride) * stride + piece)
                    # The last piece ends at t_end itself, which `simulate` checks to be a whole number of steps.
                    self._extend(t_end if stop == last else stop * dt, stride)
                    bar.update(stop - done)
                    done = stop
                    seconds = time.monotonic() - started
                    piece = stride * max(1, round(piece / stride * min(4.0, PIECE_SECONDS / max(seconds, 1e-3))))
                    self._heed()
                    if time.monotonic() - saved > interval:
                        started = time.monotonic()
                        self._save(target)
                        saved = time.monotonic()
                        interval = max(SAVE_SECONDS, SAVE_RATIO * (saved - started))
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            self._stop(target, t_end)
        finally:
            for kind, handler in previous.items():
                signal.signal(kind, handler)
        self._save(target)
        files = [target, *self._draw(target)]
        first, end = float(self.result["time"][0]), float(self.result["time"][-1])
        whole, there = self.settings["n_paths"], self.result.sizes["path"]
        count = f"{whole} paths" if there == whole else f"{there} of {whole} paths"
        print(f"{count}, times {first:g} to {end:g}, phase {self.model.phase.name.lower()}")
        for path in files:
            print(path)

    def _interrupt(self, number: int, frame: Any) -> None:
        """Stop at once, or at the next look if what runs now swallows the exception, as a compiler's callbacks do."""
        self.interrupted = True
        raise KeyboardInterrupt

    def _heed(self) -> None:
        if self.interrupted:
            raise KeyboardInterrupt

    def _compile(self) -> None:
        """Have the kernels compiled and the table built before the first piece, by one step of one path."""
        import levycollapse as lc

        dt, scheme = self.settings["dt"], self.settings["scheme"]
        with warnings.catch_warnings():
            # The run itself gives them.
            warnings.simplefilter("ignore")
            lc.simulate(self.model, 1, dt, dt, scheme=scheme, rng=0)
        self._heed()

    def _extend(self, t_end: float, stride: int) -> None:
        import xarray as xr

        import levycollapse as lc

        settings = self.settings
        common = {"dt": settings["dt"], "scheme": settings["scheme"], "store_every": stride}
        if self.result is None:
            self.result = lc.simulate(
                self.model, settings["n_paths"], t_end, **common, initial=settings["initial"], rng=settings["seed"]
            )
            return
        new = lc.simulate(self.model, settings["n_paths"], t_end, **common, continue_from=self.result)
        zeta = xr.concat([self.result["zeta"], new["zeta"]], dim="time")
        self.result = new.drop_vars(["zeta", "time"]).assign(zeta=zeta)

    def _save(self, target: Path) -> None:
        self.result.attrs[PARAMETERS] = json.dumps(self.settings, allow_nan=False)
        write_dataset(target, self.result)

    def _stop(self, target: Path, t_end: float) -> None:
        if self.result is None:
            raise Interrupted("interrupted before the first states were there; nothing was written")
        self._save(target)
        raise Interrupted(
            f"interrupted at t={float(self.result['time'][-1]):g}; {target} holds the run so far; continue it with: "
            f"levycollapse simulate --continue {target} --t-end {t_end:g}"
        )

    def _draw(self, target: Path) -> list[Path]:
        from ..plotting import COLUMN_WIDTH, new_axes, plot_distribution, plot_paths, save_figure, style

        with style():
            left = new_axes(figsize=(2 * COLUMN_WIDTH, 2.7))
            figure = left.get_figure(root=True)
            assert figure is not None
            left.remove()
            left, right = figure.subplots(1, 2, sharey=True, width_ratios=(2, 1))
            plot_paths(self.result, left)
            plot_distribution(self.result, right, horizontal=True)
            right.set_ylabel("")
            return save_figure(left, target.with_suffix(""))


def _checked_settings(path: Path, result: Any) -> dict[str, Any]:
    """Settings of the file that is continued; a file that is not whole is refused."""
    import levycollapse as lc

    from .._simulate.record import Record

    for name in ("zeta", "time"):
        if name not in result.variables:
            raise ParameterError(f"{path} has no variable {name!r}; it must be a file of `levycollapse simulate`")
    if result["zeta"].dims != ("path", "time"):
        raise ParameterError(f"{path}: zeta has dimensions {result['zeta'].dims}, which must be ('path', 'time')")
    record = Record.of(result, str(path))
    where = f"{path}: its attribute {PARAMETERS!r}"
    try:
        settings = json.loads(result.attrs[PARAMETERS])
    except (ValueError, TypeError, RecursionError) as error:
        raise ParameterError(f"{where} must be JSON text: {error}") from None
    if not isinstance(settings, dict):
        raise ParameterError(f"{where} must be a JSON object, not {settings!r}")
    for name in ("model", "n_paths", "dt", "scheme", "store_every"):
        if name not in settings:
            raise ParameterError(f"{where} lacks {name!r}")
    for name in ("n_paths", "dt", "scheme"):
        if settings[name] != getattr(record, name):
            raise ParameterError(
                f"{where} has {name}={settings[name]!r}, but the states were made with {getattr(record, name)!r}"
            )
    stride = settings["store_every"]
    if stride is not None and (isinstance(stride, bool) or not isinstance(stride, int) or stride < 1):
        raise ParameterError(f"{where} has store_every={stride!r}, which must be an integer >= 1")
    if not isinstance(settings["model"], dict):
        raise ParameterError(f"{where} has model={settings['model']!r}, which must be a JSON object")
    try:
        lc.CollapseModel.from_parameters(**settings["model"])
    except (TypeError, ParameterError) as error:
        raise ParameterError(f"{where}: model: {error}") from None
    return settings


def _positive(name: str, text: str) -> float:
    return float(checked(name, number(name, text), POSITIVE))


def _bar(steps: int) -> Any:
    from tqdm import tqdm

    return tqdm(
        total=steps, unit="step", unit_scale=True, desc="simulate", disable=not sys.stderr.isatty(), leave=False
    )
