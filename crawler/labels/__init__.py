"""People's labels of images and texts, and what they are asked to label."""
