"""What a figure shows, in the units of its data: described once, painted on page and on paper."""
