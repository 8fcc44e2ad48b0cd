"""What a page says of itself: title, author, date of publication, language."""
