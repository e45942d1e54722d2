//! Which level of the protocol this server speaks, in the three forms that clients ask for.

/// Parsed by clients as `MAJOR.MINOR`.
pub const ZULIP_VERSION: &str = "11.0";
/// What the version was developed from; a released version is its own.
pub const ZULIP_MERGE_BASE: &str = "11.0";
/// The number that clients decide by which features there are.
pub const ZULIP_FEATURE_LEVEL: u32 = 421;
