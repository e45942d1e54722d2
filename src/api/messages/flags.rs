//! `POST /messages/flags`: sets or clears a flag: read, starred, collapsed (docs/api/message-flags.md#change-flags).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply};
use model::{ChannelId, Flag, FlagOp, MessageId};
use serde::Serialize;

/// The older name of two flags, which clients read but cannot change.
const WILDCARD_MENTIONED: &str = "wildcard_mentioned";

/// A change of one flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlagChange {
    pub flag: Flag,
    pub op: FlagOp,
}

impl FlagChange {
    /// Reads `op` and `flag`, which are validated after all parameters have been read.
    pub fn read(fields: &Fields) -> Result<(String, String), ApiError> {
        Ok((fields.required("op")?, fields.required("flag")?))
    }

    /// Parses operation and flag. Errors: `Invalid flag`, `Flag not editable`, `Invalid message flag operation`.
    pub fn parse(op: &str, flag: &str) -> Result<Self, ApiError> {
        let Some(known) = Flag::ALL.into_iter().find(|known| known.as_str() == flag) else {
            let what = if flag == WILDCARD_MENTIONED { "Flag not editable" } else { "Invalid flag" };
            return Err(ApiError::bad_request(format!("{what}: '{flag}'")));
        };
        if !Flag::EDITABLE.contains(&known) {
            return Err(ApiError::bad_request(format!("Flag not editable: '{flag}'")));
        }
        let op = match op {
            "add" => FlagOp::Add,
            "remove" => FlagOp::Remove,
            _ => return Err(ApiError::bad_request(format!("Invalid message flag operation: '{op}'"))),
        };
        Ok(Self { flag: known, op })
    }
}

/// Messages, and the flag to change.
pub struct ChangeFlags {
    messages: Vec<u32>,
    change: FlagChange,
}

impl FromFields for ChangeFlags {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let messages = fields.required_ids("messages")?;
        let (op, flag) = FlagChange::read(fields)?;
        Ok(Self { messages, change: FlagChange::parse(&op, &flag)? })
    }
}

#[derive(Serialize)]
struct ChangedFlags {
    messages: Vec<u32>,
    ignored_because_not_subscribed_channels: Vec<ChannelId>,
}

/// Changes a flag on messages of the caller.
pub async fn change(caller: Caller, Params(request): Params<ChangeFlags>) -> HandlerResult {
    let Caller { realm, user } = caller;
    let FlagChange { flag, op } = request.change;
    let ids: Vec<MessageId> = request.messages.iter().copied().map(MessageId).collect();
    let selected = realm.select_flags(&user, (flag, op), &ids)?;
    realm.change_flags(user.id, flag, op, selected.messages).await?;
    reply(&ChangedFlags {
        messages: request.messages,
        ignored_because_not_subscribed_channels: selected.not_subscribed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_and_refusals() {
        let change = |flag, op| Ok(FlagChange { flag, op });
        let cases = [
            ("add", "read", change(Flag::Read, FlagOp::Add)),
            ("remove", "starred", change(Flag::Starred, FlagOp::Remove)),
            ("add", "collapsed", change(Flag::Collapsed, FlagOp::Add)),
            ("add", "mentioned", Err("Flag not editable: 'mentioned'")),
            ("add", "historical", Err("Flag not editable: 'historical'")),
            ("add", "wildcard_mentioned", Err("Flag not editable: 'wildcard_mentioned'")),
            ("bogus", "bogus", Err("Invalid flag: 'bogus'")),
            ("bogus", "read", Err("Invalid message flag operation: 'bogus'")),
        ];
        for (op, flag, expected) in cases {
            let parsed = FlagChange::parse(op, flag);
            assert_eq!(parsed, expected.map_err(ApiError::bad_request), "{op} {flag}");
        }
    }
}
