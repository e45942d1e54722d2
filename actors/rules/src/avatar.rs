//! URLs of avatars and of the organization's pictures (docs/api/users.md#avatars,
//! docs/api/organization.md#icon-and-logos).
//!
//! The default avatar is drawn by this server from the user's id. Only if the organization chooses so it is the one of
//! gravatar.com, and then only for viewers who may see the user's address, because its hash in the URL reveals it.

use crate::error::{PictureError, RuleError};
use crate::permissions::users::shown_delivery_email;
use crate::settings::{DEFAULT_AVATAR_SOURCE, realm_bool};
use md5::{Digest, Md5};
use model::picture::RealmPicture;
use model::{Directory, RealmId, SettingValue, User};

/// Path prefix of uploaded and drawn pictures.
const PICTURES_PATH: &str = "/user_avatars/";

/// Suffix of the stem of a larger picture's file name. Clients compute the URL of one picture from the other.
pub const MEDIUM_SUFFIX: &str = "-medium";

/// Folder of pictures that the server draws, below [`PICTURES_PATH`] and the organization.
pub const DEFAULT_FOLDER: &str = "default/";

/// File name of the avatar of unknown users, without its extension.
pub const UNKNOWN_STEM: &str = "unknown";

/// File name of the organization's default icon and logo, without its extension.
pub const REALM_STEM: &str = "realm";

/// Sizes of an avatar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AvatarSize {
    /// For lists and messages.
    Small,
    /// 500 pixels, for profiles.
    Medium,
}

/// `avatar_url` of a user as `viewer` sees it; without a viewer, a URL for everyone in the organization. It is null, so
/// that the client computes the one of gravatar.com, if the organization uses gravatar.com, the client can compute it
/// (`client_gravatar`), and the viewer may see the address.
pub fn avatar_url(
    dir: &Directory,
    viewer: Option<&User>,
    user: &User,
    client_gravatar: bool,
    size: AvatarSize,
) -> Option<String> {
    let is_gravatar = dir.avatar_file(user.id).is_none()
        && uses_gravatar(dir)
        && shown_delivery_email(dir, viewer, user).is_some();
    match (is_gravatar, client_gravatar) {
        (true, true) => None,
        (true, false) => Some(gravatar_url(user, size)),
        (false, _) => Some(public_avatar_url(dir, user, size)),
    }
}

/// `avatar_url` for a viewer whose client does not make Gravatar URLs; never null.
pub fn shown_avatar_url(dir: &Directory, viewer: &User, user: &User, size: AvatarSize) -> String {
    avatar_url(dir, Some(viewer), user, false, size).unwrap_or_else(|| public_avatar_url(dir, user, size))
}

/// `avatar_url` of a user for everyone in the organization.
pub fn whole_avatar_url(dir: &Directory, user: &User, size: AvatarSize) -> String {
    avatar_url(dir, None, user, false, size).unwrap_or_else(|| public_avatar_url(dir, user, size))
}

/// The avatar that anyone may see: the uploaded one, or one that this server draws.
pub fn public_avatar_url(dir: &Directory, user: &User, size: AvatarSize) -> String {
    match dir.avatar_file(user.id) {
        Some(file) => uploaded_avatar_url(dir.realm().id, file, size, user.avatar_version),
        None => drawn_url(dir.realm().id, itoa::Buffer::new().format(user.id.0), size),
    }
}

/// Whether default avatars come from gravatar.com.
pub fn uses_gravatar(dir: &Directory) -> bool {
    let source = dir.realm().settings.get(DEFAULT_AVATAR_SOURCE);
    matches!(source, Some(SettingValue::Text(source)) if source == "G")
}

/// The avatar of users that the viewer may not see, or that do not exist.
pub fn unknown_avatar_url(realm: RealmId, size: AvatarSize) -> String {
    drawn_url(realm, UNKNOWN_STEM, size)
}

fn drawn_url(realm: RealmId, stem: &str, size: AvatarSize) -> String {
    let suffix = if size == AvatarSize::Medium { MEDIUM_SUFFIX } else { "" };
    url_of(realm, &[DEFAULT_FOLDER, stem, suffix, ".png"])
}

/// In one allocation, and without the formatter: a page of messages has one for each sender.
fn url_of(realm: RealmId, file: &[&str]) -> String {
    let mut digits = itoa::Buffer::new();
    let folder = [PICTURES_PATH, digits.format(realm.0), "/"];
    let parts = || folder.iter().chain(file);
    let mut url = String::with_capacity(parts().map(|part| part.len()).sum());
    url.extend(parts().copied());
    url
}

/// `avatar_source`: `U` for an uploaded avatar, otherwise `G`.
pub fn avatar_source(dir: &Directory, user: &User) -> &'static str {
    if dir.avatar_file(user.id).is_some() { "U" } else { "G" }
}

fn uploaded_avatar_url(realm: RealmId, file: &str, size: AvatarSize, version: u32) -> String {
    match size {
        AvatarSize::Small => picture_url(realm, file, Some(version)),
        AvatarSize::Medium => picture_url(realm, &medium_file(file), Some(version)),
    }
}

/// The file of the larger size of a picture.
pub fn medium_file(file: &str) -> String {
    match file.rsplit_once('.') {
        Some((stem, extension)) => format!("{stem}{MEDIUM_SUFFIX}.{extension}"),
        None => format!("{file}{MEDIUM_SUFFIX}"),
    }
}

/// The URL of a picture file.
pub fn picture_url(realm: RealmId, file: &str, version: Option<u32>) -> String {
    match version {
        Some(version) => url_of(realm, &[file, "?version=", itoa::Buffer::new().format(version)]),
        None => url_of(realm, &[file]),
    }
}

fn gravatar_url(user: &User, size: AvatarSize) -> String {
    let hash = Md5::digest(user.delivery_email.to_lowercase());
    let hash = hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let size = if size == AvatarSize::Medium { "&s=500" } else { "" };
    let version = user.avatar_version;
    format!("https://secure.gravatar.com/avatar/{hash}?d=identicon&version={version}{size}")
}

/// The URL of the organization's icon: the uploaded one, or one that this server draws.
pub fn realm_icon_url(dir: &Directory) -> String {
    realm_logo_url(dir, RealmPicture::Icon)
}

/// The URL of the organization's icon, or logo for the light or dark theme.
pub fn realm_logo_url(dir: &Directory, which: RealmPicture) -> String {
    let (realm, picture) = (dir.realm().id, dir.realm_pictures().get(which));
    match &picture.file {
        Some(file) => picture_url(realm, file, Some(picture.version)),
        None => drawn_url(realm, REALM_STEM, AvatarSize::Small),
    }
}

/// `realm_icon_source`, `realm_logo_source` or `realm_night_logo_source`.
pub fn realm_picture_source(dir: &Directory, which: RealmPicture) -> &'static str {
    match (dir.realm_pictures().get(which).file.is_some(), which) {
        (true, _) => "U",
        (false, RealmPicture::Icon) => "G",
        (false, RealmPicture::Logo | RealmPicture::NightLogo) => "D",
    }
}

/// Whether users may change their own avatar: `AvatarChangesDisabled`, except for administrators.
pub fn check_avatar_change(dir: &Directory, user: &User) -> Result<(), RuleError> {
    if realm_bool(dir.realm(), "avatar_changes_disabled") && !user.is_administrator() {
        return Err(PictureError::AvatarChangesDisabled.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const URL: &str =
        "https://secure.gravatar.com/avatar/af4f06322c177ef4e1e9b2c424986b54?d=identicon&version=1";

    #[test]
    fn gravatar_urls_have_the_hash_of_the_address() {
        let mut user = fixture::member();
        user.delivery_email = "Iago@zulip.com".into();
        assert_eq!(gravatar_url(&user, AvatarSize::Small), URL);
        assert_eq!(gravatar_url(&user, AvatarSize::Medium), format!("{URL}&s=500"));
    }

    #[test]
    fn uploaded_avatars_are_shown_to_everyone() {
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
    fn the_organization_has_uploaded_or_default_pictures() {
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
    fn avatar_changes_can_be_disabled_for_members() {
        let mut dir = fixture::directory();
        let check = |dir: &Directory, id| check_avatar_change(dir, dir.user(id).unwrap());
        assert_eq!(check(&dir, fixture::MEMBER), Ok(()));
        fixture::set_realm(&mut dir, "avatar_changes_disabled", SettingValue::Bool(true));
        let refused = check(&dir, fixture::MEMBER).unwrap_err().to_string();
        assert_eq!(refused, "Avatar changes are disabled in this organization.");
        assert_eq!(check(&dir, fixture::OWNER), Ok(()));
    }

    /// Only viewers who may see the address get its hash, and only if the organization uses gravatar.com.
    #[test]
    fn gravatar_urls_are_for_viewers_who_may_see_the_address() {
        let mut dir = fixture::directory();
        for source in ["J", "G"] {
            fixture::set_realm(&mut dir, DEFAULT_AVATAR_SOURCE, SettingValue::Text(source.into()));
            for visibility in 1..=5 {
                let mut user = fixture::member();
                user.settings.insert("email_address_visibility".into(), SettingValue::Int(visibility));
                dir.put_user(user.clone());
                let all_users = fixture::ALL_USERS.into_iter().map(|id| dir.user(id).map(|user| &**user));
                for viewer in all_users.chain([None]) {
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
