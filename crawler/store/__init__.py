"""The database: its tables, the claims of addresses, and the commits of results."""
