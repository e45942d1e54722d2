//! Where a user's picture is (endpoints.md 19).

use crate::permissions::users::shown_delivery_email;
use md5::{Digest, Md5};
use model::{Directory, Realm, User};
use std::fmt::Write;

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
    if client_gravatar && shown_delivery_email(dir, viewer, user).is_some() {
        return None;
    }
    Some(gravatar_url(user, size))
}

/// The picture that the address of a user stands for.
pub fn gravatar_url(user: &User, size: AvatarSize) -> String {
    let mut url = identicon_url(&user.delivery_email.to_lowercase());
    write!(url, "&version={}", user.avatar_version).expect("writing to a string cannot fail");
    if size == AvatarSize::Medium {
        url.push_str("&s=500");
    }
    url
}

/// The picture that the short name of an organization stands for, until it has one of its own.
pub fn realm_icon_url(realm: &Realm) -> String {
    identicon_url(&realm.subdomain)
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
