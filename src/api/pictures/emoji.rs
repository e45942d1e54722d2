//! `/realm/emoji`: custom emoji (docs/api/emoji.md#custom-emoji).

use super::{FILE_BYTES_MAX, check_size, convert_upload, keep, one_file};
use crate::api::wire::emoji::realm_emoji;
use crate::http::upload::Upload;
use crate::http::{App, Caller, HandlerResult, Params, Path, reply_field, reply_ok};
use crate::integrations::blobs::random_name;
use crate::integrations::images;
use actors::{EmojiFiles, commands};
use rules::custom_emoji::{check_emoji_name, check_emoji_override, check_new_emoji};

/// Lists `emoji` by id, deactivated ones included.
pub async fn list(caller: Caller, _: Params<()>) -> HandlerResult {
    let directory = caller.realm.directory();
    let all = directory.realm_emoji().map(|emoji| &**emoji);
    reply_field("emoji", &realm_emoji(caller.realm.id(), all))
}

/// Adds an emoji. Checks that do not need the picture come first.
pub async fn add(app: App, caller: Caller, Path(name): Path<String>, upload: Upload) -> HandlerResult {
    let form = upload.read(FILE_BYTES_MAX).await?;
    let ignored = form.ignored();
    let name = check_emoji_name(&name)?;
    let directory = caller.realm.directory();
    check_new_emoji(&directory, &caller.user, &name)?;
    let file = one_file(form, "file")?;
    check_emoji_override(&directory, &caller.user, &name)?;
    check_size(&file)?;
    let made = convert_upload(&app, &caller, file, images::emoji).await?;
    let word = random_name()?;
    let extension = if made.still.is_some() { "gif" } else { "png" };
    let picture = format!("emoji/images/{word}.{extension}");
    let still = made.still.map(|bytes| (format!("emoji/images/still/{word}.png"), bytes));
    let named = EmojiFiles { file: picture.clone(), still: still.as_ref().map(|(file, _)| file.clone()) };
    let files = [Some((picture, made.bytes)), still].into_iter().flatten().collect();
    let (realm, by) = (caller.realm.clone(), caller.user.id);
    keep(&app, caller.realm.id(), files, async move {
        realm.execute(commands::AddEmoji { by, name, files: named }).await
    })
    .await?;
    Ok(reply_ok()?.ignoring(ignored))
}

/// Deactivates an emoji. Messages and reactions with it stay as they are.
pub async fn remove(caller: Caller, Path(name): Path<String>, _: Params<()>) -> HandlerResult {
    caller.execute(commands::RemoveEmoji { by: caller.user.id, name }).await
}
