"""What commands print, and with which status they end."""
