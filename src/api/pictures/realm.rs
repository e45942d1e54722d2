//! `/realm/icon` and `/realm/logo`: the organization's own pictures (docs/api/organization.md#icon-and-logos).

use super::redirect::to;
use super::{FILE_BYTES_MAX, convert_upload, keep, one_file};
use crate::http::upload::Upload;
use crate::http::{
    ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, RawQuery, reply_field, reply_ok,
};
use crate::integrations::blobs::random_name;
use crate::integrations::images;
use actors::commands;
use model::picture::RealmPicture;
use rules::avatar::{realm_icon_url, realm_logo_url};

/// Reads which of the two logos a request is about.
impl FromFields for RealmPicture {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let night = fields.required_bool("night")?;
        Ok(if night { Self::NightLogo } else { Self::Logo })
    }
}

fn icon_changed(caller: &Caller) -> HandlerResult {
    reply_field("icon_url", &realm_icon_url(&caller.realm.directory()))
}

/// Stores a picture and sets it.
async fn set(app: &App, caller: &Caller, which: RealmPicture, picture: Vec<u8>) -> Result<(), ApiError> {
    let file = format!("realm/{}.png", random_name()?);
    let (realm, by, named) = (caller.realm.clone(), caller.user.id, file.clone());
    let decide =
        async move { realm.execute(commands::SetRealmPicture { by, which, file: Some(named) }).await };
    keep(app, caller.realm.id(), vec![(file, picture)], decide).await
}

/// Sets the uploaded icon, and returns its `icon_url`.
pub async fn upload_icon(app: App, caller: Caller, upload: Upload) -> HandlerResult {
    let form = upload.read(FILE_BYTES_MAX).await?;
    let ignored = form.ignored();
    let picture = convert_upload(&app, &caller, one_file(form, "icon")?, images::icon).await?;
    set(&app, &caller, RealmPicture::Icon, picture).await?;
    Ok(icon_changed(&caller)?.ignoring(ignored))
}

/// Resets to the default icon, and returns its `icon_url`.
pub async fn remove_icon(caller: Caller, _: Params<()>) -> HandlerResult {
    let (by, which) = (caller.user.id, RealmPicture::Icon);
    caller.realm.execute(commands::SetRealmPicture { by, which, file: None }).await?;
    icon_changed(&caller)
}

/// Redirects to the icon.
pub async fn show_icon(caller: Caller, RawQuery(query): RawQuery) -> HandlerResult {
    to(&realm_icon_url(&caller.realm.directory()), &query)
}

/// Replaces a logo.
pub async fn upload_logo(app: App, caller: Caller, upload: Upload) -> HandlerResult {
    let form = upload.read(FILE_BYTES_MAX).await?;
    let which = RealmPicture::from_fields(&form.fields)?;
    let ignored = form.ignored();
    let picture = convert_upload(&app, &caller, one_file(form, "logo")?, images::logo).await?;
    set(&app, &caller, which, picture).await?;
    Ok(reply_ok()?.ignoring(ignored))
}

/// Resets a logo to the default.
pub async fn remove_logo(caller: Caller, Params(which): Params<RealmPicture>) -> HandlerResult {
    caller.execute(commands::SetRealmPicture { by: caller.user.id, which, file: None }).await
}

/// Redirects to a logo.
pub async fn show_logo(
    caller: Caller,
    Params(which): Params<RealmPicture>,
    RawQuery(query): RawQuery,
) -> HandlerResult {
    to(&realm_logo_url(&caller.realm.directory(), which), &query)
}
