//! `push_device`: the registration of one of the user's devices for push notifications.

use model::push::PushStatus;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct PushDevice<'e> {
    /// A number as text at this feature level.
    push_account_id: String,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_code: Option<&'e str>,
}

pub(super) fn status(account: i64, status: &PushStatus) -> PushDevice<'_> {
    let push_account_id = account.to_string();
    PushDevice { push_account_id, status: status.as_str(), error_code: status.error_code() }
}
