//! Channel folders (docs/api/channels.md#channel-folders). All changes are for administrators.

use super::serialized::{DecisionContext, SerializedChange, SerializedCommand};
use crate::error::DomainError;
use model::{ChannelFact, ChannelFolder, Directory, Fact, FolderId, UserId};
use rules::RuleError;
use rules::folders::{check_folder_name, check_folder_order, check_folder_unused, folders_in_order};
use rules::new_ids::id_after;
use rules::permissions::roles::check_administrator;
use std::collections::BTreeSet;

/// Markdown and its HTML, rendered with the writer's permissions.
#[derive(Clone, Debug)]
pub struct FolderDescription {
    pub text: String,
    pub html: String,
}

fn check_may(directory: &Directory, user: UserId) -> Result<(), DomainError> {
    let user = directory.user(user).ok_or(DomainError::InvalidApiKey)?;
    Ok(check_administrator(user)?)
}

/// The names of all folders but one.
fn names(directory: &Directory, except: Option<FolderId>) -> impl Iterator<Item = &str> {
    let others = directory.folders().filter(move |folder| Some(folder.id) != except);
    others.map(|folder| folder.name.as_str())
}

/// Creates a folder, last in the order.
pub struct CreateFolder {
    pub by: UserId,
    pub name: String,
    pub description: FolderDescription,
}

impl SerializedCommand for CreateFolder {
    type Outcome = FolderId;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(FolderId, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        check_may(directory, self.by)?;
        let name = check_folder_name(&self.name, names(directory, None))?.to_owned();
        let last = directory.folders().map(|folder| folder.id).max().unwrap_or_default();
        let id = FolderId(id_after(last.0, "channel folders")?);
        let last = directory.folders().map(|folder| folder.order).max();
        let folder = ChannelFolder {
            id,
            name,
            description: self.description.text,
            rendered_description: self.description.html,
            order: last.map_or(0, |last| last.saturating_add(1)),
            created: context.now,
            creator: self.by,
            is_archived: false,
        };
        Ok((id, vec![Fact::Channel(ChannelFact::FolderChanged(Box::new(folder)))]))
    }
}

/// Changes a folder; archives or unarchives it.
pub struct UpdateFolder {
    pub by: UserId,
    pub folder: FolderId,
    pub name: Option<String>,
    pub description: Option<FolderDescription>,
    pub is_archived: Option<bool>,
}

impl SerializedChange for UpdateFolder {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        check_may(directory, self.by)?;
        let before = directory.folder(self.folder).ok_or(RuleError::InvalidFolderId)?;
        let mut after = ChannelFolder::clone(before);
        if let Some(name) = &self.name {
            after.name = check_folder_name(name, names(directory, Some(before.id)))?.to_owned();
        }
        if let Some(FolderDescription { text, html }) =
            self.description.filter(|new| new.text != after.description)
        {
            (after.description, after.rendered_description) = (text, html);
        }
        if let Some(is_archived) = self.is_archived {
            if is_archived && !before.is_archived {
                check_folder_unused(directory, before.id)?;
            }
            after.is_archived = is_archived;
        }
        let facts = if after == **before {
            Vec::new()
        } else {
            vec![Fact::Channel(ChannelFact::FolderChanged(Box::new(after)))]
        };
        Ok(facts)
    }
}

/// Changes the order of all folders.
pub struct ReorderFolders {
    pub by: UserId,
    pub order: Vec<i64>,
}

impl SerializedChange for ReorderFolders {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        check_may(directory, self.by)?;
        let all: BTreeSet<FolderId> = directory.folders().map(|folder| folder.id).collect();
        let order = check_folder_order(&all, &self.order)?;
        let before = folders_in_order(directory);
        if before.iter().map(|folder| folder.id).eq(order.iter().copied()) {
            return Ok(Vec::new());
        }
        Ok(vec![Fact::Channel(ChannelFact::FoldersReordered(order))])
    }
}
