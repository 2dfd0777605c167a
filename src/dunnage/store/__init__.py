"""The result directory: its layout, its writer, its reader."""
