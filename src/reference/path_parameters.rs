//! What the variable parts of paths are.

/// An example and the text of each, by its name in the paths.
const TEXTS: [(&str, &str, &str); 26] = [
    ("attachment_id", "1", "The id of the uploaded file, from the list of one's own files."),
    ("bot_id", "27", "The id of the bot's account."),
    ("channel_folder_id", "2", "The id of the channel folder."),
    ("domain", "example.com", "The domain, without `@`."),
    ("draft_id", "1", "The id of the draft."),
    ("emoji_name", "soup", "The name of the emoji, without colons."),
    ("export_id", "1", "The id of the export."),
    ("field_id", "2", "The id of the custom profile field."),
    (
        "file",
        "4e/m2A3MSqFnWRLUf9SaPzQ0Up_/picture.png",
        "The path of the file, as it is in links to it; it may have slashes.",
    ),
    ("filter_id", "2", "The id of the linkifier."),
    ("fragment", "narrow/topic/lunch", "The fragment of the view's URL, percent-encoded."),
    ("group_id", "1", "The id of the group of default channels."),
    ("integration", "json", "The name of the integration, such as `github`."),
    ("invite_id", "1", "The id of the invitation."),
    ("message_id", "335", "The id of the message."),
    ("playground_id", "1", "The id of the code playground."),
    ("realm_id", "1", "The id of the organization."),
    ("reminder_id", "1", "The id of the reminder."),
    ("saved_snippet_id", "1", "The id of the saved snippet."),
    ("scheduled_message_id", "1", "The id of the scheduled message."),
    ("session_id", "1f8bb1c4a0d34e0c", "The id of the session, from the list of one's own sessions."),
    ("stream_id", "1", "The id of the channel."),
    (
        "upload_id",
        "b3f1c6d2a94e4d0f",
        "The last part of the address that the creation of the upload returned.",
    ),
    ("user_group_id", "10", "The id of the user group."),
    ("user_id", "8", "The id of the account."),
    ("user_id_or_email", "8", "The id of the account, or its e-mail address as the API shows it."),
];

/// The text of a variable part; none for an unknown one.
pub fn text(name: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(known, _, _)| *known == name).map(|(_, _, text)| *text)
}

/// A path with the examples in the place of its variable parts.
pub(super) fn filled(path: &str) -> String {
    let with =
        |path: String, (name, example, _): &(&str, &str, &str)| path.replace(&format!("{{{name}}}"), example);
    TEXTS.iter().fold(path.to_owned(), with)
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
        let known: BTreeSet<&str> = TEXTS.iter().map(|(name, _, _)| *name).collect();
        assert_eq!(known, names);
    }
}
