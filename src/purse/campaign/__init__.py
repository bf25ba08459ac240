"""The live side: campaigns that spend real money, learn from late reports, count every bill, and
survive a crash.
"""
