//! `user_group`: user groups of the organization.

use super::writer::EventWriter;
use crate::api::wire::group::{GroupJson, group, group_setting};
use crate::api::wire::list::Object;
use model::event::GroupChange;
use model::{GroupId, UserGroup, UserId};
use serde::Serialize;

#[derive(Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(super) enum UserGroupEvent<'e> {
    Add { group: Box<GroupJson<'e>> },
    AddMembers { group_id: GroupId, user_ids: &'e [UserId] },
    RemoveMembers { group_id: GroupId, user_ids: &'e [UserId] },
    AddSubgroups { group_id: GroupId, direct_subgroup_ids: &'e [GroupId] },
    RemoveSubgroups { group_id: GroupId, direct_subgroup_ids: &'e [GroupId] },
    Remove { group_id: GroupId },
}

#[derive(Serialize)]
struct Update<D> {
    op: &'static str,
    group_id: GroupId,
    data: D,
}

/// The properties that changed.
#[derive(Serialize)]
struct Data<'e, P> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deactivated: Option<bool>,
    #[serde(flatten)]
    permissions: P,
}

pub(super) fn add<'e>(writer: &EventWriter<'_>, record: &'e UserGroup) -> UserGroupEvent<'e> {
    UserGroupEvent::Add { group: Box::new(group(writer.directory, record)) }
}

pub(super) fn update(writer: &EventWriter<'_>, group_id: GroupId, change: &GroupChange) -> impl Serialize {
    let directory = writer.directory;
    let permissions = change.permissions.iter();
    let data = Data {
        name: change.name.as_deref(),
        description: change.description.as_deref(),
        deactivated: change.is_deactivated,
        permissions: Object(permissions.map(move |(name, value)| (name, group_setting(directory, value)))),
    };
    Update { op: "update", group_id, data }
}
