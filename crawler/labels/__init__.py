"""What people said of images and texts, and what they are asked to look at."""
