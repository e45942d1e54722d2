//! Further events for the recorded bytes: typing while editing, groups of default channels, onboarding steps, consents.

use super::*;
use model::{DefaultChannelGroup, Listed};

/// Each of these events, with a text that needs escapes and two people.
pub(super) fn events(text: &str, people: &[Arc<User>]) -> Vec<EventBody> {
    let group = DefaultChannelGroup {
        id: 2,
        name: text.to_owned(),
        description: "b".into(),
        channels: [3, 4].map(ChannelId).to_vec(),
    };
    let typing = |is_start, place| EventBody::EditTyping {
        sender: fixture::IAGO,
        is_start,
        message: MessageId(7),
        place,
    };
    vec![
        typing(true, TypingPlace::Direct(people.to_vec())),
        typing(false, TypingPlace::Channel { channel: fixture::VERONA, topic: String::new() }),
        EventBody::DefaultChannelGroups(Arc::new(Listed { items: vec![group], last_id: 2 })),
        EventBody::DefaultChannelGroups(Arc::default()),
        EventBody::OnboardingSteps(vec![("one_time_notice", "intro_resolve_topic")]),
        EventBody::OnboardingSteps(Vec::new()),
        EventBody::ExportConsent { user: fixture::IAGO, consented: true },
    ]
}
