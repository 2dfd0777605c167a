"""Rules for packets that stay in force while what made them is frozen."""
