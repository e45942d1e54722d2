//! Getting in: what the server is, and API keys.
