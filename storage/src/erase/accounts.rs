//! What is erased of deleted accounts: names, addresses and profile are replaced by those of the placeholder, and own texts by
//! spaces.

use crate::error::StoreError;
use crate::open::decode_frame;
use model::blank::blank;
use model::job::{JobOutcome, Task};
use model::picture::PictureFact;
use model::{
    Directory, Fact, Invitation, InvitationFact, InvitationId, JobFact, PersonalFact, SavedDraft,
    ScheduledMessage, User, UserFact, WebSessionFact,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A deleted account.
#[derive(Clone, Debug, PartialEq)]
pub struct AccountErasure {
    /// Its record now.
    pub placeholder: User,
    /// The addresses that it had, in lower case.
    addresses: BTreeSet<String>,
    /// The invitations to it.
    invitations: BTreeSet<InvitationId>,
}

impl AccountErasure {
    /// An account of an organization, whose former addresses are not known yet.
    pub fn new(placeholder: User, directory: &Directory) -> Self {
        let is_theirs = |found: &&Arc<Invitation>| found.is_for(&placeholder.delivery_email);
        let invitations = directory.invitations().filter(is_theirs).map(|found| found.id).collect();
        Self { placeholder, addresses: BTreeSet::new(), invitations }
    }

    /// Notes the addresses that a frame says it had.
    pub fn note_addresses(&mut self, payload: &[u8]) -> Result<(), StoreError> {
        self.note_addresses_in(&decode_frame(payload)?.facts);
        Ok(())
    }

    fn note_addresses_in(&mut self, facts: &[Fact]) {
        for fact in facts {
            match fact {
                Fact::User(UserFact::Created(user) | UserFact::Changed(user))
                    if user.id == self.placeholder.id =>
                {
                    self.note(&user.delivery_email);
                }
                Fact::PreImages(facts) => self.note_addresses_in(facts),
                Fact::User(_)
                | Fact::Realm(_)
                | Fact::Personal(_)
                | Fact::Group(_)
                | Fact::Channel(_)
                | Fact::Subscription(_)
                | Fact::Message(_)
                | Fact::Queue(_)
                | Fact::Job(_)
                | Fact::Push(_)
                | Fact::Invitation(_)
                | Fact::Picture(_)
                | Fact::Attachment(_)
                | Fact::Audit(_) => {}
            }
        }
    }

    fn note(&mut self, address: &str) {
        if address != self.placeholder.delivery_email {
            self.addresses.insert(address.to_lowercase());
        }
    }

    fn has(&self, address: &str) -> bool {
        self.addresses.contains(&address.to_lowercase())
    }

    /// Erases from a fact other than pre-images and messages. Returns whether there was anything.
    pub fn erase(&self, fact: &mut Fact) -> bool {
        let id = self.placeholder.id;
        match fact {
            Fact::User(fact) => self.erase_user_fact(fact),
            Fact::Personal(fact) => self.erase_personal_fact(fact),
            Fact::Invitation(fact) => self.erase_invitation(fact),
            Fact::Job(fact) => self.erase_job(fact),
            Fact::Audit(entry) => entry.erase_user(id),
            Fact::Picture(fact) => match &mut **fact {
                PictureFact::AvatarSet { user, file: Some(file), .. } if *user == id => blank(file),
                PictureFact::AvatarSet { .. }
                | PictureFact::RealmPictureSet { .. }
                | PictureFact::EmojiSet(_) => false,
            },
            Fact::Realm(_)
            | Fact::Group(_)
            | Fact::Channel(_)
            | Fact::Subscription(_)
            | Fact::Message(_)
            | Fact::Queue(_)
            | Fact::Push(_)
            | Fact::PreImages(_)
            | Fact::Attachment(_) => false,
        }
    }

    fn erase_user_fact(&self, fact: &mut UserFact) -> bool {
        match fact {
            UserFact::Created(user) | UserFact::Changed(user) if user.id == self.placeholder.id => {
                let erased = User {
                    delivery_email: self.placeholder.delivery_email.clone(),
                    full_name: self.placeholder.full_name.clone(),
                    timezone: String::new(),
                    password_hash: None,
                    profile_data: Default::default(),
                    ..User::clone(user)
                };
                let is_changed = **user != erased;
                **user = erased;
                is_changed
            }
            UserFact::ProfileValuesSet { user, values } if *user == self.placeholder.id => {
                let had = values.iter().any(|(_, value)| value.is_some());
                values.iter_mut().for_each(|(_, value)| *value = None);
                had
            }
            UserFact::Created(_)
            | UserFact::Changed(_)
            | UserFact::ProfileValuesSet { .. }
            | UserFact::ActiveSet { .. }
            | UserFact::VisibilityChanged { .. }
            | UserFact::SettingsRestated { .. }
            | UserFact::BotConfigured { .. }
            | UserFact::BotIntegrationSet { .. }
            | UserFact::DataErased { .. } => false,
        }
    }

    fn erase_personal_fact(&self, fact: &mut PersonalFact) -> bool {
        let id = self.placeholder.id;
        match fact {
            PersonalFact::StatusSet { user, status: Some(status), .. } if *user == id => {
                blank(&mut status.text)
            }
            PersonalFact::AlertWordsSet { user, words } if *user == id => {
                words.iter_mut().fold(false, |had, word| had | blank(word))
            }
            PersonalFact::SavedSnippetSet { user, snippet: Some(snippet), .. } if *user == id => {
                blank(&mut snippet.title) | blank(&mut snippet.content)
            }
            PersonalFact::DraftsAdded { user, drafts } if *user == id => {
                drafts.iter_mut().fold(false, |had, (_, draft)| had | blank_draft(draft))
            }
            PersonalFact::DraftSet { user, draft: Some(draft), .. } if *user == id => blank_draft(draft),
            PersonalFact::ScheduledMessageSet { user, message: Some(message), .. } if *user == id => {
                blank_scheduled(message)
            }
            PersonalFact::WebSession { user, fact: WebSessionFact::Started { session, .. } }
                if *user == id =>
            {
                blank(&mut session.device)
            }
            PersonalFact::StatusSet { .. }
            | PersonalFact::Muted { .. }
            | PersonalFact::AlertWordsSet { .. }
            | PersonalFact::NavigationViewSet { .. }
            | PersonalFact::OnboardingStepSeen { .. }
            | PersonalFact::BotStorageChanged { .. }
            | PersonalFact::SavedSnippetSet { .. }
            | PersonalFact::DraftsAdded { .. }
            | PersonalFact::DraftSet { .. }
            | PersonalFact::DraftsForgotten { .. }
            | PersonalFact::ScheduledMessageSet { .. }
            | PersonalFact::WebSession { .. } => false,
        }
    }

    fn erase_invitation(&self, fact: &mut InvitationFact) -> bool {
        let InvitationFact::Created { first, others } = fact else { return false };
        let ids = (first.id.0..).map(InvitationId);
        let addresses = first.address.iter_mut().chain(others);
        let mut is_changed = false;
        for (_, address) in ids.zip(addresses).filter(|(id, _)| self.invitations.contains(id)) {
            is_changed |= *address != self.placeholder.delivery_email;
            address.clone_from(&self.placeholder.delivery_email);
        }
        is_changed
    }

    fn erase_job(&self, fact: &mut JobFact) -> bool {
        match fact {
            JobFact::Added { task, .. } => match &mut **task {
                Task::Mail(mail) => {
                    let is_theirs = mail.user() == Some(self.placeholder.id);
                    let texts = mail.personal_texts().into_iter();
                    texts
                        .filter(|text| is_theirs || self.has(text))
                        .fold(false, |had, text| had | blank(text))
                }
                Task::Webhook(_) | Task::Push(_) => false,
            },
            JobFact::Ended { outcome, .. } => match outcome {
                JobOutcome::Delivered => false,
                JobOutcome::Dropped { why } | JobOutcome::GaveUp { why } => {
                    let lower = why.to_lowercase();
                    // What a mail server said may name an address.
                    self.addresses.iter().any(|address| lower.contains(address)) && blank(why)
                }
            },
        }
    }
}

fn blank_draft(draft: &mut SavedDraft) -> bool {
    blank(&mut draft.content)
}

fn blank_scheduled(message: &mut ScheduledMessage) -> bool {
    let note = message.reminder.as_mut().is_some_and(|reminder| blank(&mut reminder.note));
    blank(&mut message.content) | blank(&mut message.rendered) | note
}
