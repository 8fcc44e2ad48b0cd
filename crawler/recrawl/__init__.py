"""When a page is asked for again, and whether it changed; no database."""
