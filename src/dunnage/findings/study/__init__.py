"""What a study is about."""
