//! Users as clients read them (api.md, User; endpoints.md 19).

use super::profile::{ValueJson, value};
use model::{Directory, ProfileFieldId, Timestamp, User, UserId};
use rules::avatar::{AvatarSize, avatar_url};
use rules::permissions::users::{api_email, shown_delivery_email};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// What a list of users is to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserForm {
    /// The client computes avatars from addresses that it sees.
    pub client_gravatar: bool,
    /// `profile_data` for people.
    pub profile_data: bool,
    /// `is_active`; lists that already say so leave it out.
    pub is_active: bool,
}

/// A User object.
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
    avatar_url: Option<Cow<'a, str>>,
    avatar_version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile_data: Option<BTreeMap<ProfileFieldId, ValueJson<'a>>>,
}

/// Somebody whom the reader mutes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct MutedJson {
    id: UserId,
    timestamp: u64,
}

/// Somebody whom the reader mutes, and since when.
pub fn muted(user: UserId, since: Timestamp) -> MutedJson {
    MutedJson { id: user, timestamp: since.secs() }
}

/// When an account was created, in the text form of the specification.
#[derive(Clone, Copy, Debug)]
struct DateJoined(Timestamp);

impl fmt::Display for DateJoined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = i64::try_from(self.0.0).unwrap_or(i64::MAX);
        let time = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::MAX);
        let at = jiff::tz::Offset::UTC.to_datetime(time);
        let (year, month, day) = (at.year(), at.month(), at.day());
        let (hour, minute, second) = (at.hour(), at.minute(), at.second());
        let micros = at.subsec_nanosecond() / 1000;
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}+00:00")
    }
}

impl Serialize for DateJoined {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A user as `viewer` may see it. Without an account no person's address is shown, whatever its owner allows:
/// "everybody" means everybody in the organization. That the viewer may know of the user at all is for the caller
/// to have asked.
pub fn user<'a>(
    directory: &Directory,
    viewer: Option<&User>,
    user: &'a User,
    form: UserForm,
) -> UserJson<'a> {
    let bot = user.bot.as_ref();
    // Values of fields that are gone are nobody's business.
    let fields = directory.profile_fields();
    let profile = |user: &'a User| {
        let known = user.profile_data.iter().filter(|(field, _)| fields.get(**field).is_some());
        known.map(|(field, given)| (*field, value(given))).collect()
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
        // Nobody computes a picture from an address that is not shown.
        avatar_url: avatar_url(
            directory,
            viewer,
            user,
            form.client_gravatar && !is_hidden,
            AvatarSize::Small,
        )
        .map(Cow::Owned),
        avatar_version: user.avatar_version,
        // What people tell one another is not for the world.
        profile_data: (form.profile_data && !is_hidden && bot.is_none()).then(|| profile(user)),
    }
}

/// What somebody who must not know of a user is shown in its place, where a client needs all ids to resolve.
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
        avatar_url: Some(Cow::Borrowed(UNKNOWN_AVATAR)),
        avatar_version: 1,
        profile_data: form.profile_data.then(BTreeMap::new),
    }
}

/// The name of somebody whom the reader must not know of (endpoints.md 0.3).
pub const UNKNOWN_NAME: &str = "Unknown user";

/// A picture that says nothing.
pub const UNKNOWN_AVATAR: &str =
    "https://secure.gravatar.com/avatar/00000000000000000000000000000000?d=mp&f=y";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::wire::fixture::{CORDELIA, GUEST, IAGO, directory};
    use serde_json::{Value, json};

    const FORM: UserForm = UserForm { client_gravatar: true, profile_data: true, is_active: true };

    /// api.md, User, but for what only bots have.
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
    fn people_have_the_fields_of_the_specification() {
        let iago = seen(Some(GUEST), IAGO, FORM);
        assert_eq!(keys(&iago), KEYS);
        assert_eq!(iago["date_joined"], "1970-01-01T00:00:00.000000+00:00");
        assert_eq!(iago["delivery_email"], "iago@zulip.com");
        assert_eq!(iago["avatar_url"], Value::Null);
        assert_eq!(
            (&iago["is_admin"], &iago["is_owner"], &iago["role"]),
            (&json!(true), &json!(false), &json!(200))
        );
        let brief = UserForm { client_gravatar: false, profile_data: false, is_active: false };
        let iago = seen(Some(GUEST), IAGO, brief);
        assert_eq!((iago.get("profile_data"), iago.get("is_active")), (None, None));
        assert!(iago["avatar_url"].as_str().unwrap().starts_with("https://secure.gravatar.com/"));
    }

    #[test]
    fn hidden_addresses_stay_hidden() {
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
    fn bots_say_what_they_are() {
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
    fn those_who_must_not_be_known_show_nothing_of_themselves() {
        let directory = directory();
        let hidden = unknown_user(&directory, directory.user(IAGO).unwrap(), FORM);
        let hidden = serde_json::to_value(hidden).unwrap();
        assert_eq!(keys(&hidden), KEYS);
        let text = hidden.to_string();
        assert!(!text.contains("iago") && !text.contains("Iago"), "{text}");
        assert_eq!((&hidden["role"], &hidden["is_admin"]), (&json!(400), &json!(false)));
    }
}
