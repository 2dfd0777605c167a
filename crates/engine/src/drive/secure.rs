//! Logging in, and TLS.
