"""The training loop."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from tqdm import tqdm

from .._checks import POSITIVE, FloatArray
from ..errors import CheckpointError, ParameterError, TrainingError
from ._files import checkpoints_in, read_checkpoint, replaced, write_checkpoint
from ._optimizers import built
from ._options import number, whole
from .injection import Injector, StableInjection, on_device
from .observers import Recorder, UpdateObserver
from .schedules import due
from .streams import Stream, Streams
from .tasks import Task

#: Steps between looks at the loss where a look makes the host wait for the device.
_DEVICE_INTERVAL = 50


@dataclass(frozen=True)
class TrainingResult:
    """What a training has given.

    Attributes
    ----------
    module : torch.nn.Module
        The network, after the last step.
    loss : ndarray
        Loss of every step, before its update (steps,).
    best_loss : float
        What the best predictor can reach, as the task says; nan if it does not.
    checkpoints : dict of int to Path
        Where the network is after the steps that were asked for; empty without a directory.
    key : int
        What all random streams come from (see `Streams`).
    resumed_from : int
        Steps that an earlier call had done.
    seconds : float
        Wall time of the steps of this call.
    """

    module: nn.Module
    loss: FloatArray
    best_loss: float
    checkpoints: dict[int, Path]
    key: int
    resumed_from: int
    seconds: float


def train(
    module: nn.Module | Callable[[], nn.Module],
    task: Task,
    *,
    steps: int,
    batch_size: int,
    length: int,
    optimizer: str | Callable[..., Optimizer] = "adamw",
    lr: float = 1e-3,
    optimizer_options: Mapping[str, Any] | None = None,
    clip: float | None = None,
    sequences: int | None = None,
    checkpoints: int | Sequence[int] = (),
    out: str | Path | None = None,
    resume: bool = True,
    seed: Any = None,
    injection: StableInjection | None = None,
    recorders: Sequence[Recorder | UpdateObserver] = (),
    read_every: int | None = None,
    progress: bool = False,
) -> TrainingResult:
    """Train a recurrent network on a task.

    Parameters
    ----------
    module : torch.nn.Module or callable
        Maps inputs (B, T, D) to predictions, or to a tuple that begins with them; trained in place, on the device that
        it is on. A function without arguments makes it from the training's own stream for initial weights.
    task : Task
        Where batches and their loss come from.
    steps : int
        Steps of the optimizer.
    batch_size : int
        Sequences in a batch, B.
    length : int
        Steps of a sequence, T.
    optimizer : str or callable
        ``"adamw"``, ``"adam"``, ``"sgd"``, ``"momentum"`` (SGD with momentum 0.9) or ``"rmsprop"``, as torch has them;
        or a function of the parameters and ``lr`` that makes an optimizer.
    lr : float
        Learning rate, > 0.
    optimizer_options : mapping, optional
        Further arguments of the optimizer, such as ``weight_decay``.
    clip : float, optional
        Largest norm of the gradient of all parameters together; not clipped by default.
    sequences : int, optional
        Train on a fixed set of so many sequences, in batches without replacement and in another order in every epoch;
        the last batch of an epoch may be smaller. By default every batch is fresh.
    checkpoints : int or sequence of int
        Steps after which the network is kept: every so many, or those listed (see `linear_steps`, `geometric_steps`;
        0 is the beginning). The last step is always one.
    out : path, optional
        Directory for checkpoints, the learning curve and what recorders have recorded; made if it is not there. Without
        it nothing is written.
    resume : bool
        Go on from the last checkpoint in `out`. If False, `out` must not hold a training.
    seed : None, int, SeedSequence, BitGenerator or Generator
        Of all random streams. A training that is resumed needs the same one, or None.
    injection : StableInjection, optional
        Noise that is added to the updates.
    recorders : sequence of Recorder or UpdateObserver
        What looks on.
    read_every : int, optional
        Steps between looks at the loss; 1 on the CPU and 50 elsewhere, where a look makes the host wait. Nothing but
        the time at which a loss that is not finite is noticed depends on it.
    progress : bool
        Show steps, loss and the time that is left.

    Returns
    -------
    TrainingResult
        The network, its learning curve and where its checkpoints are.

    Raises
    ------
    ParameterError
        If an argument is outside its range, or the network's predictions have another shape than the targets.
    CheckpointError
        If `out` holds another training than this one, or a file in it is broken.
    TrainingError
        If a loss or a parameter is not finite. The last good checkpoint stays, and the learning curve is written.

    Notes
    -----
    Random numbers of every step depend on the seed, their purpose and the step alone (see `Streams`). So recorders,
    checkpoints and other trainings in the same process change nothing, to the last bit, and a training that was killed
    and is called again ends in the same bits as one that was not, on the same kind of machine with the same number of
    threads. Layers such as dropout draw from torch's generators, which are seeded in every step and put back in the
    end.

    Checkpoints are loaded without running code from them; `levycollapse.networks` reads them too. A checkpoint holds
    the network, the optimizer's state and the losses so far.

    References
    ----------
    arXiv:2606.29519.

    Examples
    --------
    >>> from levycollapse.networks import DiagGate
    >>> from levycollapse.training import DelayedRegression, train
    >>> task = DelayedRegression(input_size=3, lags=(1, 3), coefficients=(0.5, 1.0), noise=0.1)
    >>> result = train(lambda: DiagGate(3, 16), task, steps=60, batch_size=8, length=20, lr=3e-2, clip=1.0, seed=0)
    >>> result.loss.shape, bool(result.loss[-5:].mean() < result.loss[:5].mean())
    ((60,), True)
    """
    number_of_steps, folder = whole("steps", steps, 1), None if out is None else Path(out)
    plan = due(checkpoints, number_of_steps)
    if folder is None and (np.ndim(checkpoints) == 0 or len(plan) > 1):
        raise ParameterError("checkpoints needs out=, a directory to write them to")
    kept, last = _last_checkpoint(folder, number_of_steps, resume)
    streams = Streams.from_key(last["key"]) if last is not None and seed is None else Streams(seed)
    network = _made(module, streams)
    made, optimizer_name = built(optimizer, network, lr, optimizer_options)
    run = _Run(
        network,
        task,
        made,
        streams,
        _Data(task, whole("batch_size", batch_size, 1), whole("length", length, 1), sequences, streams),
        None if clip is None else number("clip", clip, POSITIVE),
        None if injection is None else Injector(injection, network),
        _checked_recorders(recorders),
        folder,
    )
    about = {
        "task": repr(task),
        "module": _shapes(network),
        "optimizer": optimizer_name,
        "batch_size": batch_size,
        "length": length,
        "sequences": sequences,
        "clip": clip,
        "injection": None if injection is None else injection.describe(),
    }
    if last is not None:
        run.restore(kept, last, about)
    run.about = about
    interval = whole("read_every", read_every, 1) if read_every is not None else None
    began = time.perf_counter()
    resumed_from = run.step
    with _own_streams(run.device):
        run.go(number_of_steps, plan, interval, progress)
    seconds = time.perf_counter() - began
    return TrainingResult(
        network,
        np.array(run.losses),
        float(task.best_loss),
        {}
        if folder is None
        else {step: path for step, path in checkpoints_in(folder).items() if step <= number_of_steps},
        streams.key,
        resumed_from,
        seconds,
    )


class _Data:
    """Batches by step."""

    def __init__(self, task: Task, batch_size: int, length: int, sequences: int | None, streams: Streams) -> None:
        self.task, self.batch_size, self.length, self.streams = task, batch_size, length, streams
        self.fixed: tuple[Tensor, Tensor] | None = None
        self._epoch, self._order = -1, torch.empty(0, dtype=torch.int64)
        if sequences is not None:
            self.fixed = task.batch(whole("sequences", sequences, 1), length, streams.generator(Stream.DATA, 0))
            self.per_epoch = math.ceil(sequences / batch_size)

    def batch(self, step: int, device: torch.device, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Inputs and targets of a step, counted from 1."""
        if self.fixed is None:
            x, y = self.task.batch(self.batch_size, self.length, self.streams.generator(Stream.DATA, step))
            return _like_module(x, device, dtype), _like_module(y, device, dtype)
        x, y = self.fixed = (_like_module(self.fixed[0], device, dtype), _like_module(self.fixed[1], device, dtype))
        epoch, place = divmod(step - 1, self.per_epoch)
        if epoch != self._epoch:
            order = self.streams.generator(Stream.BATCHES, epoch).permutation(x.shape[0])
            self._epoch, self._order = epoch, on_device(torch.from_numpy(order), device)
        chosen = self._order[place * self.batch_size : (place + 1) * self.batch_size]
        return x[chosen], y[chosen]


class _Run:
    """A training under way."""

    about: dict[str, Any]

    def __init__(
        self,
        module: nn.Module,
        task: Task,
        optimizer: Optimizer,
        streams: Streams,
        data: _Data,
        clip: float | None,
        injector: Injector | None,
        recorders: Sequence[Any],
        folder: Path | None,
    ) -> None:
        self.module, self.task, self.optimizer, self.streams, self.data = module, task, optimizer, streams, data
        self.clip, self.injector, self.recorders, self.folder = clip, injector, recorders, folder
        self.observers = [recorder for recorder in recorders if isinstance(recorder, UpdateObserver)]
        self.trained = [parameter for parameter in module.parameters() if parameter.requires_grad]
        self.device, self.dtype = self.trained[0].device, self.trained[0].dtype
        self.step = 0
        self.losses: list[float] = []
        self._unread: list[Tensor] = []
        self.good: Path | None = None

    def go(self, steps: int, plan: Sequence[int], interval: int | None, progress: bool) -> None:
        """Train up to `steps`."""
        if interval is None:
            interval = 1 if self.device.type == "cpu" else _DEVICE_INTERVAL
        self.module.train()
        wanted = set(plan)
        if self.good is None:
            if self.injector is not None:
                self.injector.look()
            self._record(0)
            if self.folder is not None and 0 in wanted:
                self._keep()
        with tqdm(total=steps, initial=self.step, unit="step", disable=not progress) as bar:
            while self.step < steps:
                self._advance()
                if self.step % interval == 0 or self.step in wanted:
                    self._read()
                    bar.set_postfix(loss=f"{self.losses[-1]:.4g}", refresh=False)
                bar.update()
                if self.folder is not None and self.step in wanted:
                    self._keep()
        if self.folder is not None:
            self._write_curve()

    def restore(self, path: Path, content: dict[str, Any], about: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        then = json.loads(content["about"]) | {"seed": content["key"]}
        for name, value in (about | {"seed": self.streams.key}).items():
            if then.get(name) != value:
                raise CheckpointError(
                    f"{path}: key {name!r}: found {then.get(name)!r}, expected {value!r}; it is a checkpoint of "
                    "another training"
                )
        self.module.load_state_dict(content["model"])
        self.optimizer.load_state_dict(content["optimizer"])
        self.step, self.losses, self.good = content["step"], content["losses"].tolist(), path
        if self.injector is not None:
            self.injector.choose(content["units"].numpy())
        for place, recorder in enumerate(self.recorders):
            file = self._recorded(place, self.step)
            if file.exists() and hasattr(recorder, "restore"):
                recorder.restore(file)

    def _advance(self) -> None:
        step = self.step + 1
        self._seed_torch(step)
        x, y = self.data.batch(step, self.device, self.dtype)
        self.optimizer.zero_grad(set_to_none=True)
        output = self.module(x)
        prediction = output[0] if isinstance(output, tuple) else output
        if prediction.shape != y.shape:
            raise ParameterError(
                f"module predicts {tuple(prediction.shape)}; the targets are {tuple(y.shape)}, (B, T, output_size)"
            )
        loss = self.task.loss(prediction, y)
        loss.backward()  # type: ignore[no-untyped-call]
        if self.clip is not None:
            nn.utils.clip_grad_norm_(self.trained, self.clip)
        for observer in self.observers:
            observer.before_update(step, self.module)
        if self.injector is not None:
            self.injector.before_update()
        self.optimizer.step()
        injected = {}
        if self.injector is not None:
            injected = self.injector.after_update(step, self.streams.generator(Stream.INJECTION, step))
        for observer in self.observers:
            observer.after_update(step, self.module, injected)
        self._unread.append(loss.detach())
        self.step = step
        self._record(step)

    def _seed_torch(self, step: int) -> None:
        seed = self.streams.torch_seed(Stream.MODULE, step)
        torch.default_generator.manual_seed(seed)
        if self.device.type == "cuda":
            torch.cuda.default_generators[self.device.index].manual_seed(seed)

    def _record(self, step: int) -> None:
        for recorder in self.recorders:
            if callable(recorder):
                recorder(step)

    def _read(self) -> None:
        """Fetch the losses that are not read yet; this waits for the device."""
        if self._unread:
            values = torch.stack(self._unread).double().tolist()
            self._unread = []
            self.losses += values
            bad = next((index for index, value in enumerate(values) if not math.isfinite(value)), None)
            if bad is not None:
                self._fail(self.step - len(values) + 1 + bad)

    def _keep(self) -> None:
        assert self.folder is not None
        finite = torch.stack([torch.isfinite(parameter).all() for parameter in self.trained]).all()
        if not finite:
            self._fail(self.step)
        for place, recorder in enumerate(self.recorders):
            if hasattr(recorder, "save") and getattr(recorder, "steps", None):
                recorder.save(self._recorded(place, self.step))
        mask = None if self.injector is None else self.injector.mask
        self.good = write_checkpoint(
            self.folder,
            self.step,
            {
                "key": self.streams.key,
                "about": json.dumps(self.about),
                "model": self.module.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "losses": torch.tensor(self.losses, dtype=torch.float64),
                "units": None if mask is None else torch.from_numpy(mask),
            },
        )
        for place in range(len(self.recorders)):
            for old in self.folder.glob(self._recorded(place, "*").name):
                if old != self._recorded(place, self.step):
                    old.unlink()

    def _recorded(self, place: int, step: int | str) -> Path:
        assert self.folder is not None
        return self.folder / f"recorder-{place}-step-{step if isinstance(step, str) else f'{step:08d}'}.npz"

    def _fail(self, step: int) -> None:
        if self.folder is not None:
            self._write_curve()
        raise TrainingError(
            step, self.losses[step - 1] if step else math.nan, None if self.good is None else str(self.good)
        )

    def _write_curve(self) -> None:
        assert self.folder is not None
        loss = np.array(self.losses)
        with replaced(self.folder / "learning_curve.npz") as part, part.open("wb") as file:
            np.savez(file, step=np.arange(1, loss.size + 1), loss=loss)


def _like_module(values: Tensor, device: torch.device, dtype: torch.dtype) -> Tensor:
    """On the module's device, and numbers in its precision; labels stay integers."""
    moved = values if values.device == device else on_device(values, device)
    return moved.to(dtype) if moved.is_floating_point() else moved


@contextmanager
def _own_streams(device: torch.device) -> Iterator[None]:
    """Torch's generators are the training's inside, and as they were afterwards."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        yield


def _made(module: Any, streams: Streams) -> nn.Module:
    if isinstance(module, nn.Module):
        return module
    if not callable(module):
        raise ParameterError(
            f"module is a {type(module).__name__}; it must be a torch module or a function that makes one"
        )
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(streams.torch_seed(Stream.INITIALISATION))
        made = module()
    if not isinstance(made, nn.Module):
        raise ParameterError(f"module made a {type(made).__name__}; it must make a torch module")
    return made


def _last_checkpoint(folder: Path | None, steps: int, resume: bool) -> tuple[Path, dict[str, Any] | None]:
    if folder is None:
        return Path(), None
    folder.mkdir(parents=True, exist_ok=True)
    for unfinished in folder.glob(".*.part"):
        unfinished.unlink()
    there = [path for step, path in checkpoints_in(folder).items() if step <= steps]
    if not there:
        return folder, None
    if not resume:
        raise ParameterError(f"resume=False, but out={str(folder)!r} holds a training; choose another directory")
    return there[-1], read_checkpoint(there[-1])


def _checked_recorders(recorders: Any) -> list[Any]:
    for recorder in recorders:
        if not callable(recorder) and not isinstance(recorder, UpdateObserver):
            raise ParameterError(
                f"recorders has a {type(recorder).__name__}; it must be callable with the step, or have "
                "before_update and after_update"
            )
    return list(recorders)


def _shapes(module: nn.Module) -> str:
    state = module.state_dict()
    parts = ", ".join(f"{name} {tuple(value.shape)} {value.dtype}" for name, value in state.items())
    return f"{type(module).__qualname__}({parts})"
