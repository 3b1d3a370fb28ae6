"""The exceptions that this package raises on purpose."""


class ParameterError(ValueError):
    """An argument is outside what the mathematics or the method allows.

    The message names the parameter, the value that was given and what is allowed; for an
    array it names the first offending index.
    """


class ConvergenceError(RuntimeError):
    """A computation could not reach the accuracy that it promises.

    The message gives the accuracy that was reached.
    """
