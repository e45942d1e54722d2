//! Bounds that several families of facts have in common.

/// More events than any change of one record leads to.
pub(super) const EVENTS_OF_RECORD: u64 = 64;
