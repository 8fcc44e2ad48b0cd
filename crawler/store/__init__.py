"""The database: its tables, the commit of what pages brought, claims of addresses."""
