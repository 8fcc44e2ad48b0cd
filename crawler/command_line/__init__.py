"""What all commands share: options, errors, output and exit statuses."""
