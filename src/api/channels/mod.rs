//! Channels and their topics.
