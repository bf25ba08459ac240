"""The HTTP client of the service, by the standard library. It imports no NumPy, and `http.client`
late.
"""
