//! `GET /user_groups`: all groups of the organization.

use crate::api::wire::group::group;
use crate::api::wire::list::push_list;
use crate::http::{ApiError, Caller, Envelope, Fields, FromFields, HandlerResult, Params};

/// The parameters.
pub struct ListGroups {
    include_deactivated_groups: bool,
}

impl FromFields for ListGroups {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { include_deactivated_groups: fields.bool_or("include_deactivated_groups", false)? })
    }
}

/// `user_groups` by id; those out of use only where asked for.
pub async fn list_groups(caller: Caller, Params(params): Params<ListGroups>) -> HandlerResult {
    let directory = caller.realm.directory();
    let groups =
        directory.groups().filter(|group| params.include_deactivated_groups || !group.is_deactivated);
    let mut envelope = Envelope::with_capacity(4096);
    push_list(envelope.open_field("user_groups"), groups.map(|record| group(&directory, record)));
    envelope.reply()
}
