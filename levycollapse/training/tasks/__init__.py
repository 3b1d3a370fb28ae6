"""Tasks that networks are trained on, a family a file."""

from .delayed import DelayedRegression, geometric_coefficients, truncated_pareto_lags
from .task import Task

__all__ = ["DelayedRegression", "Task", "geometric_coefficients", "truncated_pareto_lags"]
