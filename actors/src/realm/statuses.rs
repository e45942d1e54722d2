//! What people say about themselves (endpoints.md 12).

use super::groups::actor;
use super::settled::{Moment, SettledCommand};
use crate::error::DomainError;
use model::{Fact, NamedStatus, SettingValue, User, UserId};
use rules::settings::{apply_user_setting, user_bool, user_setting};
use rules::statuses::{StatusRequest, check_status};

/// What a client asks for, as sent; what is left out stays.
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
pub(crate) struct SetStatus {
    /// About whom.
    pub user: UserId,
    /// What.
    pub wanted: WantedStatus,
}

impl SettledCommand for SetStatus {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &moment.directory;
        let user = actor(directory, self.user)?;
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
        // Its own event says so where it changes the setting; otherwise clients are told all the same.
        let hidden = away.and_then(|away| with_presence(user, !away));
        let repeated = away.filter(|_| hidden.is_none());
        facts.extend(hidden.map(|user| Fact::UserChanged(Box::new(user))));
        let named = NamedStatus { away: repeated, text: text.is_some(), emoji: emoji_name.is_some() };
        if named != NamedStatus::default() {
            facts.push(Fact::UserStatusSet { user: self.user, status, named });
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
