"""Series: dependence at many lags, and in windows of time.

Numbers come from `pair` and `inference`, arguments are read as those of `tables`; it knows nothing of how results look.
"""
