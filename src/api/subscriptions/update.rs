//! `PATCH /users/me/subscriptions`: subscribes to some channels and unsubscribes from others
//! (docs/api/subscriptions.md#update-subscriptions).

use super::add::AddedFields;
use super::adding::{Adding, add_subscriptions, parse_wanted};
use super::principals::Principals;
use super::remove::{Removed, Removing, check_removal, remove_subscriptions};
use crate::api::formulas;
use crate::http::{ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, reply};
use rules::new_channels::ChannelOptions;
use rules::subscribing::{SubscribeRequest, WantedChannel};
use serde::Serialize;

/// Channels to subscribe to and to leave.
pub struct UpdateSubscriptions {
    add: Vec<WantedChannel>,
    delete: Vec<String>,
}

impl FromFields for UpdateSubscriptions {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let delete = fields.optional_strings("delete")?.unwrap_or_default();
        let add = fields.optional_json("add")?.map_or(Ok(Vec::new()), |field| parse_wanted(&field))?;
        Ok(Self { add, delete })
    }
}

#[derive(Serialize)]
struct Updated {
    #[serde(flatten)]
    added: AddedFields,
    #[serde(flatten)]
    removed: Removed,
}

/// Returns the results of `POST` and `DELETE` together. Both parts are checked before either is executed.
pub async fn update_subscriptions(
    app: App,
    caller: Caller,
    Params(params): Params<UpdateSubscriptions>,
) -> HandlerResult {
    if params.add.is_empty() && params.delete.is_empty() {
        let msg = r#"Nothing to do. Specify at least one of "add" or "delete"."#;
        return Err(ApiError::bad_request(msg));
    }
    let removal = check_removal(&caller, &caller.realm.directory(), &Removing::own(params.delete))?;
    let adding = Adding {
        request: SubscribeRequest {
            wanted: params.add,
            options: ChannelOptions::default(),
            authorization_errors_fatal: true,
        },
        principals: Principals::Caller,
        // Only the caller is subscribed, and not notified; the response has the same fields as that of `POST`.
        sends_messages: true,
    };
    let texts = adding.request.new_descriptions(&caller.realm.directory(), &caller.user);
    formulas::prepare(&app, &caller, texts).await?;
    let added = match adding.request.wanted.is_empty() {
        true => Default::default(),
        false => add_subscriptions(&caller, adding).await?,
    };
    let removed = remove_subscriptions(&caller, removal).await?;
    reply(&Updated { added: AddedFields::new(added, true), removed })
}
