//! Resolves terms to a plan: names and ids are looked up in the directory, as the requester sees it.

use crate::error::RuleError;
use crate::narrow::plan::{Content, MessageSet, Plan, PlanTerm, Scope};
use crate::narrow::term::{Operand, Operator, Term};
use crate::permissions::channel::{History, history_of, sees_channel};
use crate::permissions::spectators::{has_public_access, is_shown_to_spectators};
use crate::permissions::users::find_user_by_email;
use crate::topics;
use crate::visibility::SkippedMuting;
use model::{Channel, ChannelId, Directory, Flag, MessageId, RecipientId, TopicKey, User, UserId};
use std::sync::Arc;

/// Maximum length of the text of a search, in characters.
pub const SEARCH_CHARS_MAX: usize = 1000;

/// The conversation of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conversation {
    Topic(ChannelId, TopicKey),
    Direct(RecipientId),
}

/// A narrow whose `with` has been replaced by the conversation of its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedNarrow {
    terms: Vec<Term>,
    conversation: Option<Conversation>,
}

/// The first step towards a plan: checks whether the requester (none: without an account) may use the narrow, and
/// resolves `with`. `locate` finds the conversation of a message that the requester may read; it is called only for
/// `with`. `LoginRequired`, and `BadNarrow` about `with`.
pub fn locate_narrow(
    dir: &Directory,
    requester: Option<&User>,
    terms: &[Term],
    locate: impl FnOnce(MessageId) -> Option<Conversation>,
) -> Result<LocatedNarrow, RuleError> {
    if requester.is_none() {
        check_anonymous(dir, terms)?;
    }
    let (terms, conversation) = resolve_with(terms, locate)?;
    Ok(LocatedNarrow { terms, conversation })
}

impl LocatedNarrow {
    /// The plan for the same requester: `BadNarrow`, `BadNarrowCombination`, `SearchTooLong`.
    pub fn plan(self, dir: &Directory, requester: Option<&User>) -> Result<Plan, RuleError> {
        let Self { terms, conversation } = self;
        let resolver = Resolver { dir, requester };
        let mut plan_terms: Vec<PlanTerm> = conversation.into_iter().map(conversation_term).collect();
        let mut kinds = Kinds::of(&plan_terms);
        for term in &terms {
            kinds.add(term)?;
            plan_terms.extend(resolver.resolve(term)?);
        }
        let scope = resolver.scope(&terms, &plan_terms);
        let skipped_muting = skipped_muting(&plan_terms);
        let text = search_text(&terms);
        if text.as_ref().is_some_and(|text| text.chars().count() > SEARCH_CHARS_MAX) {
            return Err(RuleError::SearchTooLong { limit: SEARCH_CHARS_MAX });
        }
        let mut plan = Plan { scope, terms: plan_terms, skipped_muting, is_search: text.is_some() };
        plan.bind_topics();
        Ok(plan)
    }
}

/// The words that messages must have: the operands of all `search` terms. Negation has no effect on them. None without
/// such a term.
pub fn search_text(terms: &[Term]) -> Option<String> {
    let texts =
        terms.iter().filter(|term| term.operator == Operator::Search).map(|term| term.operand.shown());
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}

/// The muted messages that the anchor `first_unread` skips.
fn skipped_muting(terms: &[PlanTerm]) -> SkippedMuting {
    let has = |set: fn(&MessageSet) -> bool| terms.iter().any(|term| !term.negated && set(&term.set));
    let is_direct = |set: &MessageSet| {
        use MessageSet::{AllDirects, Direct, DirectsWith, GroupDirectsWith};
        matches!(set, Direct(_) | AllDirects | DirectsWith(_) | GroupDirectsWith(_))
    };
    if has(is_direct) {
        SkippedMuting::Nothing
    } else if has(|set| matches!(set, MessageSet::Channel(_) | MessageSet::Topic(..))) {
        SkippedMuting::Topics
    } else {
        SkippedMuting::TopicsAndChannels
    }
}

/// Without an account: only narrows to web-public channels with operators that reveal nothing about users.
fn check_anonymous(dir: &Directory, terms: &[Term]) -> Result<(), RuleError> {
    let is_open = has_public_access(dir);
    let is_web_public = |term: &Term| {
        term.operator == Operator::Channels
            && !term.negated
            && term.operand == Operand::Text("web-public".into())
    };
    let is_harmless = |term: &Term| {
        use Operator::{Channel, Channels, Has, Id, Near, Search, Sender, Topic, With};
        matches!(term.operator, Channel | Channels | Topic | Sender | Has | Search | Near | Id | With)
    };
    if is_open && terms.iter().any(is_web_public) && terms.iter().all(is_harmless) {
        return Ok(());
    }
    Err(RuleError::LoginRequired)
}

/// Replaces `with` by the conversation of its message. Returns the other terms and that conversation.
fn resolve_with(
    terms: &[Term],
    locate: impl FnOnce(MessageId) -> Option<Conversation>,
) -> Result<(Vec<Term>, Option<Conversation>), RuleError> {
    let (with, mut others): (Vec<Term>, Vec<Term>) =
        terms.iter().cloned().partition(|term| term.operator == Operator::With);
    let with = match with.as_slice() {
        [] => return Ok((others, None)),
        [with] => with,
        _ => return Err(bad("Duplicate 'with' operators.")),
    };
    let number = with.operand.number().ok_or_else(|| bad("Invalid 'with' operator"))?;
    let conversation = u32::try_from(number).ok().and_then(|id| locate(MessageId(id)));
    if conversation.is_some() {
        let names_place =
            |term: &Term| matches!(term.operator, Operator::Channel | Operator::Topic | Operator::Direct);
        others.retain(|term| !names_place(term));
        return Ok((others, conversation));
    }
    let names = |operator: &Operator| others.iter().any(|term| !term.negated && term.operator == *operator);
    let is_conversation = names(&Operator::Direct) || names(&Operator::Channel) && names(&Operator::Topic);
    if is_conversation { Ok((others, None)) } else { Err(bad("Invalid 'with' operator")) }
}

fn conversation_term(conversation: Conversation) -> PlanTerm {
    let set = match conversation {
        Conversation::Topic(channel, topic) => MessageSet::Topic(channel, topic),
        Conversation::Direct(recipient) => MessageSet::Direct(recipient),
    };
    PlanTerm { set, negated: false }
}

/// The kinds of messages that the terms so far are about; a narrow cannot be about both, even negated.
#[derive(Default)]
struct Kinds {
    channel: bool,
    direct: bool,
}

impl Kinds {
    fn of(terms: &[PlanTerm]) -> Self {
        let mut kinds = Self::default();
        for term in terms {
            kinds.channel |= matches!(term.set, MessageSet::Topic(..));
            kinds.direct |= matches!(term.set, MessageSet::Direct(_));
        }
        kinds
    }

    fn add(&mut self, term: &Term) -> Result<(), RuleError> {
        match term.operator {
            Operator::Channel | Operator::Channels | Operator::Topic => self.channel = true,
            Operator::Direct | Operator::DirectIncluding | Operator::GroupDirectWith => self.direct = true,
            Operator::Is if matches!(term.operand.shown().as_str(), "dm" | "private") => self.direct = true,
            _ => {}
        }
        if self.channel && self.direct {
            let desc = "No message can be both a channel message and direct message";
            return Err(RuleError::BadNarrowCombination { desc });
        }
        Ok(())
    }
}

struct Resolver<'d> {
    dir: &'d Directory,
    requester: Option<&'d User>,
}

impl Resolver<'_> {
    /// The condition that a term adds; none for hints.
    fn resolve(&self, term: &Term) -> Result<Option<PlanTerm>, RuleError> {
        let operand = &term.operand;
        let shown = operand.shown();
        let set = match &term.operator {
            Operator::Near | Operator::With | Operator::Search => return Ok(None),
            Operator::In => return in_term(&shown),
            Operator::Other(word) => return Err(bad(format!("unknown operator {word}"))),
            Operator::Channel => MessageSet::Channel(self.channel(operand)?.id),
            Operator::Channels => self.channels(&shown)?,
            Operator::Topic => MessageSet::TopicAnywhere(TopicKey::new(topics::normalize_topic(&shown))),
            Operator::Direct => self.direct(operand)?,
            Operator::DirectIncluding => match self.user(operand)? {
                user if self.is_requester(user) => MessageSet::AllDirects,
                user => MessageSet::DirectsWith(user),
            },
            Operator::GroupDirectWith => MessageSet::GroupDirectsWith(self.user(operand)?),
            Operator::Sender => MessageSet::Sender(self.user(operand)?),
            Operator::Is => is_set(&shown)?,
            Operator::Has => has_set(&shown)?,
            Operator::Id => id_set(operand)?,
        };
        Ok(Some(PlanTerm { set, negated: term.negated }))
    }

    fn channel(&self, operand: &Operand) -> Result<&Arc<Channel>, RuleError> {
        let found = match operand {
            Operand::Id(id) => u32::try_from(*id).ok().and_then(|id| self.dir.channel(ChannelId(id))),
            operand => self.dir.channel_by_name(crate::text::strip(&operand.shown())),
        };
        let found = found.filter(|channel| self.knows(channel));
        found.ok_or_else(|| bad(format!("unknown channel {}", operand.shown())))
    }

    /// Whether the requester may know of a channel; former subscribers know of it already.
    fn knows(&self, channel: &Channel) -> bool {
        let Some(requester) = self.requester else { return is_shown_to_spectators(self.dir, channel) };
        sees_channel(self.dir, requester, channel)
            || self.dir.subscription(channel.id, requester.id).is_some()
    }

    fn channels(&self, word: &str) -> Result<MessageSet, RuleError> {
        let belongs: fn(&Channel) -> bool = match word {
            "public" => |channel| !channel.invite_only,
            "web-public" => |channel| channel.is_web_public,
            "archived" => |channel| channel.is_archived,
            _ => return Err(bad(format!("unknown channels operand {word}"))),
        };
        let channels = self.dir.channels().filter(|channel| belongs(channel));
        Ok(MessageSet::Channels(channels.map(|channel| channel.id).collect()))
    }

    /// The conversation of exactly these users and the requester; the empty set if it does not exist.
    fn direct(&self, operand: &Operand) -> Result<MessageSet, RuleError> {
        let unknown = || bad(format!("unknown user in {}", operand.shown()));
        let mut users: Vec<UserId> = match operand {
            Operand::Ids(ids) => ids.iter().map(|id| self.user_by_id(*id)).collect::<Option<_>>(),
            operand => {
                let text = operand.shown();
                let emails = text.split(',').map(crate::text::strip).filter(|email| !email.is_empty());
                emails.map(|email| self.user_by_email(email)).collect()
            }
        }
        .ok_or_else(unknown)?;
        users.extend(self.requester.map(|requester| requester.id));
        users.sort_unstable();
        users.dedup();
        Ok(match self.dir.direct_by_users(&users) {
            Some(direct) => MessageSet::Direct(direct.recipient),
            None => MessageSet::Nothing,
        })
    }

    fn user(&self, operand: &Operand) -> Result<UserId, RuleError> {
        let found = match operand {
            Operand::Id(id) => self.user_by_id(*id),
            operand => self.user_by_email(crate::text::strip(&operand.shown())),
        };
        found.ok_or_else(|| bad(format!("unknown user {}", operand.shown())))
    }

    fn user_by_id(&self, id: i64) -> Option<UserId> {
        self.dir.user(UserId(u32::try_from(id).ok()?)).map(|user| user.id)
    }

    fn user_by_email(&self, email: &str) -> Option<UserId> {
        let found = find_user_by_email(self.dir, self.requester, email)?;
        // Spectators cannot find out whose address it is.
        let is_made_up = !found.delivery_email.eq_ignore_ascii_case(email);
        (self.requester.is_some() || found.is_bot() || is_made_up).then_some(found.id)
    }

    fn is_requester(&self, user: UserId) -> bool {
        self.requester.is_some_and(|requester| requester.id == user)
    }

    /// The searched set (docs/api/narrow.md#searched-messages): whole channels if the requester may read their history
    /// and the narrow is limited to them and needs no delivered messages; otherwise the requester's own history.
    fn scope(&self, terms: &[Term], plan_terms: &[PlanTerm]) -> Scope {
        let Some(requester) = self.requester else {
            let open = self.dir.channels().filter(|channel| is_shown_to_spectators(self.dir, channel));
            return Scope::Channels(open.map(|channel| channel.id).collect());
        };
        let needs_delivery = terms.iter().any(|term| {
            term.operator == Operator::Is && !matches!(term.operand.shown().as_str(), "resolved" | "followed")
        });
        if needs_delivery {
            return Scope::OwnHistory;
        }
        let mut channels =
            plan_terms.iter().filter(|term| !term.negated).filter_map(|term| match &term.set {
                MessageSet::Channel(channel) | MessageSet::Topic(channel, _) => self.dir.channel(*channel),
                _ => None,
            });
        let is_whole =
            |channel: &&Arc<Channel>| history_of(self.dir, requester, channel) == Some(History::Whole);
        if let Some(channel) = channels.find(is_whole) {
            return Scope::Channels(vec![channel.id]);
        }
        let asks_public = terms.iter().any(|term| {
            term.operator == Operator::Channels && !term.negated && term.operand.shown() == "public"
        });
        if asks_public && !requester.is_guest() {
            let public = self.dir.channels().filter(|channel| !channel.invite_only);
            return Scope::Channels(public.map(|channel| channel.id).collect());
        }
        Scope::OwnHistory
    }
}

/// `in:home` is everything not muted; negation is ignored.
fn in_term(word: &str) -> Result<Option<PlanTerm>, RuleError> {
    match word {
        "home" => Ok(Some(PlanTerm { set: MessageSet::Muted, negated: true })),
        "all" => Ok(None),
        _ => Err(bad(format!("unknown 'in' operand {word}"))),
    }
}

fn is_set(word: &str) -> Result<MessageSet, RuleError> {
    Ok(match word {
        "dm" | "private" => MessageSet::AllDirects,
        "alerted" => MessageSet::Flagged(Flag::HasAlertWord),
        "mentioned" => MessageSet::Mentioned,
        "starred" => MessageSet::Flagged(Flag::Starred),
        "followed" => MessageSet::Followed,
        "resolved" => MessageSet::Resolved,
        "unread" => MessageSet::Unread,
        "muted" => MessageSet::Muted,
        _ => return Err(bad(format!("unknown 'is' operand {word}"))),
    })
}

fn has_set(word: &str) -> Result<MessageSet, RuleError> {
    Ok(MessageSet::Has(match word {
        "link" => Content::Link,
        "image" => Content::Image,
        "attachment" => Content::Attachment,
        "reaction" => Content::Reaction,
        _ => return Err(bad(format!("unknown 'has' operand {word}"))),
    }))
}

fn id_set(operand: &Operand) -> Result<MessageSet, RuleError> {
    let number = operand.number().filter(|number| *number >= 0).ok_or_else(|| bad("Invalid message ID"))?;
    Ok(match u32::try_from(number) {
        Ok(id) => MessageSet::Ids(vec![MessageId(id)]),
        Err(_) => MessageSet::Nothing,
    })
}

fn bad(desc: impl Into<String>) -> RuleError {
    RuleError::BadNarrow { desc: desc.into() }
}

#[cfg(test)]
mod tests;
