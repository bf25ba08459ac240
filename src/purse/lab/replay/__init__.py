"""The gains of policies on recorded rounds."""
