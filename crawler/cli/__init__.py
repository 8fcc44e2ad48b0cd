"""What the commands do and print; crawler/commands has their options and imports each part of this when it runs."""
