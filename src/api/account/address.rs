//! E-mail addresses as names of accounts.

use crate::http::ApiError;
pub use rules::address_list::is_address;

/// Checks the form of an address. Error: `Enter a valid email address.`
pub fn check_address(text: &str) -> Result<(), ApiError> {
    if is_address(text) { Ok(()) } else { Err(ApiError::bad_request("Enter a valid email address.")) }
}
