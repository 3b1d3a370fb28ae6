"""Histories of zeta: for now the published estimator of the drift far to the left, which is not exported."""
