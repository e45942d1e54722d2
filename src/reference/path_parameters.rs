//! What the variable parts of paths are.

/// The text of each, by its name in the paths.
const TEXTS: [(&str, &str); 26] = [
    ("attachment_id", "The id of the uploaded file, from the list of one's own files."),
    ("bot_id", "The id of the bot's account."),
    ("channel_folder_id", "The id of the channel folder."),
    ("domain", "The domain, without `@`."),
    ("draft_id", "The id of the draft."),
    ("emoji_name", "The name of the emoji, without colons."),
    ("export_id", "The id of the export."),
    ("field_id", "The id of the custom profile field."),
    ("file", "The path of the file, as it is in links to it; it may have slashes."),
    ("filter_id", "The id of the linkifier."),
    ("fragment", "The fragment of the view's URL, percent-encoded."),
    ("group_id", "The id of the group of default channels."),
    ("integration", "The name of the integration, such as `github`."),
    ("invite_id", "The id of the invitation."),
    ("message_id", "The id of the message."),
    ("playground_id", "The id of the code playground."),
    ("realm_id", "The id of the organization."),
    ("reminder_id", "The id of the reminder."),
    ("saved_snippet_id", "The id of the saved snippet."),
    ("scheduled_message_id", "The id of the scheduled message."),
    ("session_id", "The id of the session, from the list of one's own sessions."),
    ("stream_id", "The id of the channel."),
    ("upload_id", "The last part of the address that the creation of the upload returned."),
    ("user_group_id", "The id of the user group."),
    ("user_id", "The id of the account."),
    ("user_id_or_email", "The id of the account, or its e-mail address as the API shows it."),
];

/// The text of a variable part; none for an unknown one.
pub(super) fn text(name: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::document::path;
    use crate::reference::operations::families;
    use std::collections::BTreeSet;

    #[test]
    fn every_variable_part_of_a_path_has_a_text() {
        let families = families();
        let paths: Vec<String> = families.iter().flat_map(|family| &family.operations).map(path).collect();
        let parts = paths.iter().flat_map(|path| path.split('/'));
        let names: BTreeSet<&str> =
            parts.filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        let known: BTreeSet<&str> = TEXTS.iter().map(|(name, _)| *name).collect();
        assert_eq!(known, names);
    }
}
