//! Drafts of users (docs/api/saved-texts.md#drafts). They are stored only for users who synchronize them.

use super::frame_draft::requester;
use super::serialized::{DecisionContext, SerializedCommand};
use crate::error::DomainError;
use model::{Directory, DraftId, DraftTo, Fact, PersonalFact, SavedDraft, TextKind, User, UserId};
use rules::drafts::{DRAFTS_MAX, DraftRequest, parse_draft};
use rules::error::{RuleError, TextError};
use rules::new_ids::id_after;
use rules::saved_texts::check_room;
use rules::settings::user_bool;
use std::sync::Arc;

/// The setting that allows storing drafts.
pub(super) const SYNCHRONIZATION: &str = "enable_drafts_synchronization";

/// Stores new drafts: all of them or none.
pub struct CreateDrafts {
    /// The owner of the drafts.
    pub user: UserId,
    /// The drafts, as sent.
    pub drafts: Vec<DraftRequest>,
}

impl SerializedCommand for CreateDrafts {
    type Outcome = Vec<DraftId>;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(Vec<DraftId>, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let author = author(directory, self.user)?;
        let last = directory.last_text_id(TextKind::Draft);
        let count = u32::try_from(self.drafts.len()).unwrap_or(u32::MAX);
        let first = id_after(last, "drafts")?;
        id_after(last.saturating_add(count), "drafts")?;
        let parse = |request| parse_draft(directory, &author, request, context.now);
        let drafts: Vec<SavedDraft> = self.drafts.iter().map(parse).collect::<Result<_, _>>()?;
        check_drafts(directory, self.user, None, &drafts)?;
        let drafts: Vec<(DraftId, SavedDraft)> = (first..).map(DraftId).zip(drafts).collect();
        let ids = drafts.iter().map(|(id, _)| *id).collect();
        let fact = PersonalFact::DraftsAdded { user: self.user, drafts };
        Ok((ids, if self.drafts.is_empty() { Vec::new() } else { vec![Fact::Personal(fact)] }))
    }
}

/// Replace a draft.
pub struct UpdateDraft {
    /// The owner of the draft.
    pub user: UserId,
    /// The id of the draft.
    pub id: DraftId,
    /// What it is now, as sent.
    pub draft: DraftRequest,
}

impl SerializedCommand for UpdateDraft {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let author = author(directory, self.user)?;
        check_exists(directory, self.user, self.id)?;
        let draft = parse_draft(directory, &author, &self.draft, context.now)?;
        check_drafts(directory, self.user, Some(self.id), std::slice::from_ref(&draft))?;
        Ok(((), vec![set(self.user, self.id, Some(draft))]))
    }
}

/// Delete a draft.
pub struct DeleteDraft {
    /// The owner of the draft.
    pub user: UserId,
    /// The id of the draft.
    pub id: DraftId,
}

impl SerializedCommand for DeleteDraft {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        author(&context.directory, self.user)?;
        check_exists(&context.directory, self.user, self.id)?;
        Ok(((), vec![set(self.user, self.id, None)]))
    }
}

/// Deletes the drafts of a user who disabled synchronizing them.
pub(super) fn forget_drafts(directory: &Directory, after: &User) -> Option<Fact> {
    let is_kept = user_bool(after, SYNCHRONIZATION) || directory.drafts(after.id).next().is_none();
    (!is_kept).then_some(Fact::Personal(PersonalFact::DraftsForgotten { user: after.id }))
}

/// The user, if they synchronize drafts.
fn author(directory: &Directory, user: UserId) -> Result<Arc<User>, DomainError> {
    let author = requester(directory, user)?;
    match user_bool(&author, SYNCHRONIZATION) {
        true => Ok(author),
        false => Err(RuleError::from(TextError::DraftsNotSynchronized).into()),
    }
}

fn check_exists(directory: &Directory, user: UserId, id: DraftId) -> Result<(), DomainError> {
    match directory.draft(user, id) {
        Some(_) => Ok(()),
        None => Err(RuleError::from(TextError::DraftMissing).into()),
    }
}

/// Whether the account has room for drafts that are new or in place of another one.
fn check_drafts(
    directory: &Directory,
    user: UserId,
    replaced: Option<DraftId>,
    drafts: &[SavedDraft],
) -> Result<(), RuleError> {
    let others = directory.drafts(user).filter(|(id, _)| Some(*id) != replaced).map(|(_, draft)| &**draft);
    let (mut count, mut total) = (0, 0);
    for draft in others.chain(drafts) {
        (count, total) = (count + 1, total + bytes(draft));
    }
    check_room("drafts", (count, DRAFTS_MAX), total)
}

fn bytes(draft: &SavedDraft) -> usize {
    let place = match &draft.to {
        DraftTo::Nowhere => 0,
        DraftTo::Channel { topic, .. } => topic.len(),
        DraftTo::People(users) => size_of_val(users.as_slice()),
    };
    draft.content.len() + place
}

fn set(user: UserId, id: DraftId, draft: Option<SavedDraft>) -> Fact {
    Fact::Personal(PersonalFact::DraftSet { user, id, draft })
}
