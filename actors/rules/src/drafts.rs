//! Drafts: from the parameters of clients to the stored record (docs/api/saved-texts.md#drafts).

use crate::content::parse_content;
use crate::error::{RuleError, TextError};
use crate::permissions::channel::{Archived, ChannelRef, access_channel_content};
use crate::permissions::direct::find_recipients_by_id;
use crate::text;
use crate::topics::TOPIC_LENGTH_MAX;
use model::{Directory, DraftTo, SavedDraft, Timestamp, User};

/// So many drafts one account may have; as many are in a registration.
pub const DRAFTS_MAX: usize = 1000;

/// The last second of the year 9999.
const SECS_MAX: f64 = 253_402_300_799.0;

/// The three kinds of drafts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftKind {
    /// The recipients are not chosen yet.
    Unaddressed,
    /// To a channel.
    Channel,
    /// A direct message to users.
    Direct,
}

/// A draft as a client sends it.
#[derive(Clone, Debug, PartialEq)]
pub struct DraftRequest {
    /// What kind of message it will be.
    pub kind: DraftKind,
    /// One channel, or users; by id.
    pub to: Vec<i64>,
    /// Matters only for channels.
    pub topic: String,
    /// The Markdown source.
    pub content: String,
    /// When it was changed, in seconds; now if it is left out.
    pub secs: Option<f64>,
}

/// The draft to store.
///
/// # Errors
/// `ContentEmpty`, `ContentNul`, `TextError`, `InvalidChannelId`, `InvalidUserId`, `TooManyParticipants`.
pub fn parse_draft(
    dir: &Directory,
    author: &User,
    request: &DraftRequest,
    now: Timestamp,
) -> Result<SavedDraft, RuleError> {
    let content = parse_content(&request.content)?;
    let edited = request.secs.map(parse_time).transpose()?.unwrap_or(now);
    let to = match request.kind {
        DraftKind::Channel => parse_channel(dir, author, request)?,
        DraftKind::Direct if !request.to.is_empty() => {
            DraftTo::People(find_recipients_by_id(dir, author, &request.to)?)
        }
        DraftKind::Direct | DraftKind::Unaddressed => DraftTo::Nowhere,
    };
    Ok(SavedDraft { to, content, edited })
}

fn parse_channel(dir: &Directory, author: &User, request: &DraftRequest) -> Result<DraftTo, RuleError> {
    if request.topic.contains('\0') {
        return Err(TextError::TopicNul.into());
    }
    let [channel] = request.to[..] else { return Err(TextError::NotOneChannel.into()) };
    let channel = access_channel_content(dir, author, ChannelRef::Id(channel), Archived::Refused)?;
    let topic = text::cut(text::strip(&request.topic), TOPIC_LENGTH_MAX, "...");
    Ok(DraftTo::Channel { channel: channel.channel().id, topic })
}

fn parse_time(secs: f64) -> Result<Timestamp, RuleError> {
    if secs < 0.0 {
        return Err(TextError::TimestampNegative.into());
    }
    if secs > SECS_MAX {
        return Err(RuleError::TooLarge { field: "timestamp" });
    }
    Ok(Timestamp((secs * 1000.0) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, GUEST, MEMBER, OWNER};

    fn request(kind: DraftKind, to: &[i64]) -> DraftRequest {
        let (topic, content) = (" tea ".to_owned(), "hi\n".to_owned());
        DraftRequest { kind, to: to.to_vec(), topic, content, secs: None }
    }

    #[test]
    fn drafts_go_to_one_channel_or_to_people() {
        let mut dir = fixture::directory();
        dir.put_channel(fixture::channel(1, "Verona"));
        let author = dir.user(MEMBER).unwrap();
        let now = Timestamp(7_000);
        let parse = |request: &DraftRequest| parse_draft(&dir, author, request, now).map(|draft| draft.to);
        let (owner, guest) = (i64::from(OWNER.0), i64::from(GUEST.0));
        let mut people = vec![OWNER, MEMBER, GUEST];
        people.sort_unstable();
        assert_eq!(parse(&request(DraftKind::Direct, &[guest, owner])), Ok(DraftTo::People(people)));
        for kind in [DraftKind::Direct, DraftKind::Unaddressed] {
            assert_eq!(parse(&request(kind, &[])), Ok(DraftTo::Nowhere));
        }
        let channel = DraftTo::Channel { channel: model::ChannelId(1), topic: "tea".into() };
        assert_eq!(parse(&request(DraftKind::Channel, &[1])), Ok(channel));
        assert_eq!(parse(&request(DraftKind::Channel, &[9])), Err(RuleError::InvalidChannelId));
        for to in [&[][..], &[1, 2]] {
            assert_eq!(parse(&request(DraftKind::Channel, to)), Err(TextError::NotOneChannel.into()));
        }
        assert_eq!(
            parse(&request(DraftKind::Direct, &[99_999])),
            Err(RuleError::InvalidUserId { id: 99_999 })
        );
    }

    #[test]
    fn draft_times_are_those_of_the_client() {
        let dir = fixture::directory();
        let author = dir.user(MEMBER).unwrap();
        let time = |secs| {
            let request = DraftRequest { secs, ..request(DraftKind::Unaddressed, &[]) };
            parse_draft(&dir, author, &request, Timestamp(7_000)).map(|draft| draft.edited)
        };
        assert_eq!(time(None), Ok(Timestamp(7_000)));
        assert_eq!(time(Some(1.5)), Ok(Timestamp(1_500)));
        assert_eq!(time(Some(-0.1)), Err(TextError::TimestampNegative.into()));
        assert_eq!(time(Some(f64::MAX)), Err(RuleError::TooLarge { field: "timestamp" }));
    }
}
