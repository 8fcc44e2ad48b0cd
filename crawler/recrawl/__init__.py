"""When a page is visited again, and whether it changed; without a database."""
