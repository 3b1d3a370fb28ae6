"""The exceptions that this package raises, and the warnings that it gives, on purpose."""


class ParameterError(ValueError):
    """An argument is outside what the mathematics or the method allows.

    The message names the parameter, the value that was given and what is allowed; for an
    array it names the first offending index.
    """


class ConvergenceError(RuntimeError):
    """A computation could not reach the accuracy that it promises.

    The message gives the accuracy that was reached.
    """


class NonFiniteStateError(FloatingPointError):
    """A simulated path left the finite numbers.

    Attributes
    ----------
    path : int
        Index of the path.
    step : int
        The step that took it there; steps are counted from 0.
    time : float
        When that step began.
    state : float
        Its last finite state.
    drift : float
        The drift there.
    """

    def __init__(self, path: int, step: int, time: float, state: float, drift: float) -> None:
        self.path, self.step, self.time, self.state, self.drift = path, step, time, state, drift
        super().__init__(
            f"path {path} became non-finite in step {step} (t={time:.6g}): it was at zeta={state!r}, "
            f"where the drift is {drift!r}"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.path, self.step, self.time, self.state, self.drift)


class CheckpointError(ValueError):
    """A file or state dict does not hold the network that it should.

    The message names the file, the key, what was found and what was expected. Nothing in a file is ever executed.
    """


class TrainingError(RuntimeError):
    """A training left the finite numbers and was stopped.

    Attributes
    ----------
    step : int
        The first step whose loss, or whose parameters after it, are not finite; steps are counted from 1.
    loss : float
        Its loss.
    checkpoint : str or None
        The last checkpoint, at which everything was finite; None if there is none.
    """

    def __init__(self, step: int, loss: float, checkpoint: str | None) -> None:
        self.step, self.loss, self.checkpoint = step, loss, checkpoint
        kept = "there is no checkpoint" if checkpoint is None else f"the last good checkpoint is {checkpoint}"
        super().__init__(f"step {step} of the training is not finite any more (loss {loss!r}); {kept}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.step, self.loss, self.checkpoint)


class StepSizeWarning(UserWarning):
    """The time step is too large for the slope of the drift, so that the scheme is far from the SDE."""


class SlowDriftWarning(UserWarning):
    """The drift is called from Python at every step, because Numba cannot compile it."""


class AccuracyWarning(UserWarning):
    """A result is less accurate than was asked for; the message has the error that was reached and the tolerance."""
