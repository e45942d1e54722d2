//! Saved snippets of users (docs/api/saved-texts.md#saved-snippets).

use super::serialized::{DecisionContext, SerializedCommand};
use crate::error::DomainError;
use model::{Directory, Fact, PersonalFact, SavedSnippet, SavedSnippetId, TextKind, UserId};
use rules::error::{RuleError, TextError};
use rules::new_ids::id_after;
use rules::saved_texts::{SNIPPETS_MAX, check_room, parse_snippet_content, parse_snippet_title};

/// Save a snippet.
pub struct CreateSnippet {
    /// The owner of the snippet.
    pub user: UserId,
    /// Its title, as sent.
    pub title: String,
    /// Its text, as sent.
    pub content: String,
}

impl SerializedCommand for CreateSnippet {
    type Outcome = SavedSnippetId;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(SavedSnippetId, Vec<Fact>), DomainError> {
        let title = parse_snippet_title(&self.title)?.to_owned();
        let content = parse_snippet_content(&self.content)?.to_owned();
        let directory = &context.directory;
        let id = SavedSnippetId(id_after(directory.last_text_id(TextKind::SavedSnippet), "saved snippets")?);
        let snippet = SavedSnippet { title, content, created: context.now };
        check_snippets(directory, self.user, id, &snippet)?;
        Ok((id, vec![set(self.user, id, true, Some(snippet))]))
    }
}

/// Change a snippet; missing parameters change nothing.
pub struct UpdateSnippet {
    /// The owner of the snippet.
    pub user: UserId,
    /// The id of the snippet.
    pub id: SavedSnippetId,
    /// A new title, as sent.
    pub title: Option<String>,
    /// A new text, as sent.
    pub content: Option<String>,
}

impl SerializedCommand for UpdateSnippet {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let title = self.title.as_deref().map(parse_snippet_title).transpose()?;
        let content = self.content.as_deref().map(parse_snippet_content).transpose()?;
        let before = find(&context.directory, self.user, self.id)?;
        let after = SavedSnippet {
            title: title.unwrap_or(&before.title).to_owned(),
            content: content.unwrap_or(&before.content).to_owned(),
            created: before.created,
        };
        if after == *before {
            return Ok(((), Vec::new()));
        }
        check_snippets(&context.directory, self.user, self.id, &after)?;
        Ok(((), vec![set(self.user, self.id, false, Some(after))]))
    }
}

/// Delete a snippet.
pub struct DeleteSnippet {
    /// The owner of the snippet.
    pub user: UserId,
    /// The id of the snippet.
    pub id: SavedSnippetId,
}

impl SerializedCommand for DeleteSnippet {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        find(&context.directory, self.user, self.id)?;
        Ok(((), vec![set(self.user, self.id, false, None)]))
    }
}

fn find(directory: &Directory, user: UserId, id: SavedSnippetId) -> Result<&SavedSnippet, DomainError> {
    let found = directory.saved_snippet(user, id).map(|snippet| &**snippet);
    found.ok_or_else(|| RuleError::from(TextError::SnippetMissing).into())
}

/// Whether the account has room for a snippet that is new or changed.
fn check_snippets(
    directory: &Directory,
    user: UserId,
    id: SavedSnippetId,
    snippet: &SavedSnippet,
) -> Result<(), RuleError> {
    let bytes = |snippet: &SavedSnippet| snippet.title.len() + snippet.content.len();
    let others = directory.saved_snippets(user).filter(|(other, _)| *other != id);
    let (count, total) =
        others.fold((1, bytes(snippet)), |(count, total), (_, other)| (count + 1, total + bytes(other)));
    check_room("saved snippets", (count, SNIPPETS_MAX), total)
}

fn set(user: UserId, id: SavedSnippetId, is_new: bool, snippet: Option<SavedSnippet>) -> Fact {
    Fact::Personal(PersonalFact::SavedSnippetSet { user, id, is_new, snippet })
}
