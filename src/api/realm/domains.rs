//! `/realm/domains`: domains of accepted e-mail addresses (docs/api/organization.md#domains).

use crate::api::wire::list::reply_list;
use crate::api::wire::lists::domain as domain_json;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply_field};
use actors::commands;
use rules::addresses::DomainRequest;

/// A domain to add.
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

/// Whether subdomains are accepted, too.
pub struct AllowSubdomains(bool);

impl FromFields for AllowSubdomains {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.optional_bool("allow_subdomains")?.unwrap_or(false)))
    }
}

/// Lists the accepted `domains`.
pub async fn list(caller: Caller, _: Params<()>) -> HandlerResult {
    reply_list("domains", caller.realm.directory().lists().domains.items.iter().map(domain_json))
}

/// Adds a domain, and returns its id and name as `new_domain`.
pub async fn create(
    caller: Caller,
    Params(NewDomain { name, allows_subdomains }): Params<NewDomain>,
) -> HandlerResult {
    let request = DomainRequest::Add { name, allows_subdomains };
    let added = caller.realm.execute(commands::ChangeDomains { by: caller.user.id, request }).await?;
    let added = added.ok_or_else(ApiError::internal)?;
    reply_field("new_domain", &(added.id, added.name))
}

/// Changes whether subdomains are accepted.
pub async fn update(
    caller: Caller,
    Path(name): Path<String>,
    Params(AllowSubdomains(allows_subdomains)): Params<AllowSubdomains>,
) -> HandlerResult {
    let request = DomainRequest::Change { name, allows_subdomains };
    caller.execute(commands::ChangeDomains { by: caller.user.id, request }).await
}

/// Removes a domain. Without any, addresses of all domains are accepted.
pub async fn delete(caller: Caller, Path(name): Path<String>, _: Params<()>) -> HandlerResult {
    let request = DomainRequest::Remove { name };
    caller.execute(commands::ChangeDomains { by: caller.user.id, request }).await
}
