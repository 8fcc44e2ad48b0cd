"""What people read: messages with values and their translation, and the reasons of models."""
