"""The HTTP client of the service. It imports no numba, scipy or polars."""
