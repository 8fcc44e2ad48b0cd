"""The database: its tables, the claims of addresses, and the commit of results."""
