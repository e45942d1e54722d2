//! `/realm/linkifiers` and, by its older name, `/realm/filters`: patterns that become links (docs/api/linkifiers.md).

use crate::api::wire::list::reply_list;
use crate::api::wire::lists::linkifier as linkifier_json;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply_field};
use actors::commands::{ChangeLinkifiers, LinkifiersChange};

/// A pattern, and the URL that matches link to.
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

/// Lists `linkifiers` in the order in which they apply.
pub async fn list(caller: Caller, _: Params<()>) -> HandlerResult {
    reply_list("linkifiers", caller.realm.directory().lists().linkifiers.items.iter().map(linkifier_json))
}

/// Returns the `id` of the new linkifier, which applies after all others.
pub async fn create(
    caller: Caller,
    Params(Linkifier { pattern, url_template }): Params<Linkifier>,
) -> HandlerResult {
    let change = LinkifiersChange::Add { pattern, url_template };
    reply_field("id", &caller.realm.execute(ChangeLinkifiers { by: caller.user.id, change }).await?)
}

/// Changes a linkifier; messages that were sent keep their links.
pub async fn update(
    caller: Caller,
    Path(id): Path<u32>,
    Params(Linkifier { pattern, url_template }): Params<Linkifier>,
) -> HandlerResult {
    let change = LinkifiersChange::Update { id: id.into(), pattern, url_template };
    caller.execute(ChangeLinkifiers { by: caller.user.id, change }).await
}

/// Removes a linkifier.
pub async fn delete(caller: Caller, Path(id): Path<u32>, _: Params<()>) -> HandlerResult {
    let change = LinkifiersChange::Remove(id.into());
    caller.execute(ChangeLinkifiers { by: caller.user.id, change }).await
}

/// Sets the order, which has each linkifier once.
pub async fn reorder(caller: Caller, Params(LinkifierOrder(order)): Params<LinkifierOrder>) -> HandlerResult {
    let change = LinkifiersChange::Reorder(order);
    caller.execute(ChangeLinkifiers { by: caller.user.id, change }).await
}
