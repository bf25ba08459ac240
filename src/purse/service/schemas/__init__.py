"""The request and response models of the HTTP service."""
