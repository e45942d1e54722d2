//! Users as clients read them (docs/api/users.md#user-object).

use super::profile::{ProfileData, value};
use model::{Directory, Timestamp, User, UserId};
use rules::avatar::{AvatarSize, avatar_url, public_avatar_url, unknown_avatar_url};
use rules::permissions::users::{UNKNOWN_NAME, api_email, shown_delivery_email};
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// Options of user objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UserForm {
    /// The client computes Gravatar URLs from e-mail addresses that it sees.
    pub client_gravatar: bool,
    /// Include `profile_data` of users who are not bots.
    pub profile_data: bool,
    /// Include `is_active`; left out of lists of only active or only deactivated users.
    pub is_active: bool,
}

/// The user object of the API.
#[derive(Clone, Debug, Serialize)]
pub struct UserJson<'a> {
    user_id: UserId,
    delivery_email: Option<&'a str>,
    email: Cow<'a, str>,
    full_name: &'a str,
    date_joined: DateJoined,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_active: Option<bool>,
    is_owner: bool,
    is_admin: bool,
    is_guest: bool,
    is_bot: bool,
    bot_type: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bot_owner_id: Option<Option<UserId>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_system_bot: Option<bool>,
    role: u16,
    timezone: &'a str,
    avatar_url: Option<String>,
    avatar_version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile_data: Option<ProfileData<'a>>,
}

/// An entry of `muted_users`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct MutedJson {
    id: UserId,
    timestamp: u64,
}

/// The JSON of a muted user; `since` is the time of muting.
pub fn muted(user: UserId, since: Timestamp) -> MutedJson {
    MutedJson { id: user, timestamp: since.secs() }
}

/// The creation time of an account, in the text form of the API.
#[derive(Clone, Copy, Debug)]
struct DateJoined(Timestamp);

impl Serialize for DateJoined {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let millis = i64::try_from(self.0.0).unwrap_or(i64::MAX);
        let time = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::MAX);
        let at = jiff::tz::Offset::UTC.to_datetime(time);
        // Formatting each number by itself would take longer than the rest of the account.
        let mut text = *b"0000-00-00T00:00:00.000000+00:00";
        let numbers: [(usize, usize, u32); 7] = [
            (0, 4, at.year().unsigned_abs().into()),
            (5, 2, at.month().unsigned_abs().into()),
            (8, 2, at.day().unsigned_abs().into()),
            (11, 2, at.hour().unsigned_abs().into()),
            (14, 2, at.minute().unsigned_abs().into()),
            (17, 2, at.second().unsigned_abs().into()),
            (20, 6, at.subsec_nanosecond().unsigned_abs() / 1000),
        ];
        for (start, width, mut number) in numbers {
            for digit in text[start..start + width].iter_mut().rev() {
                *digit = b'0' + (number % 10) as u8;
                number /= 10;
            }
        }
        serializer.serialize_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

/// A user as `viewer` sees it. Anonymous viewers never see users' e-mail addresses: the visibility "everyone" means
/// everyone in the organization. The caller checks that the viewer may see the user at all.
pub fn user<'a>(
    directory: &Directory,
    viewer: Option<&User>,
    user: &'a User,
    form: UserForm,
) -> UserJson<'a> {
    let bot = user.bot.as_ref();
    // Values of deleted fields are not shown.
    let fields = directory.profile_fields();
    let profile = |user: &'a User| {
        let known = user.profile_data.iter().filter(|(field, _)| fields.get(**field).is_some());
        ProfileData(known.map(|(field, given)| (*field, value(given))).collect())
    };
    let is_hidden = viewer.is_none() && bot.is_none();
    UserJson {
        user_id: user.id,
        delivery_email: shown_delivery_email(directory, viewer, user).filter(|_| !is_hidden),
        email: match is_hidden {
            true => Cow::Owned(directory.made_up_email(user.id)),
            false => api_email(directory, user),
        },
        full_name: &user.full_name,
        date_joined: DateJoined(user.joined),
        is_active: form.is_active.then_some(user.is_active),
        is_owner: user.role == model::Role::Owner,
        is_admin: user.is_administrator(),
        is_guest: user.is_guest(),
        is_bot: bot.is_some(),
        bot_type: bot.map(|bot| bot.kind.code()),
        bot_owner_id: bot.map(|bot| bot.owner),
        is_system_bot: bot.filter(|bot| bot.is_system).map(|_| true),
        role: user.role.code(),
        timezone: &user.timezone,
        avatar_url: match is_hidden {
            true => Some(public_avatar_url(directory, user, AvatarSize::Small)),
            false => avatar_url(directory, viewer, user, form.client_gravatar, AvatarSize::Small),
        },
        avatar_version: user.avatar_version,
        // Profile data is only visible inside the organization.
        profile_data: (form.profile_data && !is_hidden && bot.is_none()).then(|| profile(user)),
    }
}

/// A placeholder for a hidden user, for clients that need a record of every user id.
pub fn unknown_user<'a>(directory: &Directory, user: &User, form: UserForm) -> UserJson<'a> {
    UserJson {
        user_id: user.id,
        delivery_email: None,
        email: Cow::Owned(directory.made_up_email(user.id)),
        full_name: UNKNOWN_NAME,
        date_joined: DateJoined(Timestamp(0)),
        is_active: form.is_active.then_some(true),
        is_owner: false,
        is_admin: false,
        is_guest: false,
        is_bot: false,
        bot_type: None,
        bot_owner_id: None,
        is_system_bot: None,
        role: model::Role::Member.code(),
        timezone: "",
        avatar_url: Some(unknown_avatar_url(directory.realm().id, AvatarSize::Small)),
        avatar_version: 1,
        profile_data: form.profile_data.then(ProfileData::default),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::wire::fixture::{CORDELIA, GUEST, IAGO, directory};
    use serde_json::{Value, json};

    const FORM: UserForm = UserForm { client_gravatar: true, profile_data: true, is_active: true };

    /// The documented fields except those of bots.
    const KEYS: [&str; 16] = [
        "avatar_url",
        "avatar_version",
        "bot_type",
        "date_joined",
        "delivery_email",
        "email",
        "full_name",
        "is_active",
        "is_admin",
        "is_bot",
        "is_guest",
        "is_owner",
        "profile_data",
        "role",
        "timezone",
        "user_id",
    ];

    fn seen(viewer: Option<UserId>, id: UserId, form: UserForm) -> Value {
        let directory = directory();
        let viewer = viewer.and_then(|id| directory.user(id)).map(|user| &**user);
        serde_json::to_value(user(&directory, viewer, directory.user(id).unwrap(), form)).unwrap()
    }

    fn keys(value: &Value) -> Vec<&str> {
        value.as_object().unwrap().keys().map(String::as_str).collect()
    }

    #[test]
    fn date_joined_has_all_digits() {
        let written = |millis| serde_json::to_string(&DateJoined(Timestamp(millis))).unwrap();
        assert_eq!(written(1_792_833_612_839), "\"2026-10-24T09:20:12.839000+00:00\"");
        assert_eq!(written(u64::MAX), "\"9999-12-30T22:00:00.999999+00:00\"");
    }

    #[test]
    fn user_has_exactly_the_documented_fields() {
        let iago = seen(Some(GUEST), IAGO, FORM);
        assert_eq!(keys(&iago), KEYS);
        assert_eq!(iago["date_joined"], "1970-01-01T00:00:00.000000+00:00");
        assert_eq!(iago["delivery_email"], "iago@zulip.com");
        assert_eq!(iago["avatar_url"], "/user_avatars/1/default/1.png");
        assert_eq!(
            (&iago["is_admin"], &iago["is_owner"], &iago["role"]),
            (&json!(true), &json!(false), &json!(200))
        );
        let brief = UserForm { client_gravatar: false, profile_data: false, is_active: false };
        let iago = seen(Some(GUEST), IAGO, brief);
        assert_eq!((iago.get("profile_data"), iago.get("is_active")), (None, None));
        assert!(iago["avatar_url"].as_str().unwrap().starts_with("/user_avatars/"));
    }

    #[test]
    fn delivery_email_follows_visibility_setting() {
        for (viewer, id, address) in [
            (Some(IAGO), CORDELIA, None),
            (Some(CORDELIA), CORDELIA, Some("cordelia@zulip.com")),
            (Some(GUEST), IAGO, Some("iago@zulip.com")),
            (None, IAGO, None),
        ] {
            let shown = seen(viewer, id, FORM);
            assert_eq!(shown["delivery_email"].as_str(), address, "{viewer:?} {id}");
            let is_public = id == IAGO && viewer.is_some();
            let email = if is_public { "iago@zulip.com".to_owned() } else { format!("user{id}@zulip.test") };
            assert_eq!(shown["email"], email);
        }
    }

    #[test]
    fn bot_has_type_and_owner() {
        let mut directory = directory();
        let mut bot = User::clone(directory.user(GUEST).unwrap());
        let owner = Some(IAGO);
        bot.bot = Some(model::Bot { kind: model::BotKind::OutgoingWebhook, owner, is_system: false });
        directory.put_user(bot);
        let bot = serde_json::to_value(user(&directory, None, directory.user(GUEST).unwrap(), FORM)).unwrap();
        assert_eq!((&bot["bot_type"], &bot["bot_owner_id"]), (&json!(3), &json!(1)));
        assert_eq!((bot.get("profile_data"), bot.get("is_system_bot")), (None, None));
        assert_eq!(bot["email"], "polonius@zulip.com");
    }

    #[test]
    fn unknown_user_reveals_nothing() {
        let directory = directory();
        let hidden = unknown_user(&directory, directory.user(IAGO).unwrap(), FORM);
        let hidden = serde_json::to_value(hidden).unwrap();
        assert_eq!(keys(&hidden), KEYS);
        let text = hidden.to_string();
        assert!(!text.contains("iago") && !text.contains("Iago"), "{text}");
        assert_eq!((&hidden["role"], &hidden["is_admin"]), (&json!(400), &json!(false)));
    }
}
