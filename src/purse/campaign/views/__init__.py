"""Views of a level: status, history, certificate, recommendation, labels."""
