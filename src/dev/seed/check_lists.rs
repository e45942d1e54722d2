//! The groups, profile fields, folders, linkifiers and emoji of a seed must be such as the endpoints of the API accept.

use super::content::{Emoji, Field, Folder, Group, Linkifier, SeedDocument};
use super::document_path::At;
use super::mistake::{Checked, Mistake, Unique, accepted, refuse, stored_as_written};
use crate::integrations::blobs::pictures::blob_name;
use crate::integrations::images::inspect::{Inspection, inspect};
use model::{FieldKind, LinkifierRecord, Listed, ProfileField, RealmId};
use rules::RuleError;
use rules::custom_emoji::check_emoji_name;
use rules::error::{GroupError, OrganizationError, PersonalError, PictureError};
use rules::folders::{check_folder_description, check_folder_name};
use rules::groups::{GROUP_DESCRIPTION_LENGTH_MAX, parse_group_name};
use rules::linkifiers::check_new_linkifier;
use rules::markdown::{Linkifier as CompiledLinkifier, LinkifierError};
use rules::profile_fields::{FieldRequest, check_new_field, check_text};

/// Checks all of them; the first mistake is the error.
pub(super) fn check_lists(seed: &SeedDocument) -> Checked {
    let document = At::Document;
    check_groups(&document.key("groups"), &seed.groups)?;
    check_fields(&document.key("profile_fields"), &seed.profile_fields)?;
    check_folders(&document.key("folders"), &seed.folders)?;
    check_linkifiers(&document.key("linkifiers"), &seed.linkifiers)?;
    check_emoji(&document.key("emoji"), &seed.emoji)
}

fn check_groups(at: &At<'_>, groups: &[Group]) -> Checked {
    let mut names = Unique::default();
    for (number, Group { name, description, members: _ }) in groups.iter().enumerate() {
        let at = at.entry(number);
        stored_as_written(&at.key("name"), name, parse_group_name(name))?;
        names.add(&at.key("name"), name, || GroupError::AlreadyExists { name: name.clone() }.to_string())?;
        if description.chars().count() > GROUP_DESCRIPTION_LENGTH_MAX {
            let too_long = RuleError::TooLong { field: "description", limit: GROUP_DESCRIPTION_LENGTH_MAX };
            refuse(&at.key("description"), too_long.to_string())?;
        }
    }
    Ok(())
}

fn check_fields(at: &At<'_>, fields: &[Field]) -> Checked {
    let mut known = Vec::with_capacity(fields.len());
    for (number, field) in fields.iter().enumerate() {
        let at = at.entry(number);
        let new = check_field(&at, field, &known)?;
        let values = at.key("values");
        for (email, text) in &field.values {
            let at = values.key(email);
            if text.is_empty() {
                refuse(&at, "a value must not be empty; omit it where a person has none")?;
            }
            accepted(&at, check_text(&new, text))?;
        }
        known.push(new);
    }
    Ok(())
}

fn check_field(at: &At<'_>, field: &Field, known: &[ProfileField]) -> Result<ProfileField, Mistake> {
    let not_object = |_| Mistake::new(&at.key("data"), "data must be the text of a JSON object");
    let data = match field.data.as_str() {
        "" => None,
        text => Some(serde_json::from_str(text).map_err(not_object)?),
    };
    let request = FieldRequest {
        name: Some(field.name.clone()),
        hint: Some(field.hint.clone()),
        data,
        is_in_summary: Some(field.in_summary),
        ..FieldRequest::default()
    };
    let kind = FieldKind::from(field.kind).code().into();
    let new = check_new_field(known, kind, &request)
        .map_err(|error| Mistake::new(&at.key(entry_of(&error)), error.to_string()))?;
    // A known external account has a name and a hint of its own.
    stored_as_written(&at.key("name"), &field.name, Ok::<_, RuleError>(&new.name))?;
    stored_as_written(&at.key("hint"), &field.hint, Ok::<_, RuleError>(&new.hint))?;
    Ok(new)
}

/// The entry of a profile field that a refusal is about.
fn entry_of(error: &RuleError) -> &'static str {
    match error {
        RuleError::TooLong { field, .. } => field,
        RuleError::Personal(PersonalError::SummaryFull | PersonalError::KindNotInSummary) => "in_summary",
        RuleError::Personal(
            PersonalError::LabelBlank | PersonalError::LabelExists | PersonalError::TooManyFields { .. },
        ) => "name",
        _ => "data",
    }
}

fn check_folders(at: &At<'_>, folders: &[Folder]) -> Checked {
    let mut names = Unique::default();
    for (number, Folder { name, description }) in folders.iter().enumerate() {
        let at = at.entry(number);
        stored_as_written(&at.key("name"), name, check_folder_name(name, std::iter::empty::<&str>()))?;
        names.add(&at.key("name"), name, || RuleError::FolderNameTaken.to_string())?;
        accepted(&at.key("description"), check_folder_description(description))?;
    }
    Ok(())
}

fn check_linkifiers(at: &At<'_>, linkifiers: &[Linkifier]) -> Checked {
    let mut all = Listed::<LinkifierRecord>::default();
    for (number, Linkifier { pattern, url_template }) in linkifiers.iter().enumerate() {
        let at = at.entry(number);
        let record = check_new_linkifier(&all, pattern, url_template).map_err(|error| {
            let key = match is_template_refused(&error, pattern, url_template) {
                true => "url_template",
                false => "pattern",
            };
            Mistake::new(&at.key(key), error.to_string())
        })?;
        let id = all.next_id();
        all.items.push(LinkifierRecord { id, ..record });
    }
    Ok(())
}

/// Whether a refusal is about the template. The API has one error for a variable without a group and a group without a variable: of
/// these, the variable is a mistake of the template.
fn is_template_refused(error: &RuleError, pattern: &str, url_template: &str) -> bool {
    let RuleError::Organization(OrganizationError::FieldInvalid { field, .. }) = error else { return false };
    *field == "url_template"
        || matches!(
            CompiledLinkifier::new(pattern, url_template),
            Err(LinkifierError::Template(_) | LinkifierError::UnknownVariable(_))
        )
}

fn check_emoji(at: &At<'_>, emoji: &[Emoji]) -> Checked {
    let mut names = Unique::default();
    for (number, Emoji { name, author: _, file, base64 }) in emoji.iter().enumerate() {
        let at = at.entry(number);
        stored_as_written(&at.key("name"), name, check_emoji_name(name))?;
        names.add(&at.key("name"), name, || PictureError::EmojiExists.to_string())?;
        // The files of all organizations have the same form.
        if blob_name(RealmId::default(), file).is_none() {
            refuse(&at.key("file"), format!("`{file}` cannot be the name of a file"))?;
        }
        match inspect(&base64.0, base64.0.len() as u64) {
            Inspection::Image(_) => {}
            Inspection::Other | Inspection::Unfinished => {
                refuse(&at.key("base64"), "this is not a picture in PNG, JPEG, GIF or WebP")?;
            }
        }
    }
    Ok(())
}
