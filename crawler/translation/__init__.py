"""What people read: messages with values, sentences of outcomes and reasons, and their translation."""
