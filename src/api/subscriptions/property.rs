//! `PATCH /users/me/subscriptions/{stream_id}`: one of the requester's settings for a channel
//! (docs/api/subscriptions.md#set-one-property).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply_ok};
use model::ChannelId;
use rules::subscription_properties::{SubscriptionChange, access_own_subscription, parse_property};
use serde_json::Value;

/// The property, with its value.
pub struct SubscriptionProperty(SubscriptionChange);

impl FromFields for SubscriptionProperty {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let property = fields.required("property")?;
        let text = fields.required_str("value")?;
        // A boolean is JSON; everything else is text as it is, without quotes.
        let value = match serde_json::from_str(text.trim()) {
            Ok(Value::Bool(flag)) => Value::Bool(flag),
            _ => Value::from(text),
        };
        Ok(Self(parse_property(&property, &value)?))
    }
}

/// Sets the property.
pub async fn set_property(
    caller: Caller,
    Path(channel): Path<ChannelId>,
    Params(SubscriptionProperty(change)): Params<SubscriptionProperty>,
) -> HandlerResult {
    let Caller { realm, user } = caller;
    let (channel, _) = access_own_subscription(&realm.directory(), &user, channel.0.into())?;
    realm.change_subscription(user.id, channel, change).await?;
    reply_ok()
}
