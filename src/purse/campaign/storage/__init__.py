"""Storages of campaigns: memory, SQLite, PostgreSQL."""
