"""The engine beside its peers and bare floors, on the same server and payload."""
