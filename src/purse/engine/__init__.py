"""Everything that runs compiled: the one loop, its steps for live use, and the threads that drive
it.
"""
