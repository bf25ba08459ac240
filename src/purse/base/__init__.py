"""Values, files, text and messages: plain Python that knows nothing about bandits."""
