"""What people said of pictures and texts, and what they are asked to look at."""
