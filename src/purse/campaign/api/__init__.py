"""The words that users and clients share: verbs, kinds of values, results. Nothing heavy."""
