//! Access to the message of a request.

use super::page::read_one;
use crate::http::{ApiError, Caller};
use model::{Message, MessageId};
use rules::RuleError;
use std::sync::Arc;

/// A message that the caller can read. `InvalidMessage` for others, whether they exist or not.
pub async fn readable_message(caller: &Caller, id: MessageId) -> Result<Arc<Message>, ApiError> {
    let found = read_one(&caller.realm, Some(&caller.user), id).await?;
    Ok(found.ok_or(RuleError::InvalidMessage)?.message)
}
