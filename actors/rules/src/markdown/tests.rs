//! The HTML of each kind of markup: a table for each section of docs/api/markdown.md, and texts with known HTML.

use super::*;

/// An organization with a few people, groups and channels.
pub(super) struct Realm {
    pub previews: bool,
    pub emoticons: bool,
    pub language: Option<&'static str>,
    pub linkifiers: Vec<Linkifier>,
}

impl Realm {
    pub(super) fn new() -> Self {
        Self { previews: false, emoticons: false, language: None, linkifiers: Vec::new() }
    }
}

const USERS: [(u64, &str, bool); 5] = [
    (17, "Ada Byron", true),
    (10, "King Hamlet", true),
    (11, "Iago", true),
    (18, "Gone <b>", false),
    (19, "Élodie", true),
];

fn user(row: Option<&(u64, &str, bool)>) -> Option<UserRef> {
    row.map(|(id, name, is_active)| UserRef { id: *id, full_name: (*name).to_owned(), is_active: *is_active })
}

impl MarkdownContext for Realm {
    fn user_by_name(&self, name: &str) -> Option<UserRef> {
        user(USERS.iter().find(|row| row.1.to_lowercase() == name.to_lowercase()))
    }

    fn user_by_id(&self, id: u64) -> Option<UserRef> {
        user(USERS.iter().find(|row| row.0 == id))
    }

    fn group_by_name(&self, name: &str) -> Option<GroupRef> {
        let (id, display_name, is_active) = match name.to_lowercase().as_str() {
            "backend" => (23, "backend", true),
            "old team" => (24, "old team", false),
            "role:members" => (3, "Members", true),
            _ => return None,
        };
        Some(GroupRef { id, display_name: display_name.to_owned(), is_active })
    }

    fn channel_by_name(&self, name: &str) -> Option<ChannelRef> {
        match name {
            "design" => Some(ChannelRef { id: 9, name: "design".to_owned() }),
            "R&D / x" => Some(ChannelRef { id: 12, name: "R&D / x".to_owned() }),
            _ => None,
        }
    }

    fn newest_message_in_topic(&self, channel_id: u64, topic: &str) -> Option<u64> {
        (channel_id == 9 && topic == "red pens").then_some(214)
    }

    fn custom_emoji(&self, name: &str) -> Option<EmojiRef> {
        let source_url = "/user_avatars/1/emoji/images/5.png".to_owned();
        (name == "blob" || name == "blob_cat").then_some(EmojiRef { source_url })
    }

    fn linkifiers(&self) -> &[Linkifier] {
        &self.linkifiers
    }

    fn realm_url(&self) -> &str {
        "https://chat.example.com"
    }

    fn translate_emoticons(&self) -> bool {
        self.emoticons
    }

    fn now_seconds(&self) -> Option<i64> {
        Some(1_935_396_000)
    }

    fn default_code_language(&self) -> Option<&str> {
        self.language
    }

    fn shows_previews(&self) -> bool {
        self.previews
    }

    fn upload_preview(&self, path_id: &str) -> Option<UploadPreview> {
        let image = UploadedImage {
            content_type: "image/png".to_owned(),
            width: 800,
            height: 600,
            is_animated: false,
        };
        match path_id {
            "1/ab/x.png" => Some(UploadPreview::Image(image)),
            "1/ab/x.gif" => Some(UploadPreview::Image(UploadedImage { is_animated: true, ..image })),
            _ => UploadPreview::of_name(path_id),
        }
    }
}

fn render_in(realm: &Realm, text: &str) -> Rendered {
    render(text, realm).unwrap()
}

fn html(text: &str) -> String {
    render_in(&Realm::new(), text).html
}

fn check(rows: &[(&str, &str)]) {
    for (text, expected) in rows {
        assert_eq!(html(text), *expected, "for {text:?}");
    }
}

/// Rows whose HTML is one paragraph.
fn check_inline(rows: &[(&str, &str)]) {
    for (text, expected) in rows {
        assert_eq!(html(text), format!("<p>{expected}</p>"), "for {text:?}");
    }
}

mod blocks;
mod code;
mod conversation;
mod links;
mod media;
mod phrases;
