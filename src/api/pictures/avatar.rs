//! `POST` and `DELETE /users/me/avatar`: the requester's own avatar (docs/api/users.md#avatars).

use super::{FILE_BYTES_MAX, one_file, set_avatar};
use crate::http::upload::Upload;
use crate::http::{ApiError, App, Caller, HandlerResult, Params, reply};
use actors::commands;
use rules::avatar::{AvatarSize, check_avatar_change, shown_avatar_url};
use serde::Serialize;

#[derive(Serialize)]
struct Changed {
    avatar_url: String,
}

fn changed(caller: &Caller) -> HandlerResult {
    let directory = caller.realm.directory();
    let user = directory.user(caller.user.id).ok_or_else(ApiError::internal)?;
    reply(&Changed { avatar_url: shown_avatar_url(&directory, user, user, AvatarSize::Small) })
}

/// `avatar_url` of the uploaded picture.
pub async fn upload(app: App, caller: Caller, upload: Upload) -> HandlerResult {
    let form = upload.read(FILE_BYTES_MAX).await?;
    let ignored = form.fields.ignored();
    let file = one_file(form, "avatar")?;
    check_avatar_change(&caller.realm.directory(), &caller.user)?;
    set_avatar(&app, &caller.realm, caller.user.id, caller.user.id, file).await?;
    Ok(changed(&caller)?.ignoring(ignored))
}

/// Back to the default picture; `avatar_url` of it.
pub async fn remove(caller: Caller, _: Params<()>) -> HandlerResult {
    caller
        .realm
        .execute(commands::SetAvatar { by: caller.user.id, user: caller.user.id, file: None })
        .await?;
    changed(&caller)
}
