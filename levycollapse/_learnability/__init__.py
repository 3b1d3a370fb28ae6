"""Which lags can be learnt from how many samples."""
