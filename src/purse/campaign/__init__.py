"""The live side: campaigns that spend real money, learn from late reports, never overspend, and
survive a crash.
"""
