//! `GET /avatar/…`: redirects to a user's avatar, by id or e-mail address (docs/api/users.md#avatars).

use crate::http::{ApiError, Caller, HandlerResult, Path, RawQuery, Realm, Reply};
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use model::{Directory, User, UserId};
use rules::avatar::{AvatarSize, public_avatar_url, shown_avatar_url, unknown_avatar_url};
use rules::permissions::spectators::has_public_access;
use rules::permissions::users::{find_user_by_email, sees_user};
use std::sync::Arc;

/// A redirect that keeps the query of the request.
pub fn to(url: &str, query: &str) -> HandlerResult {
    let joint = match (query.is_empty(), url.contains('?')) {
        (true, _) => "",
        (false, true) => "&",
        (false, false) => "?",
    };
    let location = format!("{url}{joint}{query}");
    // Queries of valid requests are printable.
    let location = HeaderValue::from_str(&location).map_err(|_| ApiError::not_found())?;
    let cache = HeaderValue::from_static("private, no-cache");
    let headers = vec![(header::LOCATION, location), (header::CACHE_CONTROL, cache)];
    Ok(Reply::bare(StatusCode::FOUND, headers))
}

/// Redirects to the avatar of a user id, in the medium size if `MEDIUM`.
pub async fn by_id<const MEDIUM: bool>(
    caller: Option<Caller>,
    Realm(realm): Realm,
    Path(id): Path<UserId>,
    RawQuery(query): RawQuery,
) -> HandlerResult {
    let directory = realm.directory();
    if caller.is_none() && !has_public_access(&directory) {
        return Err(ApiError::not_logged_in());
    }
    to(&url::<MEDIUM>(&directory, caller.as_ref(), directory.user(id)), &query)
}

/// Redirects to the avatar of an e-mail address, for users with an account only; otherwise as [`by_id`].
pub async fn by_address<const MEDIUM: bool>(
    _: Realm,
    caller: Caller,
    Path(address): Path<String>,
    RawQuery(query): RawQuery,
) -> HandlerResult {
    let directory = caller.realm.directory();
    let found = find_user_by_email(&directory, Some(&caller.user), &address);
    to(&url::<MEDIUM>(&directory, Some(&caller), found), &query)
}

/// The URL of an avatar. It does not reveal whether a user that the caller may not see exists.
fn url<const MEDIUM: bool>(
    directory: &Directory,
    caller: Option<&Caller>,
    found: Option<&Arc<User>>,
) -> String {
    let size = if MEDIUM { AvatarSize::Medium } else { AvatarSize::Small };
    let Some(user) = found else { return unknown_avatar_url(directory.realm().id, size) };
    match caller {
        Some(Caller { user: viewer, .. }) if sees_user(directory, viewer, user) => {
            shown_avatar_url(directory, viewer, user, size)
        }
        Some(_) => unknown_avatar_url(directory.realm().id, size),
        None => public_avatar_url(directory, user, size),
    }
}
