"""The database: its tables, claims of addresses, and the commit of results."""
