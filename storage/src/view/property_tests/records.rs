//! Facts that hardly affect the model: records of users, channels and the organization, push devices, jobs. Memory, trees
//! and log have to agree on them, too. Names in lists follow from ids, because no two entries may have the same name.

use super::plain::{Plain, TOPICS};
use crate::fixture::*;
use model::bot::{WebhookInterface, WebhookService};
use model::export::{ExportStatus, RealmExport, RequestedExport};
use model::job::{JobOutcome, MailTask, PushTask, Task, WebhookTask, WebhookTrigger};
use model::push::{PushDevice, PushFact, PushStatus, PushToken, PushTokenKind};
use model::redacted::Redacted;
use model::{
    ActionKind, AuditAction, AuditEntry, BotConfig, BotIntegration, ChannelFact, ChannelFolder, ChannelId,
    DefaultChannelGroup, DomainOp, DraftId, DraftTo, Fact, FieldKind, FolderId, GroupFact, Invitation,
    InvitationFact, InvitationId, InvitationState, JobFact, LinkifierRecord, Listed, MessageId, NamedStatus,
    NavigationView, PersonalFact, Playground, ProfileField, ProfileFieldId, ProfileFields, ProfileValue,
    PropertyChange, RealmDomain, RealmFact, Reminder, RequestOrigin, Role, SavedDraft, SavedSnippet,
    SavedSnippetId, ScheduledMessage, ScheduledMessageId, ScheduledTo, StatusEmoji, Subject, Subscription,
    SubscriptionFact, Timestamp, UserFact, UserId, UserRanges, UserStatus, UserTopic, VisibilityPolicy,
    WebSession, WebSessionFact, WebSessionKey,
};
use std::collections::BTreeSet;

/// The number of kinds of such facts.
pub(super) const KINDS: u8 = 52;

/// At most this many different folders, invitations and list entries are used.
const NAMED_MAX: u32 = 4;

impl Plain {
    /// The fact of a kind; the numbers choose its values.
    pub fn record(&mut self, kind: u8, number: u8, bits: u8) -> Option<Fact> {
        let is_set = bits & 1 == 0;
        match kind {
            0 => Some(self.set_active(number, is_set)),
            1 => self.change_subscription(number, bits),
            2..=6 => Some(self.organization(kind, number, bits)),
            7..=12 => Some(self.personal(kind, number, bits)),
            13..=15 => Some(list(kind, number, bits)),
            16..=19 => Some(Fact::Invitation(Box::new(self.invitation(kind - 16, number)))),
            20..=24 => Some(Fact::Push(Box::new(self.push(kind - 20, number, bits)))),
            25 | 26 => {
                Some(Fact::Job(JobFact::Added { due: self.at(bits), task: Box::new(self.task(number)) }))
            }
            27 => self.end_job(number, bits),
            28 => Some(Fact::User(UserFact::BotConfigured {
                bot: self.person(number),
                before: None,
                config: Box::new(self.bot_config(number, is_set)),
            })),
            29 => Some(Fact::User(UserFact::VisibilityChanged { events: u32::from(number) })),
            30 => Some(Fact::Invitation(Box::new(self.invitation(4, number)))),
            31 => {
                let settings = vec!["enter_sends".to_owned()];
                Some(Fact::User(UserFact::SettingsRestated { user: self.person(number), settings }))
            }
            32 => Some(Fact::Subscription(SubscriptionFact::Restated {
                user: self.person(number),
                channel: ChannelId(self.channel(bits)),
                property: "is_muted".to_owned(),
            })),
            33 => {
                let steps = vec![format!("step {}", number % 3)];
                Some(Fact::Personal(PersonalFact::OnboardingStepSeen { user: self.person(number), steps }))
            }
            34 => Some(Fact::Personal(self.bot_storage(number, bits))),
            35 => Some(Fact::Channel(ChannelFact::DefaultGroupsChanged(Box::new(Listed {
                items: vec![DefaultChannelGroup {
                    id: 1 + u32::from(number) % NAMED_MAX,
                    name: format!("group {bits}"),
                    description: String::new(),
                    channels: vec![ChannelId(self.channel(bits))],
                }],
                last_id: NAMED_MAX,
            })))),
            36..=40 => Some(self.text(kind, number, bits)),
            41..=44 => self.attachment(kind - 41, number, bits),
            45 => Some(Fact::Personal(self.web_session(number, bits))),
            46 => Some(Fact::User(UserFact::BotIntegrationSet {
                bot: self.person(number),
                is_new: is_set,
                integration: Box::new(BotIntegration {
                    name: is_set.then(|| "kettle".to_owned()),
                    data: [("key".to_owned(), "ü".repeat(usize::from(bits)))].into(),
                }),
            })),
            47 => Some(self.export(number, bits)),
            48 => Some(Fact::Audit(Box::new(self.entry(number, bits)))),
            49 => Some(Fact::User(UserFact::DataErased { user: self.person(number) })),
            50 => Some(self.reading(number, is_set)),
            _ => Some(Fact::PreImages(vec![Fact::Realm(RealmFact::Changed(Box::new(realm())))])),
        }
    }

    fn entry(&self, number: u8, bits: u8) -> AuditEntry {
        AuditEntry {
            by: (bits & 1 == 0).then(|| self.person(number)),
            origin: if bits & 2 == 0 { RequestOrigin::Api } else { RequestOrigin::CommandLine },
            address: (bits & 4 == 0).then(|| [127, 0, 0, number].into()),
            client: "kettle".repeat(usize::from(bits & 3)),
            actions: vec![AuditAction {
                kind: ActionKind::Changed,
                about: Subject::User(self.person(bits)),
                users: self.people(bits),
                count: u64::from(number),
                changes: vec![PropertyChange {
                    name: "role".to_owned(),
                    before: "ü".repeat(usize::from(number)),
                    after: String::new(),
                }],
            }],
        }
    }

    /// The exports that administrators requested.
    fn export(&self, number: u8, bits: u8) -> Fact {
        Fact::Realm(RealmFact::ExportsChanged(Box::new(Listed {
            items: vec![RealmExport {
                id: 1 + u32::from(number) % NAMED_MAX,
                kind: RequestedExport::WithConsent,
                requested: self.at(bits),
                by: self.person(number),
                url: "https://x.example".to_owned(),
                status: match bits % 3 {
                    0 => ExportStatus::Pending,
                    1 => ExportStatus::Succeeded { path: format!("1/{bits}/x"), bytes: bits.into() },
                    _ => ExportStatus::Failed { at: self.at(bits) },
                },
            }],
            last_id: NAMED_MAX,
        })))
    }

    fn person(&self, number: u8) -> UserId {
        UserId(self.user(number))
    }

    fn people(&self, bits: u8) -> Vec<UserId> {
        self.users_of(bits).into_iter().map(UserId).collect()
    }

    /// Deactivates or reactivates an account, perhaps repeatedly.
    fn set_active(&mut self, number: u8, is_active: bool) -> Fact {
        let (user, last) = (self.user(number), MessageId(self.newest));
        if is_active {
            self.inactive.remove(&user);
        } else {
            self.inactive.insert(user);
        }
        for (_, record) in self.subscriptions.iter_mut().filter(|((_, whose), _)| *whose == user) {
            if is_active {
                record.resume(last);
            } else {
                record.pause(last);
            }
        }
        Fact::User(UserFact::ActiveSet { user: UserId(user), is_active, last, events: 3 })
    }

    fn change_subscription(&mut self, number: u8, bits: u8) -> Option<Fact> {
        let nth = usize::from(number) % self.subscriptions.len().max(1);
        let ((channel, user), record) = self.subscriptions.iter_mut().nth(nth)?;
        record.is_muted = bits & 2 != 0;
        record.desktop_notifications = (bits & 4 != 0).then_some(bits & 8 != 0);
        record.wildcard_mentions_notify = (bits & 16 != 0).then_some(true);
        record.push_notifications = (bits & 32 != 0).then_some(true);
        let subscription = Box::new(Subscription::clone(record));
        Some(Fact::Subscription(SubscriptionFact::Changed {
            user: UserId(*user),
            channel: ChannelId(*channel),
            subscription,
        }))
    }

    fn organization(&self, kind: u8, number: u8, bits: u8) -> Fact {
        match kind {
            2 => {
                let mut record = realm();
                record.name = format!("Tea {number}");
                record.default_channels = vec![ChannelId(self.channel(bits))];
                Fact::Realm(RealmFact::Changed(Box::new(record)))
            }
            3 => {
                let mut record = channel(self.channel(number));
                (record.description, record.is_archived) = (format!("for {bits}"), bits & 1 != 0);
                record.folder = (bits & 2 != 0).then_some(FolderId(1));
                (record.invite_only, record.is_recently_active) = (bits & 4 != 0, bits & 8 != 0);
                Fact::Channel(ChannelFact::Changed(Box::new(record)))
            }
            4 => {
                // Subgroups have smaller ids, so that no group contains itself.
                let id = 1 + u32::from(number) % (self.groups + 1);
                let below: Vec<u32> = (1..id).filter(|below| bits & (1 << (below % 8)) != 0).collect();
                let mut record = group(id, &self.users_of(bits), &below);
                record.is_deactivated = bits & 64 != 0;
                Fact::Group(GroupFact::Changed(Box::new(record)))
            }
            5 => {
                let id = 1 + u32::from(number) % NAMED_MAX;
                Fact::Channel(ChannelFact::FolderChanged(Box::new(ChannelFolder {
                    id: FolderId(id),
                    name: format!("folder {id}"),
                    description: format!("for {bits}"),
                    rendered_description: format!("<p>for {bits}</p>"),
                    order: u32::from(bits),
                    created: Timestamp(5),
                    creator: UserId(1),
                    is_archived: bits & 1 != 0,
                })))
            }
            _ => {
                let mut ids: Vec<FolderId> = (1..=NAMED_MAX).map(FolderId).collect();
                ids.rotate_left(usize::from(number % 4));
                Fact::Channel(ChannelFact::FoldersReordered(ids))
            }
        }
    }

    fn personal(&self, kind: u8, number: u8, bits: u8) -> Fact {
        let (user, is_set) = (self.person(number), bits & 1 == 0);
        let text = format!("tea {bits}");
        match kind {
            7 => Fact::Personal(PersonalFact::AlertWordsSet {
                user,
                words: is_set.then_some(text).into_iter().collect(),
            }),
            8 => {
                let emoji =
                    StatusEmoji { name: "tea".into(), code: "1f375".into(), kind: "unicode_emoji".into() };
                let status = UserStatus { text, emoji: (bits & 2 == 0).then_some(emoji) };
                Fact::Personal(PersonalFact::StatusSet {
                    user,
                    status: is_set.then_some(status),
                    named: NamedStatus::default(),
                })
            }
            9 => Fact::Personal(PersonalFact::Muted {
                user,
                muted: self.person(bits),
                since: is_set.then_some(self.at(bits)),
            }),
            10 => {
                let view = NavigationView { is_pinned: bits & 2 == 0, name: Some(text) };
                let fragment = format!("narrow/{}", number % 3);
                Fact::Personal(PersonalFact::NavigationViewSet {
                    user,
                    fragment,
                    before: None,
                    view: is_set.then_some(view),
                })
            }
            11 => {
                let id = ProfileFieldId(1 + u32::from(number) % NAMED_MAX);
                let value = ProfileValue { text, html: (bits & 2 == 0).then(|| "<p>tea</p>".into()) };
                Fact::User(UserFact::ProfileValuesSet { user, values: vec![(id, is_set.then_some(value))] })
            }
            _ if bits >= 192 => {
                let policy = [VisibilityPolicy::Muted, VisibilityPolicy::Unmuted][usize::from(bits) % 2];
                let name = TOPICS[usize::from(number) % TOPICS.len()].into();
                let topic = UserTopic { name, policy, updated: Timestamp(u64::from(bits)) };
                let topics = vec![(ChannelId(self.channel(number)), topic)];
                Fact::Subscription(SubscriptionFact::TopicPoliciesImported { user, topics })
            }
            _ => Fact::Subscription(SubscriptionFact::TopicPolicySet {
                channel: ChannelId(self.channel(number)),
                topic: TOPICS[usize::from(number) % TOPICS.len()].into(),
                policy: [VisibilityPolicy::Inherit, VisibilityPolicy::Muted, VisibilityPolicy::Followed]
                    [usize::from(bits) % 3],
                users: self.people(bits),
            }),
        }
    }

    /// Entries that are set, replaced or removed, perhaps without ever having been set.
    fn bot_storage(&self, number: u8, bits: u8) -> PersonalFact {
        let key = |offset: u32| format!("key {}", (u32::from(number) + offset) % 3);
        let set = if bits & 1 == 0 { vec![(key(0), "ü".repeat(usize::from(bits % 8)))] } else { Vec::new() };
        let removed = if bits & 2 == 0 { vec![key(1)] } else { Vec::new() };
        PersonalFact::BotStorageChanged { user: self.person(number), set, removed }
    }

    /// A text that a user keeps.
    fn text(&self, kind: u8, number: u8, bits: u8) -> Fact {
        let (user, is_set) = (self.person(number), bits & 1 == 0);
        let (title, content, created) = ("Tea".to_owned(), format!("tea {bits}"), self.at(bits));
        let id = 1 + u32::from(number) % NAMED_MAX;
        let topic = || DraftTo::Channel { channel: ChannelId(self.channel(number)), topic: title.clone() };
        let to = if bits & 2 == 0 { topic() } else { DraftTo::People(self.people(number)) };
        let draft = SavedDraft { to, content: content.clone(), edited: created };
        Fact::Personal(match kind {
            36 => PersonalFact::SavedSnippetSet {
                user,
                id: SavedSnippetId(id),
                is_new: is_set && bits & 2 == 0,
                snippet: is_set.then_some(SavedSnippet { title, content, created }),
            },
            37 => {
                let drafts = vec![(DraftId(id), draft.clone()), (DraftId(id + 1), draft)];
                PersonalFact::DraftsAdded { user, drafts }
            }
            38 => PersonalFact::DraftSet { user, id: DraftId(id), draft: is_set.then_some(draft) },
            39 => {
                let message = ScheduledMessage {
                    to: ScheduledTo::People(self.people(number)),
                    rendered: format!("<p>{content}</p>"),
                    content,
                    due: created,
                    client: "tea".into(),
                    read_by_sender: bits & 4 == 0,
                    url: "http://x".into(),
                    failure: (bits & 8 == 0).then_some(title.clone()),
                    reminder: (bits & 16 == 0).then_some(Reminder { message: MessageId(1), note: title }),
                };
                PersonalFact::ScheduledMessageSet {
                    user,
                    id: ScheduledMessageId(id),
                    is_new: is_set && bits & 2 == 0,
                    is_reminder: bits & 16 == 0,
                    message: is_set.then_some(Box::new(message)),
                }
            }
            _ => PersonalFact::DraftsForgotten { user },
        })
    }

    /// A web session that is started, used, or ended, perhaps without ever having been started.
    fn web_session(&self, number: u8, bits: u8) -> PersonalFact {
        let user = self.person(number);
        // No two users have a session with the same key.
        let key = |offset: u8| WebSessionKey([(bits / 4 + offset) % 3 + 3 * (user.0 as u8); 32]);
        let fact = match bits % 4 {
            0 | 1 => {
                let (created, used) = (self.at(number), self.at(bits));
                let session = WebSession { created, used, device: "tea".into() };
                WebSessionFact::Started { key: key(0), session }
            }
            2 => WebSessionFact::Used { key: key(0), at: self.at(bits) },
            _ => WebSessionFact::Ended(vec![key(0), key(1)]),
        };
        PersonalFact::WebSession { user, fact }
    }

    fn invitation(&mut self, kind: u8, number: u8) -> InvitationFact {
        let invitation = InvitationId(1 + u32::from(number) % (self.invitations + 1));
        let is_link = number & 1 == 0;
        match kind {
            0 => {
                let others = if is_link { 0 } else { u32::from(number) % 3 };
                let id = self.invitations + 1;
                self.invitations += 1 + others;
                let first = Invitation {
                    id: InvitationId(id),
                    address: (!is_link).then(|| format!("person{id}@milk.example")),
                    inviter: self.person(number),
                    role: Role::Member,
                    channels: vec![ChannelId(self.channel(number))],
                    groups: Vec::new(),
                    includes_default_channels: true,
                    notifies_inviter: false,
                    welcome_text: None,
                    sent: Timestamp(5),
                    expires: None,
                    state: InvitationState::Pending,
                    has_expired: false,
                };
                let others = (1..=others).map(|next| format!("person{}@milk.example", id + next)).collect();
                InvitationFact::Created { first, others }
            }
            1 => InvitationFact::Accepted { invitation, user: self.person(number) },
            2 => InvitationFact::Revoked(vec![invitation, InvitationId(1)]),
            3 => InvitationFact::Expired(vec![invitation]),
            _ => InvitationFact::Resent { invitation, expires: is_link.then(|| self.at(number)) },
        }
    }

    fn push(&self, kind: u8, number: u8, bits: u8) -> PushFact {
        let (user, is_set) = (self.person(number), bits & 1 == 0);
        let message = MessageId(1 + u32::from(number) % 8);
        let kind_of_phone = if bits & 2 == 0 { PushTokenKind::Apns } else { PushTokenKind::Fcm };
        match kind {
            0 => {
                let token = PushToken {
                    kind: kind_of_phone,
                    token: Redacted(format!("token {bits}")),
                    app: None,
                    added: self.at(bits),
                };
                PushFact::TokensSet { user, tokens: is_set.then_some(token).into_iter().collect() }
            }
            1 => {
                let states = [PushStatus::Pending, PushStatus::Active(7), PushStatus::Failed("NO".into())];
                let device = PushDevice {
                    account: i64::from(bits),
                    kind: kind_of_phone,
                    key: Redacted([bits; 32]),
                    bouncer_public_key: "key".into(),
                    registration: Redacted("sealed".into()),
                    added: self.at(bits),
                    status: states[usize::from(bits) % states.len()].clone(),
                };
                let devices = is_set.then_some(device).into_iter().collect();
                PushFact::DevicesSet { user, devices, changed: vec![i64::from(bits)] }
            }
            2 => PushFact::Shown { message, users: self.people(bits) },
            3 => PushFact::Unshown { user, messages: vec![message, MessageId(1)] },
            _ if bits & 4 == 0 => PushFact::NotificationCursorMoved(MessageId(self.newest)),
            _ if bits & 8 == 0 => PushFact::MissedNotedByMany {
                message,
                users: UserRanges::from_sorted(self.people(bits).into_iter().collect::<BTreeSet<_>>()),
                due: self.at(bits),
            },
            _ if is_set => PushFact::MissedNoted { message, users: self.people(bits), due: self.at(bits) },
            _ => PushFact::MissedDecided { users: self.people(bits) },
        }
    }

    fn task(&self, number: u8) -> Task {
        let (user, message) = (self.person(number), MessageId(self.newest));
        match number % 3 {
            0 => Task::Mail(MailTask::AddressChanged { user, old: format!("old{number}@tea.example") }),
            1 => Task::Webhook(WebhookTask { bot: user, message, trigger: WebhookTrigger::Mention }),
            _ => Task::Push(PushTask::Show { message, users: vec![user] }),
        }
    }

    /// A job ends, possibly one that does not exist or has ended.
    fn end_job(&self, number: u8, bits: u8) -> Option<Fact> {
        let job = *self.jobs.get(usize::from(number) % self.jobs.len().max(1))?;
        let why = format!("because of {bits}");
        let outcome = match bits % 3 {
            0 => JobOutcome::Delivered,
            1 => JobOutcome::Dropped { why },
            _ => JobOutcome::GaveUp { why },
        };
        Some(Fact::Job(JobFact::Ended { job, outcome }))
    }

    fn bot_config(&self, number: u8, has_service: bool) -> BotConfig {
        let service = WebhookService {
            name: "kettle".into(),
            base_url: format!("https://tea.example/{number}"),
            interface: WebhookInterface::Generic,
        };
        BotConfig {
            sending_channel: Some(ChannelId(self.channel(number))),
            register_channel: None,
            all_public_channels: number & 1 == 0,
            service: has_service.then_some(service),
        }
    }
}

/// What administrators list.
fn list(kind: u8, number: u8, bits: u8) -> Fact {
    let id = 1 + u32::from(number) % NAMED_MAX;
    match kind {
        13 => {
            let op = [DomainOp::Added, DomainOp::Changed, DomainOp::Removed][usize::from(bits) % 3];
            let name = format!("domain{id}.example");
            Fact::Realm(RealmFact::DomainSet {
                domain: RealmDomain { id, name, allows_subdomains: bits & 4 != 0 },
                op,
            })
        }
        14 if bits & 1 == 0 => Fact::Realm(RealmFact::LinkifiersChanged(Box::new(Listed {
            items: vec![LinkifierRecord {
                id,
                pattern: format!("#T{bits}"),
                url_template: "https://tea.example".into(),
            }],
            last_id: id,
        }))),
        14 => Fact::Realm(RealmFact::PlaygroundsChanged(Box::new(Listed {
            items: vec![Playground {
                id,
                name: format!("play {bits}"),
                language: "Tea".into(),
                url_template: "https://tea.example/{code}".into(),
            }],
            last_id: id,
        }))),
        _ => Fact::Realm(RealmFact::ProfileFieldsChanged(Box::new(ProfileFields {
            list: vec![ProfileField {
                id: ProfileFieldId(id),
                name: format!("Tea {bits}"),
                hint: String::new(),
                kind: FieldKind::ShortText,
                data: String::new(),
                order: 1,
                is_in_summary: false,
                is_required: bits & 1 == 0,
                is_editable_by_user: true,
            }],
            last: ProfileFieldId(id),
        }))),
    }
}
