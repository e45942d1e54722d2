//! `PATCH` and `DELETE /users/me/profile_data`: the requester's values of custom profile fields
//! (docs/api/profile-fields.md#values).

use crate::api::descriptions::description_html;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_ok};
use actors::commands;
use model::Directory;
use rules::profile_fields::{ProfileEntry, find_field};

/// Fields and values, as sent.
pub struct SetValues(Vec<ProfileEntry>);

impl FromFields for SetValues {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let data = fields.required_json("data")?;
        let mut entries = Vec::new();
        for item in data.root().list()? {
            let entry = item.object()?;
            let (field, value) = (entry.required("id")?.int()?, entry.required("value")?);
            entry.check_only(&["id", "value"])?;
            entries.push(ProfileEntry { field, value: value.value().clone(), html: None });
        }
        Ok(Self(entries))
    }
}

/// Fields, as sent.
pub struct RemoveValues(Vec<i64>);

impl FromFields for RemoveValues {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.required_ints("data")?))
    }
}

/// Fills in fields: all or nothing.
pub async fn set_values(caller: Caller, Params(SetValues(mut entries)): Params<SetValues>) -> HandlerResult {
    render_entries(&caller, &caller.realm.directory(), &mut entries)?;
    caller.realm.execute(commands::SetProfileValues { user: caller.user.id, entries }).await?;
    reply_ok()
}

/// Takes values away: all or nothing.
pub async fn remove_values(caller: Caller, Params(RemoveValues(ids)): Params<RemoveValues>) -> HandlerResult {
    caller.realm.execute(commands::RemoveProfileValues { user: caller.user.id, fields: ids }).await?;
    reply_ok()
}

/// Adds the HTML where a field's values are Markdown.
///
/// # Errors
/// A value that has no reasonable HTML.
pub fn render_entries(
    caller: &Caller,
    directory: &Directory,
    entries: &mut [ProfileEntry],
) -> Result<(), ApiError> {
    let fields = directory.profile_fields();
    for entry in entries {
        let is_markdown = find_field(&fields.list, entry.field).is_ok_and(|field| field.kind.is_markdown());
        if let (true, Some(text)) = (is_markdown, entry.value.as_str()) {
            entry.html = Some(description_html(caller, directory, text)?);
        }
    }
    Ok(())
}
