"""Training of recurrent networks: tasks, a loop that resumes, injection (``pip install "levycollapse[networks]"``)."""

try:
    import torch as _torch  # noqa: F401
except ImportError as _error:
    raise ImportError('levycollapse.training needs PyTorch: pip install "levycollapse[networks]"') from _error

from .injection import Injected, StableInjection, slow_units
from .loop import TrainingResult, train
from .observers import Recorder, UpdateObserver, UpdateRecorder
from .schedules import geometric_steps, linear_steps
from .streams import Stream, Streams
from .tasks import DelayedRegression, Task, geometric_coefficients, truncated_pareto_lags

__all__ = [
    "DelayedRegression",
    "Injected",
    "Recorder",
    "StableInjection",
    "Stream",
    "Streams",
    "Task",
    "TrainingResult",
    "UpdateObserver",
    "UpdateRecorder",
    "geometric_coefficients",
    "geometric_steps",
    "linear_steps",
    "slow_units",
    "train",
    "truncated_pareto_lags",
]
