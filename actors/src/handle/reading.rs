//! Queries of the edge: each one reads the view under its lock, at one point in time.

use super::RealmHandle;
use crate::bot_notices::draft_notice;
use crate::draft::Draft;
use crate::error::DomainError;
use crate::markdown::RealmMarkdown;
use crate::notifications;
use crate::outbox::FailedAttempts;
use crate::queries::{
    self, Covered, FlagSelection, HistorySnapshot, MessageSnapshot, Narrowed, ReadScope, ScopeSearch,
    SearchScope, TextSearch, select_flags, select_unread,
};
use crate::search::{self, SearchCandidates};
use model::job::{Job, TaskKind};
use model::{Directory, Flag, FlagOp, JobId, Message, MessageId, QueueRecord, User, UserId};
use rules::RuleError;
use rules::narrow::Term;
use rules::notifications::Trigger;
use std::sync::Arc;

impl RealmHandle {
    /// Whether the organization is not deactivated.
    pub fn is_active(&self) -> bool {
        self.read(|view| view.directory.realm().is_active)
    }

    /// The subdomain in the organization's host name; empty at the root.
    pub fn subdomain(&self) -> String {
        self.read(|view| view.directory.realm().subdomain.clone())
    }

    /// The account with an e-mail address.
    pub fn user_by_email(&self, email: &str) -> Option<Arc<User>> {
        self.read(|view| view.directory.user_by_email(email).cloned())
    }

    /// Whether an account has an address as its real one.
    pub fn has_delivery_email(&self, email: &str) -> bool {
        self.read(|view| view.directory.user_by_delivery_email(email).is_some())
    }

    /// All registered event queues.
    pub fn queues(&self) -> Vec<Arc<QueueRecord>> {
        self.read(|view| view.queues.values().cloned().collect())
    }

    /// Pending jobs of the outbox, then the last failed ones.
    pub fn jobs(&self) -> Vec<Arc<Job>> {
        self.read(|view| view.jobs.after(JobId(0)).chain(view.jobs.failed()).cloned().collect())
    }

    /// The failed attempts of a pending job since the server started; none before the first failure.
    pub fn failed_attempts(&self, job: JobId) -> Option<FailedAttempts> {
        self.shared.outbox.attempts.of(job)
    }

    /// The job that delivers a task again in place of another job, since the server started.
    pub fn replacement_of_job(&self, job: JobId) -> Option<JobId> {
        self.shared.outbox.attempts.replacement(job)
    }

    /// How many deliveries of the outbox are in progress.
    pub fn deliveries_in_progress(&self) -> usize {
        self.shared.outbox.in_progress()
    }

    /// Whether tasks of a kind can be delivered, as the server is configured.
    pub fn supports(&self, kind: TaskKind) -> bool {
        self.shared.supports(kind)
    }

    /// Whether a message exists.
    pub fn has_message(&self, id: MessageId) -> bool {
        self.read(|view| view.messages.all.contains(id.0))
    }

    /// Whether a message was delivered to a user, or the user has flagged it.
    pub fn is_message_of(&self, user: UserId, message: &Message) -> bool {
        self.read(|view| view.has(user, message))
    }

    /// The newest message that was delivered to a user.
    pub fn newest_received(&self, user: UserId) -> Option<MessageId> {
        self.read(|view| queries::newest_received(view, user))
    }

    /// Users who have read a message, without its sender; sorted. None where `asker` may not read it.
    pub fn readers(&self, asker: &User, id: MessageId) -> Option<Vec<UserId>> {
        self.read(|view| {
            queries::locate(view, Some(asker), id)?;
            Some(queries::readers(view, asker.id, id))
        })
    }

    /// Those of some users who can read a message.
    pub fn who_can_read(&self, id: MessageId, users: Vec<UserId>) -> Vec<UserId> {
        self.read(|view| queries::who_may_read(view, users, id))
    }

    /// A message before its body is read. None where `asker` (none: without an account) may not read it.
    pub fn message_snapshot(&self, asker: Option<&User>, id: MessageId) -> Option<MessageSnapshot> {
        self.read(|view| {
            queries::locate(view, asker, id)?;
            Some(MessageSnapshot::take(view, asker, &[id]))
        })
    }

    /// A message before its history is read. None where `asker` may not read it.
    pub fn history_snapshot(&self, asker: &User, id: MessageId) -> Option<HistorySnapshot> {
        self.read(|view| HistorySnapshot::take(view, asker, id))
    }

    /// The messages that a narrow means for `asker` (none: without an account); with a search, those that were found
    /// for its text. `check` runs after `with` has been
    /// resolved and before the other terms are; `select` runs under the view's lock.
    ///
    /// # Errors
    /// Those of the terms, of `check` and of `select`.
    pub fn narrow<T, E: From<RuleError>>(
        &self,
        asker: Option<&User>,
        narrow: (&[Term], Option<TextSearch<'_>>),
        check: impl FnOnce() -> Result<(), E>,
        select: impl FnOnce(&Narrowed<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.read(|view| select(&Narrowed::new(view, asker, narrow, check)?))
    }

    /// How many messages the search index lacks.
    pub fn search_behind(&self) -> u64 {
        self.shared.search.behind()
    }

    /// Finds the messages of a narrow among which a search looks. Takes a while where the account has many channels, but reads only
    /// some of them at a time: call it from a blocking thread.
    ///
    /// # Errors
    /// Those of the terms.
    pub fn search_scope(
        &self,
        asker: Option<&User>,
        terms: &[Term],
        covered: Covered,
    ) -> Result<SearchScope, RuleError> {
        let mut search = self.read(|view| ScopeSearch::begin(view, asker, terms, covered))?;
        while self.read(|view| search.take_turn(view)) {}
        Ok(self.read(|view| search.finish(view)))
    }

    /// Looks up the text of a search. Blocks: call it from a blocking thread.
    ///
    /// # Errors
    /// `SearchUnavailable`, `SearchNotReady`, `Storage`.
    pub fn find_text(&self, text: &str) -> Result<SearchCandidates, DomainError> {
        search::find(&self.shared, text)
    }

    /// Reads some messages to learn whether they match the text of a search. Blocks: call it from a blocking thread.
    ///
    /// # Errors
    /// `SearchTooBroad`, `Storage`.
    pub fn check_found(&self, found: &mut SearchCandidates, ids: &[MessageId]) -> Result<(), DomainError> {
        found.check(&self.shared, ids)
    }

    /// Those of some messages on which a change of a flag makes a difference.
    ///
    /// # Errors
    /// `InvalidMessage`.
    pub fn select_flags(
        &self,
        user: &User,
        change: (Flag, FlagOp),
        ids: &[MessageId],
    ) -> Result<FlagSelection, RuleError> {
        self.read(|view| select_flags(view, user, change, ids))
    }

    /// A user's unread messages. None if no message of the topic was delivered to the user.
    pub fn select_unread(&self, user: &User, scope: ReadScope<'_>) -> Option<FlagSelection> {
        self.read(|view| select_unread(view, user, scope))
    }

    /// Those of some users who have a message that they can read and have not read.
    pub fn not_read_by(&self, id: MessageId, users: &[UserId]) -> Vec<UserId> {
        self.read(|view| {
            let place = view.place_of(id);
            let has_it = |user: &UserId| notifications::is_unread_at(view, *user, id, place.as_ref());
            users.iter().copied().filter(has_it).collect()
        })
    }

    /// Those of some messages that an e-mail should still include, with the reason: unread, accessible, and wanted. Only those
    /// in the conversation of the first one: others were moved since the e-mail was decided.
    ///
    /// # Errors
    /// `Storage` when a body cannot be read. Blocks: call it from a blocking thread.
    pub fn missed_messages(
        &self,
        user: UserId,
        messages: &[MessageId],
    ) -> Result<Vec<(Arc<Message>, Trigger)>, DomainError> {
        notifications::missed_messages(&self.shared, user, messages)
    }

    /// The Markdown context of a message: pictures may be shown below the text.
    pub fn message_markdown<'a>(&'a self, directory: &'a Directory, writer: &'a User) -> RealmMarkdown<'a> {
        RealmMarkdown::of_message(&self.shared, directory, writer)
    }

    /// The Markdown context of a description: text only.
    pub fn description_markdown<'a>(
        &'a self,
        directory: &'a Directory,
        writer: &'a User,
    ) -> RealmMarkdown<'a> {
        RealmMarkdown::of_description(&self.shared, directory, writer)
    }

    /// A message of the notification bot, rendered with the permissions of `author`; none if it cannot be rendered.
    pub fn draft_notice(&self, directory: &Directory, author: &User, content: String) -> Option<Draft> {
        draft_notice(&self.shared, directory, author, content)
    }
}
