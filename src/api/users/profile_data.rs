//! `PATCH` and `DELETE /users/me/profile_data`: the requester's values of custom profile fields
//! (docs/api/profile-fields.md#values).

use crate::api::descriptions::description_html;
use crate::api::formulas;
use crate::http::{ApiError, App, Caller, Fields, FromFields, HandlerResult, Params};
use actors::commands;
use model::Directory;
use rules::profile_fields::{ProfileEntry, check_entries, find_field};

/// Values to set.
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

/// Ids of the fields whose values are removed.
pub struct RemoveValues(Vec<i64>);

impl FromFields for RemoveValues {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.required_ints("data")?))
    }
}

/// Sets values, or none if any is refused.
pub async fn set_values(
    app: App,
    caller: Caller,
    Params(SetValues(mut entries)): Params<SetValues>,
) -> HandlerResult {
    let directory = caller.realm.directory();
    // Checked before values are rendered, and again when the command is decided.
    check_entries(&directory, &caller.user, &caller.user, entries.clone())?;
    formulas::prepare(&app, &caller, texts_of(&entries)).await?;
    render_entries(&caller, &directory, &mut entries)?;
    caller.execute(commands::SetProfileValues { user: caller.user.id, entries }).await
}

/// Removes values, or none if any is refused.
pub async fn remove_values(
    caller: Caller,
    Params(RemoveValues(fields)): Params<RemoveValues>,
) -> HandlerResult {
    caller.execute(commands::RemoveProfileValues { user: caller.user.id, fields }).await
}

/// The values that are texts.
pub fn texts_of(entries: &[ProfileEntry]) -> impl Iterator<Item = &str> {
    entries.iter().filter_map(|entry| entry.value.as_str())
}

/// Renders values of Markdown fields. Error: a value whose HTML is too long.
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
