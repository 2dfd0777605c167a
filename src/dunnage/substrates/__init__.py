"""What must live on hosts before a platform can be used."""
