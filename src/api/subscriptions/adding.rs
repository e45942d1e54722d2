//! Subscribing users, shared by `POST` and `PATCH /users/me/subscriptions`.

use super::principals::Principals;
use crate::api::users::get::no_such_user;
use crate::http::params::JsonField;
use crate::http::{ApiError, Caller};
use actors::{Added, commands};
use rules::colors::parse_color;
use rules::names::parse_description;
use rules::subscribing::{SubscribeRequest, WantedChannel, check_subscribe};

/// Reads a list of `{name, description, color}`.
///
/// # Errors
/// Values of the wrong type; the rules of descriptions and colors.
pub fn parse_wanted(field: &JsonField) -> Result<Vec<WantedChannel>, ApiError> {
    let mut wanted = Vec::new();
    for item in field.root().list()? {
        let object = item.object()?;
        let name = object.required("name")?.string()?.to_owned();
        let text = |key| object.optional(key).filter(|given| !given.value().is_null());
        let description = text("description").map_or(Ok(""), |given| given.string())?;
        let color = match text("color") {
            None => None,
            Some(given) => {
                let color = parse_color(given.string()?);
                let fault = |error| ApiError::bad_request(format!("Invalid {}: {error}", given.place()));
                Some(color.map_err(fault)?)
            }
        };
        wanted.push(WantedChannel { name, description: parse_description(description)?, color });
    }
    Ok(wanted)
}

/// A request to subscribe users.
#[derive(Clone, Debug)]
pub struct Adding {
    pub request: SubscribeRequest,
    pub principals: Principals,
    /// Whether users are notified about channels that others subscribed them to.
    pub sends_messages: bool,
}

/// Subscribes users.
///
/// # Errors
/// Names, permissions and principals, in that order; nothing has changed then.
pub async fn add_subscriptions(caller: &Caller, adding: Adding) -> Result<Added, ApiError> {
    let Adding { request, principals, sends_messages } = adding;
    let directory = caller.realm.directory();
    let users = principals.resolve(&directory, caller, |_| no_such_user());
    let for_others = !matches!(principals, Principals::Caller)
        && users.as_ref().map_or(true, |users| users.as_slice() != [caller.user.id]);
    let users = match users {
        Ok(users) => users,
        Err(error) => {
            // Other refusals take precedence.
            check_subscribe(&directory, &caller.user, &request, for_others)?;
            return Err(error);
        }
    };
    let by = caller.user.id;
    let command = commands::AddSubscriptions { by, request, users, for_others, sends_messages };
    Ok(caller.realm.add_subscriptions(command).await?)
}
