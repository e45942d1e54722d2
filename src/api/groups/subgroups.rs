//! `/user_groups/{user_group_id}/subgroups`: lists and changes the subgroups of a group
//! (docs/api/groups.md#change-members).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply, reply_ok};
use actors::commands;
use model::GroupId;
use rules::groups::access_group;
use serde::Serialize;
use std::collections::BTreeSet;

/// The parameters of the POST.
pub struct ChangeSubgroups {
    delete: Vec<i64>,
    add: Vec<i64>,
}

impl FromFields for ChangeSubgroups {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let delete = fields.optional_ints("delete")?.unwrap_or_default();
        let add = fields.optional_ints("add")?.unwrap_or_default();
        Ok(Self { delete, add })
    }
}

/// All of it or, if anything is refused, none.
pub async fn change_subgroups(
    caller: Caller,
    Path(group): Path<GroupId>,
    Params(ChangeSubgroups { delete, add }): Params<ChangeSubgroups>,
) -> HandlerResult {
    caller
        .realm
        .execute(commands::ChangeSubgroups { by: caller.user.id, group: group.0.into(), add, delete })
        .await?;
    reply_ok()
}

/// The parameters of the GET.
pub struct ListSubgroups {
    direct_subgroup_only: bool,
}

impl FromFields for ListSubgroups {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { direct_subgroup_only: fields.bool_or("direct_subgroup_only", false)? })
    }
}

#[derive(Serialize)]
struct Subgroups {
    subgroups: BTreeSet<GroupId>,
}

/// `subgroups`, with those inside them unless told otherwise.
pub async fn list_subgroups(
    caller: Caller,
    Path(group): Path<GroupId>,
    Params(ListSubgroups { direct_subgroup_only }): Params<ListSubgroups>,
) -> HandlerResult {
    let directory = caller.realm.directory();
    let group = access_group(&directory, group.0.into())?;
    let subgroups =
        if direct_subgroup_only { group.subgroups.clone() } else { directory.subgroups_of(group.id) };
    reply(&Subgroups { subgroups })
}
