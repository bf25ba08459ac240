"""The compiler: kernels, bound loops, fingerprints, and numba's private parts that we use."""
