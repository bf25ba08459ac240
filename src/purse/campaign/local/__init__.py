"""Campaigns and accounts whose storage this process reaches itself."""
