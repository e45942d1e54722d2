//! Applies facts about users and their personal records to the directory and its rows.

use super::key::Number;
use super::{Rows, View, records};
use crate::error::StoreError;
use model::{
    BotConfig, BotIntegration, PersonalFact, ProfileFieldId, ProfileValue, TextKind, User, UserFact, UserId,
    WebSession, WebSessionFact,
};

impl View {
    /// Accounts, profile values and configuration of bots.
    pub(super) fn apply_user_fact(&mut self, fact: &UserFact, rows: &mut Rows) -> Result<(), StoreError> {
        match fact {
            UserFact::Created(user) | UserFact::Changed(user) => {
                self.put::<records::Users>(rows, user.id, User::clone(user))
            }
            UserFact::ActiveSet { user, is_active, last, .. } => {
                self.apply_user_active(*user, *is_active, *last, rows)
            }
            UserFact::ProfileValuesSet { user, values } => self.apply_profile_values(*user, values, rows),
            UserFact::BotConfigured { bot, config, .. } => {
                self.put::<records::BotConfigs>(rows, *bot, BotConfig::clone(config))
            }
            UserFact::BotIntegrationSet { bot, integration, .. } => {
                self.put::<records::BotIntegrations>(rows, *bot, BotIntegration::clone(integration))
            }
            UserFact::DataErased { user } => self.apply_data_erased(*user, rows),
            UserFact::VisibilityChanged { .. } | UserFact::SettingsRestated { .. } => Ok(()),
        }
    }

    /// Statuses, muted users, alert words and navigation views.
    pub(super) fn apply_personal_fact(
        &mut self,
        fact: &PersonalFact,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        match fact {
            PersonalFact::StatusSet { user, status, .. } => {
                self.put_or_remove::<records::UserStatuses>(rows, *user, status.clone())
            }
            PersonalFact::Muted { user, muted, since } => {
                self.put_or_remove::<records::MutedUsers>(rows, (*user, *muted), *since)
            }
            PersonalFact::AlertWordsSet { user, words } => {
                let words = Some(words.clone()).filter(|words| !words.is_empty());
                self.put_or_remove::<records::AlertWords>(rows, *user, words)
            }
            PersonalFact::NavigationViewSet { user, fragment, view, .. } => {
                self.put_or_remove::<records::NavigationViews>(rows, (*user, fragment.clone()), view.clone())
            }
            PersonalFact::OnboardingStepSeen { user, steps } => {
                self.put::<records::OnboardingSteps>(rows, *user, steps.clone())
            }
            PersonalFact::BotStorageChanged { user, set, removed } => {
                let set = set.iter().map(|(key, value)| (key, Some(value.clone())));
                let mut all = set.chain(removed.iter().map(|key| (key, None)));
                all.try_for_each(|(key, value)| {
                    self.put_or_remove::<records::BotStorage>(rows, (*user, key.clone()), value)
                })
            }
            PersonalFact::SavedSnippetSet { user, id, is_new, snippet } => {
                if *is_new {
                    self.note_text_id(TextKind::SavedSnippet, id.0, rows)?;
                }
                self.put_or_remove::<records::SavedSnippets>(rows, (*user, *id), snippet.clone())
            }
            PersonalFact::DraftsAdded { user, drafts } => {
                if let Some((last, _)) = drafts.last() {
                    self.note_text_id(TextKind::Draft, last.0, rows)?;
                }
                drafts.iter().try_for_each(|(id, draft)| {
                    self.put::<records::Drafts>(rows, (*user, *id), draft.clone())
                })
            }
            PersonalFact::DraftSet { user, id, draft } => {
                self.put_or_remove::<records::Drafts>(rows, (*user, *id), draft.clone())
            }
            PersonalFact::ScheduledMessageSet { user, id, is_new, message, .. } => {
                if *is_new {
                    self.note_text_id(TextKind::ScheduledMessage, id.0, rows)?;
                }
                let message = message.as_deref().cloned();
                self.put_or_remove::<records::ScheduledMessages>(rows, (*user, *id), message)
            }
            PersonalFact::WebSession { user, fact } => self.apply_web_session_fact(*user, fact, rows),
            PersonalFact::DraftsForgotten { user } => {
                let ids: Vec<_> = self.directory.drafts(*user).map(|(id, _)| id).collect();
                ids.into_iter()
                    .try_for_each(|id| self.put_or_remove::<records::Drafts>(rows, (*user, id), None))
            }
        }
    }

    fn apply_web_session_fact(
        &mut self,
        user: UserId,
        fact: &WebSessionFact,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        match fact {
            WebSessionFact::Started { key, session } => {
                self.put::<records::WebSessions>(rows, (user, *key), session.clone())
            }
            WebSessionFact::Used { key, at } => {
                let known = self.directory.web_session(key).filter(|(owner, _)| *owner == user);
                let used = known.map(|(_, session)| WebSession { used: *at, ..WebSession::clone(session) });
                used.map_or(Ok(()), |used| self.put::<records::WebSessions>(rows, (user, *key), used))
            }
            WebSessionFact::Ended(keys) => keys
                .iter()
                .try_for_each(|key| self.put_or_remove::<records::WebSessions>(rows, (user, *key), None)),
        }
    }

    fn note_text_id(&mut self, kind: TextKind, id: u32, rows: &mut Rows) -> Result<(), StoreError> {
        self.put::<records::LastTextIds>(rows, Number(kind.number()), id)
    }

    fn apply_profile_values(
        &mut self,
        user: UserId,
        values: &[(ProfileFieldId, Option<ProfileValue>)],
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let Some(before) = self.directory.user(user) else { return Ok(()) };
        let mut record = User::clone(before);
        for (field, value) in values {
            match value {
                Some(value) => record.profile_data.insert(*field, value.clone()),
                None => record.profile_data.remove(field),
            };
        }
        self.put::<records::Users>(rows, user, record)
    }
}
