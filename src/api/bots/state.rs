//! `GET`, `PUT` and `DELETE /bot_storage`: what the requester's account stores under keys (docs/api/bots.md#storage).

use crate::http::params::Json;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply, reply_ok};
use actors::commands;
use rules::bot_state::check_storage_keys;
use serde::Serialize;
use std::collections::BTreeMap;

/// The entries to set.
pub struct NewEntries(Vec<(String, String)>);

impl FromFields for NewEntries {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let storage = fields.required_json("storage")?;
        let object = storage.root().object()?;
        let entry = |(key, value): (&str, Json<'_>)| Ok((key.to_owned(), value.string()?.to_owned()));
        object.members().map(entry).collect::<Result<_, ApiError>>().map(Self)
    }
}

/// The keys that a request is about; none: all of them.
pub struct Keys(Option<Vec<String>>);

impl FromFields for Keys {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.optional_strings("keys")?))
    }
}

#[derive(Serialize)]
struct Stored<'d> {
    storage: BTreeMap<&'d str, &'d str>,
}

/// `storage`: the entries, by key.
pub async fn get(caller: Caller, Params(Keys(keys)): Params<Keys>) -> HandlerResult {
    let (directory, user) = (caller.realm.directory(), caller.user.id);
    let storage = match &keys {
        None => directory.bot_storage(user).collect(),
        Some(keys) => {
            check_storage_keys(&directory, user, keys)?;
            let entry = |key| directory.bot_storage_entry(user, key).map(|value| (key, value));
            keys.iter().filter_map(|key| entry(key.as_str())).collect()
        }
    };
    reply(&Stored { storage })
}

/// Sets entries; other entries stay.
pub async fn put(caller: Caller, Params(NewEntries(entries)): Params<NewEntries>) -> HandlerResult {
    caller.realm.execute(commands::SetBotStorage { user: caller.user.id, entries }).await?;
    reply_ok()
}

/// Removes entries; others stay.
pub async fn delete(caller: Caller, Params(Keys(keys)): Params<Keys>) -> HandlerResult {
    caller.realm.execute(commands::RemoveBotStorage { user: caller.user.id, keys }).await?;
    reply_ok()
}
