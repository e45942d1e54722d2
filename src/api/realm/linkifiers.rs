//! `/realm/linkifiers` and, by its older name, `/realm/filters`: patterns that become links (docs/api/linkifiers.md).

use crate::api::wire::list::push_list;
use crate::api::wire::lists::linkifier as linkifier_json;
use crate::http::{
    ApiError, Caller, Envelope, Fields, FromFields, HandlerResult, Params, Path, reply, reply_ok,
};
use actors::commands::{ChangeLinkifiers, LinkifiersChange};
use serde::Serialize;

/// A linkifier.
pub struct Linkifier {
    pattern: String,
    url_template: String,
}

impl FromFields for Linkifier {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { pattern: fields.required("pattern")?, url_template: fields.required("url_template")? })
    }
}

/// All linkifiers in their new order.
pub struct LinkifierOrder(Vec<i64>);

impl FromFields for LinkifierOrder {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.required_ints("ordered_linkifier_ids")?))
    }
}

#[derive(Serialize)]
struct Created {
    id: u32,
}

/// `linkifiers`, in the order in which they apply.
pub async fn list(caller: Caller, _: Params<()>) -> HandlerResult {
    let directory = caller.realm.directory();
    let mut envelope = Envelope::with_capacity(256);
    push_list(
        envelope.open_field("linkifiers"),
        directory.lists().linkifiers.items.iter().map(linkifier_json),
    );
    envelope.reply()
}

/// `id` of the new linkifier, which applies after all others.
pub async fn create(
    caller: Caller,
    Params(Linkifier { pattern, url_template }): Params<Linkifier>,
) -> HandlerResult {
    let id = caller
        .realm
        .execute(ChangeLinkifiers {
            by: caller.user.id,
            change: LinkifiersChange::Add { pattern, url_template },
        })
        .await?;
    reply(&Created { id })
}

/// Changes what will be linked; messages that were sent keep their links.
pub async fn update(
    caller: Caller,
    Path(id): Path<u32>,
    Params(Linkifier { pattern, url_template }): Params<Linkifier>,
) -> HandlerResult {
    caller
        .realm
        .execute(ChangeLinkifiers {
            by: caller.user.id,
            change: LinkifiersChange::Update { id: id.into(), pattern, url_template },
        })
        .await?;
    reply_ok()
}

/// Takes a linkifier away.
pub async fn delete(caller: Caller, Path(id): Path<u32>, _: Params<()>) -> HandlerResult {
    caller
        .realm
        .execute(ChangeLinkifiers { by: caller.user.id, change: LinkifiersChange::Remove(id.into()) })
        .await?;
    reply_ok()
}

/// Puts the linkifiers into an order that names each of them once.
pub async fn reorder(caller: Caller, Params(LinkifierOrder(order)): Params<LinkifierOrder>) -> HandlerResult {
    caller
        .realm
        .execute(ChangeLinkifiers { by: caller.user.id, change: LinkifiersChange::Reorder(order) })
        .await?;
    reply_ok()
}
