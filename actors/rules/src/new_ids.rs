//! Ids of new records: they count up and never begin again, because an id that is in use would be overwritten.

use crate::error::{OrganizationError, RuleError};

/// The id after the last one of a kind of records, which the error names.
///
/// # Errors
/// `OrganizationError::TooMany` when all ids are used up.
pub fn id_after(last: u32, what: &'static str) -> Result<u32, RuleError> {
    Ok(last.checked_add(1).ok_or_else(|| used_up(what))?)
}

/// All ids of a kind of records are used up.
pub fn used_up(what: &'static str) -> OrganizationError {
    OrganizationError::TooMany { what, limit: u32::MAX as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_never_begin_again() {
        assert_eq!(id_after(0, "drafts"), Ok(1));
        assert_eq!(id_after(u32::MAX - 1, "drafts"), Ok(u32::MAX));
        let refused = id_after(u32::MAX, "drafts").map_err(|error| error.to_string());
        assert_eq!(refused, Err("Too many drafts (maximum 4294967295).".to_owned()));
    }
}
