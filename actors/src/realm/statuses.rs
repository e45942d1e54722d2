//! Statuses of users (docs/api/presence-and-status.md#set-the-own-status).

use super::groups::requester;
use super::serialized::{DecisionContext, SerializedChange};
use crate::error::DomainError;
use model::{Fact, NamedStatus, PersonalFact, SettingValue, User, UserFact, UserId};
use rules::settings::{apply_user_setting, user_bool, user_setting};
use rules::statuses::{StatusRequest, check_status};

/// The requested status, with the parameters of the endpoint; absent parts stay unchanged.
#[derive(Clone, Debug, Default)]
pub struct WantedStatus {
    pub text: Option<String>,
    pub emoji_name: Option<String>,
    pub emoji_code: Option<String>,
    pub reaction_type: Option<String>,
    /// The older form of hiding one's presence.
    pub away: Option<bool>,
}

/// Sets the status of a user, for the user or an administrator.
pub struct SetStatus {
    pub user: UserId,
    pub wanted: WantedStatus,
}

impl SerializedChange for SetStatus {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
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
        // A change of the setting has its own event; without one clients receive `away` with the status.
        let hidden = away.and_then(|away| with_presence(user, !away));
        let repeated = away.filter(|_| hidden.is_none());
        facts.extend(hidden.map(|user| Fact::User(UserFact::Changed(Box::new(user)))));
        let named = NamedStatus { away: repeated, text: text.is_some(), emoji: emoji_name.is_some() };
        if named != NamedStatus::default() {
            facts.push(Fact::Personal(PersonalFact::StatusSet { user: self.user, status, named }));
        }
        Ok(facts)
    }
}

/// The user with presence shown or hidden; none if unchanged.
fn with_presence(user: &User, shows: bool) -> Option<User> {
    let setting = user_setting("presence_enabled")?;
    if user_bool(user, setting.name) == shows {
        return None;
    }
    let mut after = User::clone(user);
    apply_user_setting(&mut after, setting, SettingValue::Bool(shows));
    Some(after)
}
