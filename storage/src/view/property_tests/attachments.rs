//! Facts about uploaded files. Files and messages are chosen again and again, so that files are claimed, released and removed in
//! any order, also by messages that do not claim them.

use super::plain::Plain;
use model::{Attachment, AttachmentFact, AttachmentId, Fact, ImageInfo, MessageId, Timestamp, UserId};

/// At most this many different files are named.
const FILES_MAX: u32 = 6;

impl Plain {
    /// The fact of a kind, if there is a message for it.
    pub fn attachment(&mut self, kind: u8, number: u8, bits: u8) -> Option<Fact> {
        let file = |number: u32| AttachmentId(1 + number % FILES_MAX);
        let attachment = file(number.into());
        Some(Fact::Attachment(match kind {
            0 => {
                if self.files.contains(&attachment) {
                    return None;
                }
                self.files.insert(attachment);
                AttachmentFact::Added(Box::new(new_file(attachment, self.user(bits), bits)))
            }
            1 => {
                let nth = usize::from(number) % self.messages.len().max(1);
                let message = *self.messages.keys().nth(nth)?;
                let some = |offset: u32| file(u32::from(bits) + offset);
                AttachmentFact::ClaimsChanged {
                    message: MessageId(message),
                    sent: Timestamp(u64::from(message) * 1_000),
                    claimed: (0..u32::from(bits % 3)).map(some).collect(),
                    released: (3..3 + u32::from(number % 3)).map(some).collect(),
                }
            }
            2 => {
                // Whether it is removed depends on its messages; a new one has another path.
                self.files.insert(attachment);
                AttachmentFact::Removed { attachment, owner: UserId(1), if_unclaimed: bits & 1 == 0 }
            }
            _ => AttachmentFact::Kept { attachment },
        }))
    }
}

fn new_file(id: AttachmentId, owner: u32, bits: u8) -> Attachment {
    let image = ImageInfo { width: 1, height: 2, is_animated: false, orientation: 6 };
    Attachment {
        id,
        owner: UserId(owner),
        path_id: format!("1/ab/{id}/tea.png"),
        name: "tea.png".into(),
        size: u64::from(bits),
        content_type: "image/png".into(),
        created: Timestamp(20_000),
        image: (bits & 1 == 0).then_some(image),
        unclaimed_since: Some(Timestamp(20_000)),
    }
}
