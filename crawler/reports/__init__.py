"""Queries that only read the database, and reports of their results: for commands, dashboard, metrics and log."""
