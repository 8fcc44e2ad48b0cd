"""What is only read of the database, for commands, dashboard, metrics and closing lines."""
