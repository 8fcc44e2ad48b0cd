"""A page's title, author, date of publication and language."""
