//! `GET /avatar/…`: redirects to a user's avatar, by id or e-mail address (docs/api/users.md#avatars).

use crate::http::{ApiError, Caller, HandlerResult, Path, RawQuery, Realm, Reply};
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use model::{Directory, User, UserId};
use rules::avatar::{AvatarSize, public_avatar_url, shown_avatar_url, unknown_avatar_url};
use rules::permissions::users::{find_user_by_email, sees_user};
use rules::settings::realm_bool;

/// Leads elsewhere, with the query of the request.
pub fn to(url: &str, query: &str) -> HandlerResult {
    let joint = match (query.is_empty(), url.contains('?')) {
        (true, _) => "",
        (false, true) => "&",
        (false, false) => "?",
    };
    let location = format!("{url}{joint}{query}");
    // A request's query is printable; whatever else made it in leads nowhere.
    let location = HeaderValue::from_str(&location).map_err(|_| ApiError::not_found())?;
    let cache = HeaderValue::from_static("private, no-cache");
    let headers = vec![(header::LOCATION, location), (header::CACHE_CONTROL, cache)];
    Ok(Reply::bare(StatusCode::FOUND, headers))
}

/// Whoever has no account sees pictures where the organization shows itself, and asks for nobody by address.
fn access(directory: &Directory, caller: Option<&Caller>, is_by_address: bool) -> Result<(), ApiError> {
    let is_open = || realm_bool(directory.realm(), "enable_spectator_access");
    match caller {
        Some(_) => Ok(()),
        None if is_open() && !is_by_address => Ok(()),
        None => Err(ApiError::not_logged_in()),
    }
}

fn by_id(caller: Option<&Caller>, realm: &Realm, id: UserId, query: &str, size: AvatarSize) -> HandlerResult {
    let directory = realm.0.directory();
    access(&directory, caller, false)?;
    to(&url(&directory, caller, directory.user(id).map(|user| &**user), size), query)
}

fn by_address(
    caller: Option<&Caller>,
    realm: &Realm,
    address: &str,
    query: &str,
    size: AvatarSize,
) -> HandlerResult {
    let directory = realm.0.directory();
    access(&directory, caller, true)?;
    let found = find_user_by_email(&directory, caller.map(|caller| &*caller.user), address);
    to(&url(&directory, caller, found.map(|user| &**user), size), query)
}

/// Nobody learns from the answer whether there is such a user.
fn url(directory: &Directory, caller: Option<&Caller>, found: Option<&User>, size: AvatarSize) -> String {
    let Some(user) = found else { return unknown_avatar_url(directory.realm().id, size) };
    match caller {
        Some(Caller { user: viewer, .. }) if sees_user(directory, viewer, user) => {
            shown_avatar_url(directory, viewer, user, size)
        }
        Some(_) => unknown_avatar_url(directory.realm().id, size),
        None => public_avatar_url(directory, user, size),
    }
}

/// `GET /avatar/{user_id}`
pub async fn small_by_id(
    caller: Option<Caller>,
    realm: Realm,
    Path(id): Path<UserId>,
    RawQuery(query): RawQuery,
) -> HandlerResult {
    by_id(caller.as_ref(), &realm, id, &query, AvatarSize::Small)
}

/// `GET /avatar/{user_id}/medium`
pub async fn medium_by_id(
    caller: Option<Caller>,
    realm: Realm,
    Path(id): Path<UserId>,
    RawQuery(query): RawQuery,
) -> HandlerResult {
    by_id(caller.as_ref(), &realm, id, &query, AvatarSize::Medium)
}

/// `GET /avatar/{email}`
pub async fn small_by_address(
    caller: Option<Caller>,
    realm: Realm,
    Path(address): Path<String>,
    RawQuery(query): RawQuery,
) -> HandlerResult {
    by_address(caller.as_ref(), &realm, &address, &query, AvatarSize::Small)
}

/// `GET /avatar/{email}/medium`
pub async fn medium_by_address(
    caller: Option<Caller>,
    realm: Realm,
    Path(address): Path<String>,
    RawQuery(query): RawQuery,
) -> HandlerResult {
    by_address(caller.as_ref(), &realm, &address, &query, AvatarSize::Medium)
}
