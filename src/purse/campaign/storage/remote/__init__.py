"""A storage behind another process: what is sent to it, and how."""
