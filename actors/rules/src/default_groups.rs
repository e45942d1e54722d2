//! Groups of default channels (docs/api/channels.md#groups-of-default-channels): permissions and validation.
//!
//! A group has only public channels that are in use: all members see the groups.

use crate::error::{DefaultGroupError, RuleError};
use crate::names::parse_description;
use crate::new_ids::id_after;
use crate::permissions::channel::{Archived, ChannelRef, access_channel_content};
use crate::permissions::roles::check_administrator;
use crate::text;
use model::{ChannelId, DefaultChannelGroup, Directory, Listed, User};

/// Maximum length of a group's name, in code points.
pub const GROUP_NAME_LENGTH_MAX: usize = 60;
/// Groups that an organization may have.
pub const GROUPS_MAX: usize = 100;
/// Channels that a group may have.
const CHANNELS_OF_GROUP_MAX: usize = 500;

/// The requested change; ids, names and descriptions as sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefaultGroupChange {
    /// Create a group.
    Create {
        /// The name of the group.
        name: String,
        /// The description of the group.
        description: String,
        /// The names of its channels.
        channels: Vec<String>,
    },
    /// Change name or description.
    Update {
        /// The id of the group.
        id: i64,
        /// The new name, unless it stays.
        name: Option<String>,
        /// The new description, unless it stays.
        description: Option<String>,
    },
    /// Add channels to a group.
    AddChannels {
        /// The id of the group.
        id: i64,
        /// The names of the channels.
        channels: Vec<String>,
    },
    /// Remove channels from a group.
    RemoveChannels {
        /// The id of the group.
        id: i64,
        /// The names of the channels.
        channels: Vec<String>,
    },
    /// Delete a group; its channels stay.
    Delete {
        /// The id of the group.
        id: i64,
    },
}

type Groups = Listed<DefaultChannelGroup>;

/// The groups after a change by an administrator.
///
/// # Errors
/// `AdministratorRequired`; `DefaultGroup`; those of finding a channel; `PrivateChannelDefault`; `TooLong`.
pub fn change_default_groups(
    dir: &Directory,
    by: &User,
    change: &DefaultGroupChange,
) -> Result<Groups, RuleError> {
    check_administrator(by)?;
    let mut groups = Groups::clone(dir.default_groups());
    match change {
        DefaultGroupChange::Create { name, description, channels } => {
            create(dir, by, &mut groups, (name, description, channels))?;
        }
        DefaultGroupChange::Update { id, name, description } => {
            update(&mut groups, *id, name.as_deref(), description.as_deref())?;
        }
        DefaultGroupChange::AddChannels { id, channels } => {
            let position = find(&groups, *id)?;
            add_channels(dir, by, &mut groups.items[position], channels)?;
        }
        DefaultGroupChange::RemoveChannels { id, channels } => {
            let position = find(&groups, *id)?;
            remove_channels(dir, by, &mut groups.items[position], channels)?;
        }
        DefaultGroupChange::Delete { id } => {
            let position = find(&groups, *id)?;
            groups.items.remove(position);
        }
    }
    groups.items.sort_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
    Ok(groups)
}

/// The groups without a channel that no longer belongs in them; none if it is in no group.
pub fn without_channel(dir: &Directory, channel: ChannelId) -> Option<Groups> {
    let groups = dir.default_groups();
    groups.items.iter().any(|group| group.channels.contains(&channel)).then(|| {
        let mut groups = Groups::clone(groups);
        groups.items.iter_mut().for_each(|group| group.channels.retain(|id| *id != channel));
        groups
    })
}

fn create(
    dir: &Directory,
    by: &User,
    groups: &mut Groups,
    (name, description, channels): (&str, &str, &[String]),
) -> Result<(), RuleError> {
    let name = check_name(groups, name, None)?;
    let description = parse_description(description)?;
    if groups.items.len() >= GROUPS_MAX {
        return Err(DefaultGroupError::TooManyGroups { limit: GROUPS_MAX }.into());
    }
    id_after(groups.last_id, "default channel groups")?;
    let mut group = DefaultChannelGroup { id: groups.next_id(), name, description, channels: Vec::new() };
    add_channels(dir, by, &mut group, channels)?;
    groups.items.push(group);
    Ok(())
}

fn update(
    groups: &mut Groups,
    id: i64,
    name: Option<&str>,
    description: Option<&str>,
) -> Result<(), RuleError> {
    if name.is_none() && description.is_none() {
        return Err(DefaultGroupError::NothingToChange.into());
    }
    let position = find(groups, id)?;
    let name = name.map(|name| check_name(groups, name, Some(position))).transpose()?;
    let description = description.map(parse_description).transpose()?;
    let group = &mut groups.items[position];
    group.name = name.unwrap_or_else(|| std::mem::take(&mut group.name));
    group.description = description.unwrap_or_else(|| std::mem::take(&mut group.description));
    Ok(())
}

fn find(groups: &Groups, id: i64) -> Result<usize, DefaultGroupError> {
    let found = groups.items.iter().position(|group| i64::from(group.id) == id);
    found.ok_or(DefaultGroupError::Missing { id })
}

/// The name of a new group, or of the one at a position.
fn check_name(groups: &Groups, raw: &str, position: Option<usize>) -> Result<String, DefaultGroupError> {
    let name = text::strip(raw);
    if name.is_empty() || text::forbidden_character(name).is_some() {
        return Err(DefaultGroupError::InvalidName { name: raw.to_owned() });
    }
    if name.chars().count() > GROUP_NAME_LENGTH_MAX {
        return Err(DefaultGroupError::NameTooLong { limit: GROUP_NAME_LENGTH_MAX });
    }
    let name = name.to_owned();
    match groups.items.iter().position(|group| group.name == name) {
        None => Ok(name),
        same if same == position => Err(DefaultGroupError::SameName { name }),
        Some(_) => Err(DefaultGroupError::NameTaken { name }),
    }
}

fn add_channels(
    dir: &Directory,
    by: &User,
    group: &mut DefaultChannelGroup,
    names: &[String],
) -> Result<(), RuleError> {
    for name in names {
        let found = access_channel_content(dir, by, ChannelRef::Name(name), Archived::Refused)?;
        let record = found.channel();
        let (channel, group_name) = (record.name.clone(), group.name.clone());
        if record.invite_only {
            return Err(RuleError::PrivateChannelDefault);
        }
        if dir.realm().default_channels.contains(&record.id) {
            return Err(DefaultGroupError::IsDefault { channel, group: group_name }.into());
        }
        if group.channels.contains(&record.id) {
            return Err(DefaultGroupError::ChannelPresent { channel, group: group_name }.into());
        }
        if group.channels.len() >= CHANNELS_OF_GROUP_MAX {
            let limit = CHANNELS_OF_GROUP_MAX;
            return Err(DefaultGroupError::TooManyChannels { group: group_name, limit }.into());
        }
        group.channels.push(record.id);
    }
    group.channels.sort_unstable();
    Ok(())
}

fn remove_channels(
    dir: &Directory,
    by: &User,
    group: &mut DefaultChannelGroup,
    names: &[String],
) -> Result<(), RuleError> {
    for name in names {
        let found = access_channel_content(dir, by, ChannelRef::Name(name), Archived::Refused)?;
        let record = found.channel();
        let Some(position) = group.channels.iter().position(|id| *id == record.id) else {
            let (channel, group) = (record.name.clone(), group.name.clone());
            return Err(DefaultGroupError::ChannelAbsent { channel, group }.into());
        };
        group.channels.remove(position);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn apply(dir: &mut Directory, change: DefaultGroupChange) -> Result<(), String> {
        let by = dir.user(fixture::ADMINISTRATOR).unwrap().clone();
        let after = change_default_groups(dir, &by, &change).map_err(|error| error.to_string())?;
        dir.put_default_groups(after);
        Ok(())
    }

    fn create(name: &str, channels: &[&str]) -> DefaultGroupChange {
        let channels = channels.iter().map(|name| (*name).to_owned()).collect();
        DefaultGroupChange::Create { name: name.into(), description: "d".into(), channels }
    }

    fn directory() -> Directory {
        let mut dir = fixture::directory();
        for (id, name) in [(1, "a"), (2, "b"), (3, "c")] {
            dir.put_channel(fixture::channel(id, name));
        }
        let mut realm = model::Realm::clone(dir.realm());
        realm.default_channels = vec![ChannelId(3)];
        dir.put_realm(realm);
        dir
    }

    #[test]
    fn channels_are_in_a_group_once() {
        let mut dir = directory();
        apply(&mut dir, create("x", &["b"])).unwrap();
        let add = |name: &str| DefaultGroupChange::AddChannels { id: 1, channels: vec![name.into()] };
        apply(&mut dir, add("a")).unwrap();
        assert_eq!(dir.default_groups().items[0].channels, [ChannelId(1), ChannelId(2)]);
        let present = "Channel 'a' is already present in default channel group 'x'";
        assert_eq!(apply(&mut dir, add("a")), Err(present.to_owned()));
        let default = "'c' is a default channel and cannot be added to 'x'";
        assert_eq!(apply(&mut dir, add("c")), Err(default.to_owned()));
        assert!(apply(&mut dir, add("nowhere")).is_err());
        let remove = || DefaultGroupChange::RemoveChannels { id: 1, channels: vec!["a".into()] };
        apply(&mut dir, remove()).unwrap();
        let absent = "Channel 'a' is not present in default channel group 'x'";
        assert_eq!(apply(&mut dir, remove()), Err(absent.to_owned()));
        assert!(without_channel(&dir, ChannelId(1)).is_none());
        assert!(without_channel(&dir, ChannelId(2)).unwrap().items[0].channels.is_empty());
    }

    #[test]
    fn groups_have_names_of_their_own() {
        let mut dir = directory();
        apply(&mut dir, create("x", &[])).unwrap();
        apply(&mut dir, create(" y ", &[])).unwrap();
        let taken = "Default channel group 'x' already exists";
        assert_eq!(apply(&mut dir, create("x", &[])), Err(taken.to_owned()));
        assert_eq!(
            apply(&mut dir, create(" ", &[])),
            Err("Invalid default channel group name ' '".to_owned())
        );
        assert!(apply(&mut dir, create(&"x".repeat(61), &[])).is_err());
        let rename = |id, name: Option<&str>| DefaultGroupChange::Update {
            id,
            name: name.map(str::to_owned),
            description: None,
        };
        assert_eq!(apply(&mut dir, rename(2, Some("x"))), Err(taken.to_owned()));
        let same = "This default channel group is already named 'y'";
        assert_eq!(apply(&mut dir, rename(2, Some("y"))), Err(same.to_owned()));
        let nothing = "You must pass \"new_description\" or \"new_group_name\".";
        assert_eq!(apply(&mut dir, rename(2, None)), Err(nothing.to_owned()));
        apply(&mut dir, rename(2, Some("a"))).unwrap();
        let names: Vec<&str> = dir.default_groups().items.iter().map(|group| group.name.as_str()).collect();
        assert_eq!(names, ["a", "x"]);
        apply(&mut dir, DefaultGroupChange::Delete { id: 2 }).unwrap();
        let missing = "Default channel group with id '2' does not exist.";
        assert_eq!(apply(&mut dir, DefaultGroupChange::Delete { id: 2 }), Err(missing.to_owned()));
        // Ids are not reused.
        apply(&mut dir, create("z", &[])).unwrap();
        assert_eq!(dir.default_groups().items.iter().map(|group| group.id).max(), Some(3));
        let member = dir.user(fixture::MEMBER).unwrap().clone();
        let refused = change_default_groups(&dir, &member, &create("m", &[]));
        assert_eq!(refused.err(), Some(RuleError::AdministratorRequired));
    }
}
