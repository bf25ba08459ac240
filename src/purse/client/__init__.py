"""The HTTP client of the service, by the standard library. It imports no NumPy, and `http.client`
late.
"""

from purse.client.server import Server as Server
