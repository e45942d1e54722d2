//! `/realm/icon` and `/realm/logo`: the organization's own pictures (docs/api/organization.md#icon-and-logos).

use super::redirect::to;
use super::{FILE_BYTES_MAX, keep, made_of, one_file};
use crate::http::upload::Upload;
use crate::http::{
    ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, RawQuery, reply, reply_ok,
};
use crate::integrations::blobs::random_name;
use crate::integrations::images;
use actors::commands;
use model::picture::RealmPicture;
use rules::avatar::{realm_icon_url, realm_logo_url};
use serde::Serialize;

#[derive(Serialize)]
struct IconChanged {
    icon_url: String,
}

/// Which of the two logos.
pub struct WhichLogo(RealmPicture);

impl FromFields for WhichLogo {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let night = fields.required_bool("night")?;
        Ok(Self(if night { RealmPicture::NightLogo } else { RealmPicture::Logo }))
    }
}

fn icon_changed(caller: &Caller) -> HandlerResult {
    reply(&IconChanged { icon_url: realm_icon_url(&caller.realm.directory()) })
}

/// Keeps a picture and makes it that of the organization.
async fn set(app: &App, caller: &Caller, which: RealmPicture, picture: Vec<u8>) -> Result<(), ApiError> {
    let file = format!("realm/{}.png", random_name()?);
    let (realm, by, named) = (caller.realm.clone(), caller.user.id, file.clone());
    let decide =
        async move { realm.execute(commands::SetRealmPicture { by, which, file: Some(named) }).await };
    keep(app, caller.realm.id(), vec![(file, picture)], decide).await
}

/// `icon_url` of the uploaded icon.
pub async fn upload_icon(app: App, caller: Caller, upload: Upload) -> HandlerResult {
    let form = upload.read(FILE_BYTES_MAX).await?;
    let ignored = form.fields.ignored();
    let picture = made_of(&app, one_file(form, "icon")?, images::icon).await?;
    set(&app, &caller, RealmPicture::Icon, picture).await?;
    Ok(icon_changed(&caller)?.ignoring(ignored))
}

/// Back to the default icon; `icon_url` of it.
pub async fn remove_icon(caller: Caller, _: Params<()>) -> HandlerResult {
    caller
        .realm
        .execute(commands::SetRealmPicture { by: caller.user.id, which: RealmPicture::Icon, file: None })
        .await?;
    icon_changed(&caller)
}

/// Leads to the icon.
pub async fn show_icon(caller: Caller, RawQuery(query): RawQuery) -> HandlerResult {
    to(&realm_icon_url(&caller.realm.directory()), &query)
}

/// Replaces a logo.
pub async fn upload_logo(app: App, caller: Caller, upload: Upload) -> HandlerResult {
    let form = upload.read(FILE_BYTES_MAX).await?;
    let WhichLogo(which) = WhichLogo::from_fields(&form.fields)?;
    let ignored = form.fields.ignored();
    let picture = made_of(&app, one_file(form, "logo")?, images::logo).await?;
    set(&app, &caller, which, picture).await?;
    Ok(reply_ok()?.ignoring(ignored))
}

/// Back to the default logo.
pub async fn remove_logo(caller: Caller, Params(WhichLogo(which)): Params<WhichLogo>) -> HandlerResult {
    caller.realm.execute(commands::SetRealmPicture { by: caller.user.id, which, file: None }).await?;
    reply_ok()
}

/// Leads to a logo.
pub async fn show_logo(
    caller: Caller,
    Params(WhichLogo(which)): Params<WhichLogo>,
    RawQuery(query): RawQuery,
) -> HandlerResult {
    to(&realm_logo_url(&caller.realm.directory(), which), &query)
}
