"""The metadata of a page: its title, author, date of publication, language and type, and a user's own fields."""
