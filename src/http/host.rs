//! The organization that a request is sent to and its `Host` header, as arguments of handlers.

use super::call::{Call, FromCall};
use super::error::{ApiError, Code};
use actix_web::http::header::HOST;
use actors::RealmHandle;

/// The caller's organization, or without a caller the one of the `Host` header.
///
/// Error: NONEXISTENT_SUBDOMAIN if there is none.
#[derive(Clone)]
pub struct Realm(pub RealmHandle);

impl FromCall for Realm {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        if let Some(caller) = &call.caller {
            return Ok(Self(caller.realm.clone()));
        }
        let found = call.app.realm_of(call.header(HOST));
        found.map(Self).ok_or_else(no_realm)
    }
}

/// The error for a host without an organization.
pub fn no_realm() -> ApiError {
    ApiError::new(Code::NONEXISTENT_SUBDOMAIN, "Invalid subdomain")
}

/// The URL of the organization of [`Realm`], without a slash at its end.
///
/// Error: as for [`Realm`].
#[derive(Clone, Debug)]
pub struct RealmUrl(pub String);

impl FromCall for RealmUrl {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        let Realm(realm) = Realm::from_call(call)?;
        Ok(Self(call.app.hosts.url(&realm, call.header(HOST))))
    }
}

/// The `Host` header, if the request has one.
pub struct HostHeader(pub Option<String>);

impl FromCall for HostHeader {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        Ok(Self(call.header(HOST).map(str::to_owned)))
    }
}
