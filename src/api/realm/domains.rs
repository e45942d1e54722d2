//! `/realm/domains`: domains of accepted e-mail addresses (docs/api/organization.md#domains).

use crate::api::wire::list::push_list;
use crate::api::wire::lists::domain as domain_json;
use crate::http::{
    ApiError, Caller, Envelope, Fields, FromFields, HandlerResult, Params, Path, reply, reply_ok,
};
use actors::commands;
use rules::addresses::DomainRequest;
use serde::Serialize;

/// A domain to be listed.
pub struct NewDomain {
    name: String,
    allows_subdomains: bool,
}

impl FromFields for NewDomain {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let name = fields.required("domain")?;
        Ok(Self { name, allows_subdomains: AllowSubdomains::from_fields(fields)?.0 })
    }
}

/// Whether addresses at subdomains count, too.
pub struct AllowSubdomains(bool);

impl FromFields for AllowSubdomains {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.optional_bool("allow_subdomains")?.unwrap_or(false)))
    }
}

#[derive(Serialize)]
struct Created {
    /// Id and name.
    new_domain: (u32, String),
}

/// `domains`.
pub async fn list(caller: Caller, _: Params<()>) -> HandlerResult {
    let directory = caller.realm.directory();
    let mut envelope = Envelope::with_capacity(256);
    push_list(envelope.open_field("domains"), directory.lists().domains.items.iter().map(domain_json));
    envelope.reply()
}

/// `new_domain`: id and name of the domain.
pub async fn create(
    caller: Caller,
    Params(NewDomain { name, allows_subdomains }): Params<NewDomain>,
) -> HandlerResult {
    let request = DomainRequest::Add { name, allows_subdomains };
    let added = caller
        .realm
        .execute(commands::ChangeDomains { by: caller.user.id, request })
        .await?
        .ok_or_else(ApiError::internal)?;
    reply(&Created { new_domain: (added.id, added.name) })
}

/// Says whether addresses at subdomains count, too.
pub async fn update(
    caller: Caller,
    Path(name): Path<String>,
    Params(AllowSubdomains(allows_subdomains)): Params<AllowSubdomains>,
) -> HandlerResult {
    let request = DomainRequest::Change { name, allows_subdomains };
    caller.realm.execute(commands::ChangeDomains { by: caller.user.id, request }).await?;
    reply_ok()
}

/// Takes a domain from the list; without any the organization is open to addresses of all domains again.
pub async fn delete(caller: Caller, Path(name): Path<String>, _: Params<()>) -> HandlerResult {
    caller
        .realm
        .execute(commands::ChangeDomains { by: caller.user.id, request: DomainRequest::Remove { name } })
        .await?;
    reply_ok()
}
