//! Events of phones that are registered for notifications (events.md 3).

use crate::api::wire::json::{push_field, push_text_field};
use crate::api::wire::push::{error_code, status_word};
use model::push::PushStatus;

/// Writes an event up to its number. The number of a phone is a string at this feature level.
pub(super) fn push(out: &mut Vec<u8>, account: i64, status: &PushStatus) {
    out.extend_from_slice(b"{\"type\":\"push_device\"");
    push_field(out, "push_account_id", &account.to_string());
    push_field(out, "status", status_word(status));
    if let Some(code) = error_code(status) {
        push_text_field(out, "error_code", code);
    }
}
