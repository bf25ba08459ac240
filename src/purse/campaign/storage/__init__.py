"""Where campaigns are kept: memory, SQLite, PostgreSQL."""
