//! URLs of avatars and of the organization's pictures (docs/api/users.md#avatars,
//! docs/api/organization.md#icon-and-logos).
//!
//! Who uploaded none has one that this server draws from the id. Only where the organization says so it is the one that
//! gravatar.com has for the address, and then only for those who may see the address: the hash in such a URL is as good
//! as the address.

use crate::error::{PictureError, RuleError};
use crate::permissions::users::shown_delivery_email;
use crate::settings::{DEFAULT_AVATAR_SOURCE, realm_bool};
use md5::{Digest, Md5};
use model::picture::RealmPicture;
use model::{Directory, RealmId, SettingValue, User};
use std::fmt::Write;

/// What the addresses of pictures that people uploaded begin with.
pub const PICTURES_PATH: &str = "/user_avatars/";

/// Between the name of a picture and its extension, for the larger one. Clients make the address of the one from that of
/// the other.
pub const MEDIUM_SUFFIX: &str = "-medium";

/// What the names of pictures that the server draws begin with, below [`PICTURES_PATH`] and the organization.
pub const DEFAULT_FOLDER: &str = "default/";

/// The name of the picture of people who are not known, without its extension.
pub const UNKNOWN_STEM: &str = "unknown";

/// The name of the organization's default icon and logo, without its extension.
pub const REALM_STEM: &str = "realm";

/// How large a picture is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AvatarSize {
    /// For lists and messages.
    Small,
    /// 500 pixels, for profiles.
    Medium,
}

/// `avatar_url` of a user for somebody (none: for everybody in the organization alike). Null, so that the client computes
/// the one of gravatar.com, where the organization uses it, the client can (`client_gravatar`), and the viewer may see the
/// address that it is computed from.
pub fn avatar_url(
    dir: &Directory,
    viewer: Option<&User>,
    user: &User,
    client_gravatar: bool,
    size: AvatarSize,
) -> Option<String> {
    let is_computed = dir.avatar_file(user.id).is_none() && has_gravatar(dir, viewer, user);
    match (is_computed, client_gravatar) {
        (true, true) => None,
        (true, false) => Some(gravatar_url(user, size)),
        (false, _) => Some(public_avatar_url(dir, user, size)),
    }
}

/// The same as a URL in any case.
pub fn shown_avatar_url(dir: &Directory, viewer: &User, user: &User, size: AvatarSize) -> String {
    avatar_url(dir, Some(viewer), user, false, size).unwrap_or_else(|| public_avatar_url(dir, user, size))
}

/// `avatar_url` of a user for everybody in the organization alike.
pub fn whole_avatar_url(dir: &Directory, user: &User, size: AvatarSize) -> String {
    avatar_url(dir, None, user, false, size).unwrap_or_else(|| public_avatar_url(dir, user, size))
}

/// The picture of a user for the whole world: the uploaded one, or one that this server draws.
pub fn public_avatar_url(dir: &Directory, user: &User, size: AvatarSize) -> String {
    match dir.avatar_file(user.id) {
        Some(file) => uploaded_avatar_url(dir.realm().id, file, size, user.avatar_version),
        None => drawn_url(dir.realm().id, user.id, size),
    }
}

/// Whether the organization takes pictures of people who uploaded none from gravatar.com.
pub fn uses_gravatar(dir: &Directory) -> bool {
    let source = dir.realm().settings.get(DEFAULT_AVATAR_SOURCE);
    matches!(source, Some(SettingValue::Text(source)) if source == "G")
}

fn has_gravatar(dir: &Directory, viewer: Option<&User>, user: &User) -> bool {
    uses_gravatar(dir) && shown_delivery_email(dir, viewer, user).is_some()
}

/// A picture that says nothing, for people whom the viewer must not know and those who are not there.
pub fn unknown_avatar_url(realm: RealmId, size: AvatarSize) -> String {
    drawn_url(realm, UNKNOWN_STEM, size)
}

fn drawn_url(realm: RealmId, stem: impl std::fmt::Display, size: AvatarSize) -> String {
    let suffix = if size == AvatarSize::Medium { MEDIUM_SUFFIX } else { "" };
    picture_url(realm, &format!("{DEFAULT_FOLDER}{stem}{suffix}.png"), None)
}

/// `avatar_source`: `U` for a picture of one's own, `G` for any other.
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

/// The address of the organization's icon: the uploaded one, or one that this server draws.
pub fn realm_icon_url(dir: &Directory) -> String {
    uploaded_realm_picture(dir, RealmPicture::Icon).unwrap_or_else(|| default_realm_picture(dir.realm().id))
}

/// The address of the organization's logo on light or dark ground.
pub fn realm_logo_url(dir: &Directory, which: RealmPicture) -> String {
    uploaded_realm_picture(dir, which).unwrap_or_else(|| default_realm_picture(dir.realm().id))
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

fn default_realm_picture(realm: RealmId) -> String {
    drawn_url(realm, REALM_STEM, AvatarSize::Small)
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
        let url = whole_avatar_url(&dir, &user, AvatarSize::Small);
        assert_eq!(url, format!("/user_avatars/{realm}/default/4.png"));
        let medium = whole_avatar_url(&dir, &user, AvatarSize::Medium);
        assert_eq!(medium, format!("/user_avatars/{realm}/default/4-medium.png"));
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
        fixture::set_realm(&mut dir, "avatar_changes_disabled", SettingValue::Bool(true));
        let refused = check(&dir, fixture::MEMBER).unwrap_err().to_string();
        assert_eq!(refused, "Avatar changes are disabled in this organization.");
        assert_eq!(check(&dir, fixture::OWNER), Ok(()));
    }

    /// The hash of an address is for those who may see the address, and leaves the server only where that is wanted.
    #[test]
    fn addresses_stand_for_pictures_only_where_they_may_be_seen() {
        let mut dir = fixture::directory();
        for source in ["J", "G"] {
            fixture::set_realm(&mut dir, DEFAULT_AVATAR_SOURCE, SettingValue::Text(source.into()));
            for visibility in 1..=5 {
                let mut user = fixture::member();
                user.settings.insert("email_address_visibility".into(), SettingValue::Int(visibility));
                dir.put_user(user.clone());
                let everybody = fixture::EVERYBODY.into_iter().map(|id| dir.user(id).map(|user| &**user));
                for viewer in everybody.chain([None]) {
                    let sees = shown_delivery_email(&dir, viewer, &user).is_some();
                    let is_hash = source == "G" && sees;
                    let url = |client| avatar_url(&dir, viewer, &user, client, AvatarSize::Small);
                    assert_eq!(url(true).is_none(), is_hash, "{source} {visibility}");
                    assert_eq!(
                        url(false).unwrap().contains("gravatar.com"),
                        is_hash,
                        "{source} {visibility}"
                    );
                }
                assert!(!public_avatar_url(&dir, &user, AvatarSize::Small).contains("gravatar"));
            }
        }
    }
}
