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


class StepSizeWarning(UserWarning):
    """The time step is too large for the slope of the drift, so that the scheme is far from the SDE."""


class SlowDriftWarning(UserWarning):
    """The drift is called from Python at every step, because Numba cannot compile it."""


class AccuracyWarning(UserWarning):
    """A result is less accurate than was asked for; the message has the error that was reached and the tolerance."""
