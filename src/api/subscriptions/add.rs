//! `POST /users/me/subscriptions`: subscribes the requester or others, creating channels where needed
//! (docs/api/subscriptions.md#subscribe).

use super::adding::{Adding, add_subscriptions, parse_wanted};
use super::principals::Principals;
use crate::api::channels::options::channel_options;
use crate::api::formulas;
use crate::http::{ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, reply};
use actors::Added;
use model::UserId;
use rules::subscribing::SubscribeRequest;
use serde::Serialize;
use std::collections::BTreeMap;

impl FromFields for Adding {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            request: SubscribeRequest {
                wanted: parse_wanted(&fields.required_json("subscriptions")?)?,
                options: channel_options(fields)?,
                authorization_errors_fatal: fields.bool_or("authorization_errors_fatal", true)?,
            },
            principals: Principals::from_fields(fields)?,
            sends_messages: fields.bool_or("send_new_subscription_messages", true)?,
        })
    }
}

/// The result of subscribing; keys are user ids.
#[derive(Serialize)]
pub struct AddedFields {
    subscribed: BTreeMap<UserId, Vec<String>>,
    already_subscribed: BTreeMap<UserId, Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unauthorized: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_subscription_messages_sent: Option<bool>,
}

impl AddedFields {
    /// `unauthorized` is only returned if it is not an error.
    pub fn new(added: Added, authorization_errors_fatal: bool) -> Self {
        Self {
            subscribed: added.subscribed,
            already_subscribed: added.already_subscribed,
            unauthorized: (!authorization_errors_fatal).then_some(added.unauthorized),
            new_subscription_messages_sent: added.messages_sent,
        }
    }
}

/// Subscribes users, and returns who was subscribed to what and who was already.
pub async fn subscribe(app: App, caller: Caller, Params(adding): Params<Adding>) -> HandlerResult {
    let texts = adding.request.new_descriptions(&caller.realm.directory(), &caller.user);
    formulas::prepare(&app, &caller, texts).await?;
    let is_fatal = adding.request.authorization_errors_fatal;
    let added = add_subscriptions(&caller, adding).await?;
    reply(&AddedFields::new(added, is_fatal))
}
