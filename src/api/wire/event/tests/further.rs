//! Further events for the recorded bytes: typing while editing, groups of default channels, onboarding steps, consents,
//! integrations of bots.

use super::*;
use model::event::BotChange;
use model::export::{ExportStatus, RealmExport, RequestedExport};
use model::{BotConfig, BotIntegration, DefaultChannelGroup, Listed};

/// Each of these events, with a text that needs escapes and two people.
pub(super) fn events(text: &str, people: &[Arc<User>]) -> Vec<EventBody> {
    let group = DefaultChannelGroup {
        id: 2,
        name: text.to_owned(),
        description: "b".into(),
        channels: [3, 4].map(ChannelId).to_vec(),
    };
    let typing = |is_start, conversation| EventBody::EditTyping {
        sender: fixture::IAGO,
        is_start,
        message: MessageId(7),
        conversation,
    };
    vec![
        typing(true, TypingConversation::Direct(people.to_vec())),
        typing(false, TypingConversation::Channel { channel: fixture::VERONA, topic: String::new() }),
        EventBody::DefaultChannelGroups(Arc::new(Listed { items: vec![group], last_id: 2 })),
        EventBody::DefaultChannelGroups(Arc::default()),
        EventBody::OnboardingSteps(vec![("one_time_notice", "intro_resolve_topic")]),
        EventBody::OnboardingSteps(Vec::new()),
        EventBody::Exports(Arc::new(Listed { items: exports(text), last_id: 4 })),
        EventBody::ExportConsent { user: fixture::IAGO, consented: true },
    ]
}

/// An export in each state.
fn exports(url: &str) -> Vec<RealmExport> {
    let at = Timestamp(9_500);
    let statuses = [
        ExportStatus::Pending,
        ExportStatus::Succeeded { path: "1/ab/zulip-export-x.tar.gz".to_owned(), bytes: 7 },
        ExportStatus::Failed { at },
        ExportStatus::Deleted { at },
    ];
    let export = |(id, status)| RealmExport {
        id,
        kind: RequestedExport::WithConsent,
        requested: Timestamp(8_000),
        by: fixture::IAGO,
        url: url.to_owned(),
        status,
    };
    (1..).zip(statuses).map(export).collect()
}

/// A bot with its configuration and without an integration.
pub(super) fn bot_added(bot: Arc<User>, config: BotConfig, with_secrets: bool) -> EventBody {
    EventBody::BotAdded { bot, config: config.into(), integration: Arc::default(), with_secrets }
}

/// A bot with an integration, and changes of it.
pub(super) fn integrations(bot: &Arc<User>, text: &str) -> Vec<EventBody> {
    let data = [("key", text), ("a", "b")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    let both = BotIntegration { name: Some("github".to_owned()), data: data.into() };
    let only_data = BotIntegration { name: None, ..both.clone() };
    let changed = |integration: BotIntegration| EventBody::BotChanged {
        bot: bot.id,
        change: BotChange::Integration(integration.into()),
    };
    vec![
        EventBody::BotAdded {
            bot: bot.clone(),
            config: Arc::default(),
            integration: both.clone().into(),
            with_secrets: false,
        },
        changed(both),
        changed(only_data),
        changed(BotIntegration::default()),
    ]
}
