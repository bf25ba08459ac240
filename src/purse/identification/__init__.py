"""Best-arm identification: which arm is best by the reports so far, and how sure that is."""
