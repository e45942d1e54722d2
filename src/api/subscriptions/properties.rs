//! `POST /users/me/subscriptions/properties`: the requester's settings for channels
//! (docs/api/subscriptions.md#set-properties).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_ok};
use futures_util::future::join_all;
use model::ChannelId;
use rules::RuleError;
use rules::subscription_properties::{SubscriptionChange, access_own_subscription, parse_property};

/// Maximum number of changes that are committed concurrently.
const AT_ONCE_MAX: usize = 64;

/// One property of one channel.
struct Item {
    channel: i64,
    change: SubscriptionChange,
}

/// The parameter: a list of `{stream_id, property, value}`.
pub struct SubscriptionProperties(Vec<Item>);

impl FromFields for SubscriptionProperties {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let field = fields.required_json("subscription_data")?;
        let mut items = Vec::new();
        for item in field.root().list()? {
            let object = item.object()?;
            let channel = object.required("stream_id")?.int()?;
            let property = object.required("property")?.string()?;
            let change = parse_property(property, object.required("value")?.value())?;
            items.push(Item { channel, change });
        }
        Ok(Self(items))
    }
}

/// Sets properties in order; those before a refusal stay set.
pub async fn set_properties(caller: Caller, Params(params): Params<SubscriptionProperties>) -> HandlerResult {
    let mut items = params.0.into_iter();
    loop {
        let (accessible, refusal) = accessible_items(&caller, items.by_ref().take(AT_ONCE_MAX));
        if accessible.is_empty() && refusal.is_none() {
            return reply_ok();
        }
        let user = caller.user.id;
        let changes = accessible.into_iter();
        // Changes of one channel reach its actor in this order.
        let changes =
            changes.map(|(channel, change)| caller.realm.change_subscription(user, channel, change));
        for outcome in join_all(changes).await {
            outcome?;
        }
        if let Some(refusal) = refusal {
            return Err(refusal.into());
        }
    }
}

/// The items before the first refusal, and the refusal.
fn accessible_items(
    caller: &Caller,
    items: impl Iterator<Item = Item>,
) -> (Vec<(ChannelId, SubscriptionChange)>, Option<RuleError>) {
    let directory = caller.realm.directory();
    let mut accessible = Vec::new();
    for Item { channel, change } in items {
        match access_own_subscription(&directory, &caller.user, channel) {
            Ok((channel, _)) => accessible.push((channel, change)),
            Err(refusal) => return (accessible, Some(refusal)),
        }
    }
    (accessible, None)
}
