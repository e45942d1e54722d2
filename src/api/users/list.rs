//! `GET /users`: all accounts that the requester may see (docs/api/users.md#list-users).

use crate::api::encoded_lists::{EncodedLists, Listed};
use crate::api::wire::list::reply_list;
use crate::api::wire::user::{UserForm, user};
use crate::http::admission::Admission;
use crate::http::host::Realm;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params};
use model::{Directory, User, UserId};
use rules::permissions::spectators::has_public_access;
use rules::permissions::users::{UserScope, user_scope};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The users to list. Without a login `client_gravatar` is false by default: spectators see no e-mail addresses.
pub struct ListUsers {
    client_gravatar: Option<bool>,
    include_custom_profile_fields: bool,
    user_ids: Option<Vec<u32>>,
}

impl FromFields for ListUsers {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            client_gravatar: fields.optional_bool("client_gravatar")?,
            include_custom_profile_fields: fields.bool_or("include_custom_profile_fields", false)?,
            user_ids: fields.optional_ids("user_ids")?,
        })
    }
}

/// With more users than this, the list is written off the HTTP threads.
const USERS_INLINE_MAX: usize = 300;

/// Lists `members`: users and bots, deactivated ones included, but no system bots.
pub async fn list_users(
    admission: Admission,
    caller: Option<Caller>,
    Realm(realm): Realm,
    Params(params): Params<ListUsers>,
) -> HandlerResult {
    let directory = realm.directory();
    if caller.is_none() && !has_public_access(&directory) {
        return Err(ApiError::not_logged_in());
    }
    let (count, shared) = (directory.user_count(), admission.app.encoded_lists.clone());
    let write = move |shared: Option<&EncodedLists>| {
        write_members(&directory, caller.as_ref().map(|caller| &*caller.user), &params, shared)
    };
    if count <= USERS_INLINE_MAX {
        return write(None);
    }
    admission.enter_pages()?.work(move || write(Some(&shared))).await?
}

fn write_members<'d>(
    directory: &'d Directory,
    viewer: Option<&User>,
    params: &ListUsers,
    shared: Option<&EncodedLists>,
) -> HandlerResult {
    let form = UserForm {
        client_gravatar: params.client_gravatar.unwrap_or(viewer.is_some()),
        profile_data: params.include_custom_profile_fields,
        is_active: true,
    };
    let all_users = shared.filter(|_| params.user_ids.is_none());
    let list =
        all_users.and_then(|shared| Some((shared, shared.people(directory, viewer, form, Listed::All)?)));
    if let Some((shared, list)) = list {
        let mut envelope = shared.envelope(1024);
        list.add_to(&mut envelope, "members", viewer);
        return envelope.reply();
    }
    let scope = viewer.map_or(UserScope::All, |viewer| user_scope(directory, viewer));
    let is_shown = |user: &User| !user.is_system_bot() && scope.contains(user.id);
    let json = |member: &'d Arc<User>| user(directory, viewer, member, form);
    match &params.user_ids {
        Some(ids) => {
            let ids: BTreeSet<UserId> = ids.iter().map(|id| UserId(*id)).collect();
            let users = ids.iter().filter_map(|id| directory.user(*id)).filter(|user| is_shown(user));
            reply_list("members", users.map(json))
        }
        None => reply_list("members", directory.users().filter(|user| is_shown(user)).map(json)),
    }
}
