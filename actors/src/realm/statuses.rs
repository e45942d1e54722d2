//! Statuses of users (docs/api/presence-and-status.md#set-the-own-status).

use super::groups::requester;
use super::serialized::{DecisionContext, SerializedCommand};
use crate::error::DomainError;
use model::{Fact, NamedStatus, PersonalFact, SettingValue, User, UserFact, UserId};
use rules::settings::{apply_user_setting, user_bool, user_setting};
use rules::statuses::{StatusRequest, check_status};

/// The requested status, as sent; absent parts stay unchanged.
#[derive(Clone, Debug, Default)]
pub struct WantedStatus {
    /// `status_text`
    pub text: Option<String>,
    /// `emoji_name`
    pub emoji_name: Option<String>,
    /// `emoji_code`
    pub emoji_code: Option<String>,
    /// `reaction_type`
    pub reaction_type: Option<String>,
    /// `away`, the older way to hide one's presence.
    pub away: Option<bool>,
}

/// Say something about oneself, or let an administrator do it.
pub struct SetStatus {
    /// The user whose status changes.
    pub user: UserId,
    /// The requested status.
    pub wanted: WantedStatus,
}

impl SerializedCommand for SetStatus {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let user = requester(directory, self.user)?;
        let WantedStatus { text, emoji_name, emoji_code, reaction_type, away } = &self.wanted;
        let request = StatusRequest {
            text: text.as_deref(),
            emoji_name: emoji_name.as_deref(),
            emoji_code: emoji_code.as_deref(),
            reaction_type: reaction_type.as_deref(),
            away: *away,
        };
        let before = directory.status(self.user).map(|status| &**status);
        let status = check_status(before, &request, &rules::custom_emoji::choices(directory))?;
        let mut facts = Vec::new();
        // Where it changes the setting, that has an event of its own; otherwise clients get one all the same.
        let hidden = away.and_then(|away| with_presence(user, !away));
        let repeated = away.filter(|_| hidden.is_none());
        facts.extend(hidden.map(|user| Fact::User(UserFact::Changed(Box::new(user)))));
        let named = NamedStatus { away: repeated, text: text.is_some(), emoji: emoji_name.is_some() };
        if named != NamedStatus::default() {
            facts.push(Fact::Personal(PersonalFact::StatusSet { user: self.user, status, named }));
        }
        Ok(((), facts))
    }
}

/// The user with presence shown or hidden; none where it is so already.
fn with_presence(user: &User, shows: bool) -> Option<User> {
    let setting = user_setting("presence_enabled")?;
    if user_bool(user, setting.name) == shows {
        return None;
    }
    let mut after = User::clone(user);
    apply_user_setting(&mut after, setting, SettingValue::Bool(shows));
    Some(after)
}
