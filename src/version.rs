//! The version of the protocol, in the three forms that clients expect.

/// Parsed by clients as `MAJOR.MINOR`.
pub const ZULIP_VERSION: &str = "11.0";
/// The version that a development version is based on; a release is its own.
pub const ZULIP_MERGE_BASE: &str = "11.0";
/// The feature level, by which clients decide which features the server has.
pub const ZULIP_FEATURE_LEVEL: u32 = 421;
