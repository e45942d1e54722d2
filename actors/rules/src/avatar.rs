//! Where pictures are: those of people and of the organization (endpoints.md 19, companions.md 5 and 10).

use crate::error::{PictureError, RuleError};
use crate::permissions::users::shown_delivery_email;
use crate::settings::realm_bool;
use md5::{Digest, Md5};
use model::picture::RealmPicture;
use model::{Directory, Realm, RealmId, User};
use std::fmt::Write;

/// What the addresses of pictures that people uploaded begin with.
pub const PICTURES_PATH: &str = "/user_avatars/";

/// Between the name of a picture and its extension, for the larger one. Clients make the address of the one from that of
/// the other.
pub const MEDIUM_SUFFIX: &str = "-medium";

/// How large a picture is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AvatarSize {
    /// For lists and messages.
    Small,
    /// 500 pixels, for profiles.
    Medium,
}

/// `avatar_url` of a user for somebody (none: without an account). Null, so that the client computes it, where the
/// client can (`client_gravatar`) and may see the address that it is computed from.
pub fn avatar_url(
    dir: &Directory,
    viewer: Option<&User>,
    user: &User,
    client_gravatar: bool,
    size: AvatarSize,
) -> Option<String> {
    let is_computed = client_gravatar && dir.avatar_file(user.id).is_none();
    if is_computed && shown_delivery_email(dir, viewer, user).is_some() {
        return None;
    }
    Some(whole_avatar_url(dir, user, size))
}

/// `avatar_url` of a user for everybody: the picture that the user uploaded, or that the address stands for.
pub fn whole_avatar_url(dir: &Directory, user: &User, size: AvatarSize) -> String {
    match dir.avatar_file(user.id) {
        Some(file) => uploaded_avatar_url(dir.realm().id, file, size, user.avatar_version),
        None => gravatar_url(user, size),
    }
}

/// `avatar_source`: `U` for a picture of one's own, `G` for that which the address stands for.
pub fn avatar_source(dir: &Directory, user: &User) -> &'static str {
    if dir.avatar_file(user.id).is_some() { "U" } else { "G" }
}

fn uploaded_avatar_url(realm: RealmId, file: &str, size: AvatarSize, version: u32) -> String {
    match size {
        AvatarSize::Small => picture_url(realm, file, Some(version)),
        AvatarSize::Medium => picture_url(realm, &medium_file(file), Some(version)),
    }
}

/// The file of the larger picture that belongs to a file.
pub fn medium_file(file: &str) -> String {
    match file.rsplit_once('.') {
        Some((stem, extension)) => format!("{stem}{MEDIUM_SUFFIX}.{extension}"),
        None => format!("{file}{MEDIUM_SUFFIX}"),
    }
}

/// The address of a file of an organization's pictures.
pub fn picture_url(realm: RealmId, file: &str, version: Option<u32>) -> String {
    let mut url = format!("{PICTURES_PATH}{realm}/{file}");
    if let Some(version) = version {
        write!(url, "?version={version}").expect("writing to a string cannot fail");
    }
    url
}

/// The picture that the address of a user stands for.
fn gravatar_url(user: &User, size: AvatarSize) -> String {
    let mut url = identicon_url(&user.delivery_email.to_lowercase());
    write!(url, "&version={}", user.avatar_version).expect("writing to a string cannot fail");
    if size == AvatarSize::Medium {
        url.push_str("&s=500");
    }
    url
}

/// The picture of somebody whom nobody knows, by what was asked for.
pub fn nobodys_avatar_url(asked: &str, size: AvatarSize) -> String {
    let size = if size == AvatarSize::Medium { "&s=500" } else { "" };
    format!("{}&version=1{size}", identicon_url(&asked.to_lowercase()))
}

/// The address of the organization's icon: the uploaded one, or one that its short name stands for.
pub fn realm_icon_url(dir: &Directory) -> String {
    uploaded_realm_picture(dir, RealmPicture::Icon).unwrap_or_else(|| default_realm_picture(dir.realm()))
}

/// The address of the organization's logo on light or dark ground.
pub fn realm_logo_url(dir: &Directory, which: RealmPicture) -> String {
    uploaded_realm_picture(dir, which).unwrap_or_else(|| default_realm_picture(dir.realm()))
}

/// `realm_icon_source`, `realm_logo_source` or `realm_night_logo_source`.
pub fn realm_picture_source(dir: &Directory, which: RealmPicture) -> &'static str {
    match (dir.realm_pictures().get(which).file.is_some(), which) {
        (true, _) => "U",
        (false, RealmPicture::Icon) => "G",
        (false, RealmPicture::Logo | RealmPicture::NightLogo) => "D",
    }
}

fn uploaded_realm_picture(dir: &Directory, which: RealmPicture) -> Option<String> {
    let picture = dir.realm_pictures().get(which);
    picture.file.as_ref().map(|file| picture_url(dir.realm().id, file, Some(picture.version)))
}

fn default_realm_picture(realm: &Realm) -> String {
    identicon_url(&realm.subdomain)
}

/// Whether somebody may change the own picture.
///
/// # Errors
/// [`PictureError::AvatarChangesDisabled`], but for administrators.
pub fn check_avatar_change(dir: &Directory, user: &User) -> Result<(), RuleError> {
    if realm_bool(dir.realm(), "avatar_changes_disabled") && !user.is_administrator() {
        return Err(PictureError::AvatarChangesDisabled.into());
    }
    Ok(())
}

fn identicon_url(text: &str) -> String {
    let mut url = String::with_capacity(100);
    url.push_str("https://secure.gravatar.com/avatar/");
    for byte in Md5::digest(text) {
        write!(url, "{byte:02x}").expect("writing to a string cannot fail");
    }
    url.push_str("?d=identicon");
    url
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use model::SettingValue;

    const URL: &str =
        "https://secure.gravatar.com/avatar/af4f06322c177ef4e1e9b2c424986b54?d=identicon&version=1";

    #[test]
    fn the_address_stands_for_a_picture() {
        let mut user = fixture::member();
        user.delivery_email = "Iago@zulip.com".into();
        assert_eq!(gravatar_url(&user, AvatarSize::Small), URL);
        assert_eq!(gravatar_url(&user, AvatarSize::Medium), format!("{URL}&s=500"));
    }

    #[test]
    fn uploaded_pictures_are_shown_to_everybody_alike() {
        let mut dir = fixture::directory();
        dir.put_avatar_file(fixture::MEMBER, Some("ab12.png"));
        let user = User { avatar_version: 3, ..User::clone(dir.user(fixture::MEMBER).unwrap()) };
        let realm = dir.realm().id;
        let small = format!("/user_avatars/{realm}/ab12.png?version=3");
        for client_gravatar in [true, false] {
            let url = avatar_url(&dir, Some(&user), &user, client_gravatar, AvatarSize::Small);
            assert_eq!(url.as_deref(), Some(small.as_str()));
        }
        let medium = whole_avatar_url(&dir, &user, AvatarSize::Medium);
        assert_eq!(medium, format!("/user_avatars/{realm}/ab12-medium.png?version=3"));
        assert_eq!(avatar_source(&dir, &user), "U");
        dir.put_avatar_file(fixture::MEMBER, None);
        assert_eq!(avatar_source(&dir, &user), "G");
        assert!(whole_avatar_url(&dir, &user, AvatarSize::Small).starts_with("https://secure.gravatar.com/"));
    }

    #[test]
    fn the_organization_has_pictures_of_its_own_or_default_ones() {
        use model::picture::{PictureRecord, RealmPictures};
        let mut dir = fixture::directory();
        let default = realm_icon_url(&dir);
        let mut pictures = RealmPictures::default();
        pictures.put(RealmPicture::Icon, PictureRecord { file: Some("realm/a.png".into()), version: 2 });
        dir.put_realm_pictures(pictures);
        let realm = dir.realm().id;
        assert_eq!(realm_icon_url(&dir), format!("/user_avatars/{realm}/realm/a.png?version=2"));
        assert_eq!(realm_logo_url(&dir, RealmPicture::NightLogo), default, "the icon is not the logo");
        let sources = [RealmPicture::Icon, RealmPicture::Logo].map(|which| realm_picture_source(&dir, which));
        assert_eq!(sources, ["U", "D"]);
    }

    #[test]
    fn pictures_can_be_left_to_administrators() {
        let mut dir = fixture::directory();
        let check = |dir: &Directory, id| check_avatar_change(dir, dir.user(id).unwrap());
        assert_eq!(check(&dir, fixture::MEMBER), Ok(()));
        let mut realm = Realm::clone(dir.realm());
        realm.settings.insert("avatar_changes_disabled".into(), SettingValue::Bool(true));
        dir.put_realm(realm);
        let refused = check(&dir, fixture::MEMBER).unwrap_err().to_string();
        assert_eq!(refused, "Avatar changes are disabled in this organization.");
        assert_eq!(check(&dir, fixture::OWNER), Ok(()));
    }

    #[test]
    fn clients_compute_only_what_they_may_see() {
        let mut dir = fixture::directory();
        for (visibility, client_gravatar, is_null) in [(1, true, true), (1, false, false), (4, true, false)] {
            let mut user = fixture::member();
            user.settings.insert("email_address_visibility".into(), SettingValue::Int(visibility));
            dir.put_user(user.clone());
            let other = dir.user(fixture::OTHER_MEMBER).map(|user| &**user);
            let url = avatar_url(&dir, other, &user, client_gravatar, AvatarSize::Small);
            assert_eq!(url.is_none(), is_null, "{visibility} {client_gravatar}");
        }
    }
}
