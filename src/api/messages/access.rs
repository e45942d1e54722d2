//! Finding the one message that a request is about.

use super::page::run;
use crate::http::{ApiError, Caller};
use actors::queries::{MessageSnapshot, locate};
use model::{Message, MessageId};
use rules::RuleError;
use std::sync::Arc;

/// A message that the caller can read: `InvalidMessage` for others, whether there is one or not.
pub async fn readable_message(caller: &Caller, id: MessageId) -> Result<Arc<Message>, ApiError> {
    let Caller { realm, user } = caller;
    let snapshot = realm.read(|view| {
        let may = locate(view, Some(user), id).is_some();
        may.then(|| MessageSnapshot::take(view, Some(user), &[id]))
    });
    let snapshot = snapshot.ok_or(RuleError::InvalidMessage)?;
    let trees = realm.clone();
    let mut found = run(snapshot.is_in_memory(), move || snapshot.read(&trees)).await?;
    Ok(found.pop().ok_or(RuleError::InvalidMessage)?.message)
}
