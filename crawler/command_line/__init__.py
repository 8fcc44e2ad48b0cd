"""What all commands share: their options and errors, what they print and how they end."""
