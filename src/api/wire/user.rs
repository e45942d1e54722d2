//! Users as clients read them (api.md, User; endpoints.md 19).

use model::{Directory, Timestamp, User, UserId};
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
    profile_data: Option<BTreeMap<u32, ProfileValue<'a>>>,
}

/// The value of a custom profile field.
#[derive(Clone, Debug, Serialize)]
struct ProfileValue<'a> {
    value: &'a str,
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

/// A user as `viewer` (none: without an account) may see it. That the viewer may know of the user at all is for the
/// caller to have asked.
pub fn user<'a>(
    directory: &Directory,
    viewer: Option<&User>,
    user: &'a User,
    form: UserForm,
) -> UserJson<'a> {
    let bot = user.bot.as_ref();
    let profile = |user: &'a User| {
        user.profile_data.iter().map(|(field, value)| (*field, ProfileValue { value })).collect()
    };
    UserJson {
        user_id: user.id,
        delivery_email: shown_delivery_email(directory, viewer, user),
        email: api_email(directory, user),
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
        avatar_url: avatar_url(directory, viewer, user, form.client_gravatar, AvatarSize::Small)
            .map(Cow::Owned),
        avatar_version: user.avatar_version,
        profile_data: (form.profile_data && bot.is_none()).then(|| profile(user)),
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
