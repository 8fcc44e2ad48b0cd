"""Queries that only read the database, and reports made of them: for commands, dashboard, metrics and closing lines."""
