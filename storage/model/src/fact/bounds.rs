//! Bounds that several families of facts have in common.

/// Upper bound of the events of a change of one record.
pub(super) const EVENTS_OF_RECORD: u64 = 64;
