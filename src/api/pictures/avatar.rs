//! `POST` and `DELETE /users/me/avatar`: the requester's own avatar (docs/api/users.md#avatars).

use super::{FILE_BYTES_MAX, made_avatar, one_file, with_avatar};
use crate::http::upload::Upload;
use crate::http::{ApiError, App, Caller, HandlerResult, Params, reply_field};
use actors::commands;
use rules::avatar::{AvatarSize, check_avatar_change, shown_avatar_url};

fn changed(caller: &Caller) -> HandlerResult {
    let directory = caller.realm.directory();
    let user = directory.user(caller.user.id).ok_or_else(ApiError::internal)?;
    reply_field("avatar_url", &shown_avatar_url(&directory, user, user, AvatarSize::Small))
}

/// Sets the uploaded avatar, and returns its `avatar_url`.
pub async fn upload(app: App, caller: Caller, upload: Upload) -> HandlerResult {
    let form = upload.read(FILE_BYTES_MAX).await?;
    let ignored = form.ignored();
    let file = one_file(form, "avatar")?;
    check_avatar_change(&caller.realm.directory(), &caller.user)?;
    let made = made_avatar(&app, &caller, file).await?;
    let (realm, by) = (caller.realm.clone(), caller.user.id);
    with_avatar(&app, caller.realm.id(), Some(made), move |file| async move {
        realm.execute(commands::SetAvatar { by, user: by, file }).await
    })
    .await?;
    Ok(changed(&caller)?.ignoring(ignored))
}

/// Resets to the default avatar, and returns its `avatar_url`.
pub async fn remove(caller: Caller, _: Params<()>) -> HandlerResult {
    let (by, user) = (caller.user.id, caller.user.id);
    caller.realm.execute(commands::SetAvatar { by, user, file: None }).await?;
    changed(&caller)
}
