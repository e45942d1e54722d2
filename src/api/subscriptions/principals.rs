//! The users that a request about subscriptions is for: the caller, or users by id or e-mail address.

use crate::http::{ApiError, Caller, Fields};
use model::{Directory, User, UserId};
use rules::permissions::users::{find_user_by_email, sees_user};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The users as given by the client.
#[derive(Clone, Debug, Default)]
pub enum Principals {
    #[default]
    Caller,
    Ids(Vec<u32>),
    Addresses(Vec<String>),
}

impl Principals {
    /// Reads the parameter `principals`: a list of ids or addresses; the caller if it is absent or empty.
    pub fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let Some(field) = fields.optional_json("principals")? else { return Ok(Self::Caller) };
        let mut items = field.root().list()?.peekable();
        match items.peek().map(|first| first.value()) {
            None => Ok(Self::Caller),
            Some(Value::String(_)) => {
                let addresses = items.map(|item| item.string().map(str::to_owned));
                Ok(Self::Addresses(addresses.collect::<Result<_, _>>()?))
            }
            Some(_) => {
                let ids = items.map(|item| item.int::<i64>());
                let ids = ids.map(|id| id.map(|id| u32::try_from(id).unwrap_or_default()));
                Ok(Self::Ids(ids.collect::<Result<_, _>>()?))
            }
        }
    }

    /// The users, each once, by id.
    ///
    /// # Errors
    /// `unknown` for ids of unknown and hidden users; `No such user` for their addresses; `User is deactivated`.
    pub fn resolve(
        &self,
        directory: &Directory,
        caller: &Caller,
        unknown: impl Fn(u32) -> ApiError,
    ) -> Result<Vec<UserId>, ApiError> {
        let mut found = BTreeSet::new();
        let sees = |user: &&Arc<User>| sees_user(directory, &caller.user, user);
        match self {
            Self::Caller => drop(found.insert(caller.user.id)),
            Self::Ids(ids) => {
                for id in ids {
                    let user = directory.user(UserId(*id)).filter(sees).ok_or_else(|| unknown(*id))?;
                    found.insert(usable(user, || unknown(*id))?);
                }
            }
            Self::Addresses(addresses) => {
                for address in addresses {
                    let no_such_user = crate::api::users::get::no_such_user;
                    let user = find_user_by_email(directory, Some(&caller.user), address).filter(sees);
                    found.insert(usable(user.ok_or_else(no_such_user)?, no_such_user)?);
                }
            }
        }
        Ok(found.into_iter().collect())
    }
}

fn usable(user: &Arc<User>, unknown: impl Fn() -> ApiError) -> Result<UserId, ApiError> {
    if user.is_system_bot() {
        return Err(unknown());
    }
    if !user.is_active {
        return Err(ApiError::bad_request("User is deactivated"));
    }
    Ok(user.id)
}
