"""The HTTP client of the service. It imports no NumPy, numba, scipy or polars."""
