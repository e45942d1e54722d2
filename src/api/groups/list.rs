//! `GET /user_groups`: all groups of the organization.

use crate::api::wire::group::group;
use crate::api::wire::list::reply_list;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params};

/// Whether deactivated groups are included.
pub struct ListGroups(bool);

impl FromFields for ListGroups {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.bool_or("include_deactivated_groups", false)?))
    }
}

/// Lists `user_groups` by id.
pub async fn list_groups(
    caller: Caller,
    Params(ListGroups(with_deactivated)): Params<ListGroups>,
) -> HandlerResult {
    let directory = caller.realm.directory();
    let groups = directory.groups().filter(|group| with_deactivated || !group.is_deactivated);
    reply_list("user_groups", groups.map(|record| group(&directory, record)))
}
