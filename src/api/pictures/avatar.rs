//! `POST` and `DELETE /users/me/avatar`: the caller's own picture (companions.md 5).

use super::{FILE_BYTES_MAX, one_file, set_avatar};
use crate::http::upload::Upload;
use crate::http::{Answer, ApiError, App, Caller, Params, reply};
use rules::avatar::{AvatarSize, check_avatar_change, whole_avatar_url};
use serde::Serialize;

#[derive(Serialize)]
struct Changed {
    avatar_url: String,
}

fn changed(caller: &Caller) -> Answer {
    let directory = caller.realm.directory();
    let user = directory.user(caller.user.id).ok_or_else(ApiError::internal)?;
    reply(&Changed { avatar_url: whole_avatar_url(&directory, user, AvatarSize::Small) })
}

/// `avatar_url` of the uploaded picture.
pub async fn upload(app: App, caller: Caller, upload: Upload) -> Answer {
    let form = upload.read(FILE_BYTES_MAX).await?;
    let ignored = form.fields.ignored();
    let file = one_file(form, "avatar")?;
    check_avatar_change(&caller.realm.directory(), &caller.user)?;
    set_avatar(&app, &caller.realm, caller.user.id, caller.user.id, file).await?;
    Ok(changed(&caller)?.ignoring(ignored))
}

/// Back to the picture that the address stands for; `avatar_url` of it.
pub async fn remove(caller: Caller, _: Params<()>) -> Answer {
    caller.realm.set_avatar(caller.user.id, caller.user.id, None).await?;
    changed(&caller)
}
