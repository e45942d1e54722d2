//! People and bots.
