//! Events of the organization's icon, logos and own emoji (events.md 3).

use super::EventWriter;
use super::changes::{push_object, push_open};
use crate::api::wire::emoji::push_realm_emoji;
use crate::api::wire::json::{push_name, push_text_field};
use model::EventBody;
use model::picture::RealmPicture;

/// The word for a picture in events and in the names of fields.
pub fn picture_word(which: RealmPicture) -> &'static str {
    match which {
        RealmPicture::Icon => "icon",
        RealmPicture::Logo => "logo",
        RealmPicture::NightLogo => "night_logo",
    }
}

impl EventWriter<'_> {
    /// Writes an event up to its number. False: it is of another kind.
    pub(super) fn push_picture_event(&self, out: &mut Vec<u8>, body: &EventBody) -> bool {
        match body {
            EventBody::RealmPictureChanged { which, url, source } => {
                let word = picture_word(*which);
                push_open(out, "realm", "update_dict");
                push_text_field(out, "property", word);
                push_name(out, "data");
                let mut data = Vec::new();
                push_text_field(&mut data, &format!("{word}_url"), url);
                push_text_field(&mut data, &format!("{word}_source"), source);
                push_object(out, &data);
            }
            EventBody::RealmEmoji(all) => {
                push_open(out, "realm_emoji", "update");
                push_name(out, "realm_emoji");
                push_realm_emoji(out, self.directory.realm().id, all.iter().map(|emoji| &**emoji));
            }
            _ => return false,
        }
        true
    }
}
