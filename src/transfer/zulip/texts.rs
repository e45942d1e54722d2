//! Texts that users keep: saved snippets, drafts, scheduled messages and reminders.

use super::organization::Builder;
use super::recipients::{Recipients, Target};
use crate::transfer::rows::Row;
use model::{
    DraftId, DraftTo, Fact, MessageId, PersonalFact, Reminder, SavedDraft, SavedSnippet, SavedSnippetId,
    ScheduledMessage, ScheduledMessageId, ScheduledTo, Timestamp, UserId,
};
use std::collections::HashMap;

const NO_USER: &str = "of a user that is not in the export";
const NO_PLACE: &str = "to a conversation that is not in the export";
const SNIPPETS: &str = "zerver_savedsnippet";
const DRAFTS: &str = "zerver_draft";
const SCHEDULED: &str = "zerver_scheduledmessage";
/// Scheduled messages that are reminders.
const REMINDER: i64 = 2;

impl Builder<'_> {
    /// All texts, by id.
    pub fn texts(&mut self, recipients: &Recipients, clients: &HashMap<u32, String>) {
        self.each_by_id(SNIPPETS, |own, row, id| {
            let user = own.user(row.id("user_profile")).ok_or(NO_USER)?;
            let snippet = Some(SavedSnippet {
                title: row.text("title").to_owned(),
                content: row.text("content").to_owned(),
                created: row.time("date_created").unwrap_or(own.now),
            });
            let id = SavedSnippetId(id);
            Ok(PersonalFact::SavedSnippetSet { user, id, is_new: true, snippet })
        });
        self.each_by_id(DRAFTS, |own, row, id| {
            let user = own.user(row.id("user_profile")).ok_or(NO_USER)?;
            let draft = SavedDraft {
                to: own.draft_to(row, user, recipients),
                content: row.text("content").to_owned(),
                edited: row.time("last_edit_time").unwrap_or(own.now),
            };
            Ok(PersonalFact::DraftsAdded { user, drafts: vec![(DraftId(id), draft)] })
        });
        self.each_by_id(SCHEDULED, |own, row, id| {
            let user = own.user(row.id("sender")).ok_or(NO_USER)?;
            let message = own.scheduled(row, user, recipients, clients)?;
            let (is_reminder, id) = (message.reminder.is_some(), ScheduledMessageId(id));
            let message = Some(Box::new(message));
            Ok(PersonalFact::ScheduledMessageSet { user, id, is_new: true, is_reminder, message })
        });
    }

    fn each_by_id(
        &mut self,
        table: &str,
        mut fact: impl FnMut(&mut Self, &Row, u32) -> Result<PersonalFact, &'static str>,
    ) {
        for row in self.rows_by_id(table) {
            match row.id("id").ok_or("without an id").and_then(|id| fact(self, row, id)) {
                Ok(fact) => {
                    self.facts.push(Fact::Personal(fact));
                    self.report.carry(table, 1);
                }
                Err(why) => self.report.leave_out(table, why, 1),
            }
        }
    }

    fn draft_to(&self, row: &Row, user: UserId, recipients: &Recipients) -> DraftTo {
        // Written by this server: people of drafts need not have a conversation yet.
        let mut people: Vec<UserId> = row.ids("to").map(UserId).collect();
        if !people.is_empty() && people.iter().all(|user| self.directory.user(*user).is_some()) {
            people.sort_unstable();
            return DraftTo::People(people);
        }
        match row.id("recipient").and_then(|recipient| recipients.target(recipient)) {
            Some(Target::Channel(channel, _)) => {
                DraftTo::Channel { channel: *channel, topic: row.text("topic").to_owned() }
            }
            Some(Target::Person(other)) => DraftTo::People(people_of(user, &[*other])),
            Some(Target::People(all)) => DraftTo::People(people_of(user, all)),
            None => DraftTo::Nowhere,
        }
    }

    fn scheduled(
        &self,
        row: &Row,
        user: UserId,
        recipients: &Recipients,
        clients: &HashMap<u32, String>,
    ) -> Result<ScheduledMessage, &'static str> {
        if row.is("delivered") {
            return Err("delivered already; the message is among the messages");
        }
        let reminder = match (row.int("delivery_type"), row.id("reminder_target_message_id")) {
            (Some(REMINDER), Some(message)) => {
                Some(Reminder { message: MessageId(message), note: row.text("reminder_note").to_owned() })
            }
            (Some(REMINDER), None) => return Err("a reminder without a message"),
            _ => None,
        };
        let to = match row.id("recipient").and_then(|recipient| recipients.target(recipient)) {
            Some(Target::Channel(channel, _)) => {
                ScheduledTo::Channel { channel: *channel, topic: row.text("subject").to_owned() }
            }
            Some(Target::Person(other)) => ScheduledTo::People(people_of(user, &[*other])),
            Some(Target::People(all)) => ScheduledTo::People(people_of(user, all)),
            None => return Err(NO_PLACE),
        };
        let failure = row.is("failed").then(|| row.text("failure_message").to_owned());
        Ok(ScheduledMessage {
            to,
            content: row.text("content").to_owned(),
            rendered: self.render_message(row.text("content"), user),
            due: row.time("scheduled_timestamp").unwrap_or(Timestamp(0)),
            client: row.id("sending_client").and_then(|id| clients.get(&id).cloned()).unwrap_or_default(),
            read_by_sender: row.is("read_by_sender"),
            url: String::new(),
            failure,
            reminder,
        })
    }
}

/// These people with the user, sorted.
fn people_of(user: UserId, others: &[UserId]) -> Vec<UserId> {
    let mut all = others.to_vec();
    all.push(user);
    all.sort_unstable();
    all.dedup();
    all
}
