//! The conversion from beginning to end: day by day through all folders.

use super::archive::SlackArchive;
use super::conversations::{SlackConversations, SlackDestination};
use super::downloads::Downloads;
use super::messages::{self, SlackFile, SlackMessage, Threads, seconds};
use super::people::People;
use crate::transfer::export::{Spool, TableWriter};
use crate::transfer::problem::TransferError;
use crate::transfer::report::Report;
use crate::transfer::unpack;
use rules::uploads::path_name;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Messages in a file.
const FILE_MESSAGES: usize = 1_000;
/// Read, and mentioned.
const MENTIONED_MASK: u32 = 1 | 1 << 3;
/// Channels that new people are subscribed to.
const DEFAULTS: [&str; 2] = ["general", "random"];
/// What the conversion carried over and left out.
const REPORT: &str = "slack-report.json";

/// How a workspace is converted.
#[derive(Clone, Debug, Default)]
pub struct SlackRequest {
    pub name: Option<String>,
    /// Domain of the addresses of accounts without one.
    pub email_domain: Option<String>,
    /// Download the files of messages.
    pub fetches_files: bool,
}

/// Converts an export into the folder `to`, unless that was done before; returns what became of it. `progress` gets the converted and all
/// days.
///
/// # Errors
/// What is wrong with the archive; nothing of the folder is left then.
pub fn prepare(
    archive: &Path,
    to: &Path,
    request: &SlackRequest,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Report, TransferError> {
    let mark = unpack::identity(archive)?;
    if unpack::is_complete(to, &mark)
        && let Ok(text) = fs::read(to.join(REPORT))
        && let Ok(report) = serde_json::from_slice(&text)
    {
        return Ok(report);
    }
    unpack::begin(to)?;
    let converted = convert(archive, to, request, progress).and_then(|report| {
        let text = serde_json::to_vec(&report).unwrap_or_default();
        fs::write(to.join(REPORT), text).map_err(|reason| TransferError::system(to, reason))?;
        unpack::complete(to, &mark)?;
        Ok(report)
    });
    if converted.is_err() {
        unpack::remove(to)?;
    }
    converted
}

fn convert(
    archive: &Path,
    to: &Path,
    request: &SlackRequest,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Report, TransferError> {
    let mut archive = SlackArchive::open(archive)?;
    let mut report = Report::default();
    let domain = request.email_domain.clone().unwrap_or_else(|| "slack.invalid".to_owned());
    let mut people = People::read(&mut archive, &domain, &mut report)?;
    let conversations = SlackConversations::read(&mut archive, &mut people, &mut report)?;
    let mut conversion = Conversion {
        to: to.to_owned(),
        people,
        conversations,
        report,
        threads: Threads::default(),
        downloads: if request.fetches_files { Some(Downloads::new()?) } else { None },
        waiting: Vec::new(),
        reactions: Spool::new(to)?,
        reaction_count: 0,
        attachments: TableWriter::new(to)?,
        messages: 0,
        files: 0,
    };
    conversion.attachments.begin("zerver_attachment")?;
    let days = archive.days();
    for (number, (day, folders)) in (1..).zip(&days) {
        conversion.day(&mut archive, day, folders)?;
        progress(number, days.len() as u64);
    }
    conversion.finish(request)
}

/// A message with its rows.
struct Waiting {
    message: Value,
    rows: Vec<Value>,
}

struct Conversion {
    to: PathBuf,
    people: People,
    conversations: SlackConversations,
    report: Report,
    threads: Threads,
    /// None keeps the links.
    downloads: Option<Downloads>,
    waiting: Vec<Waiting>,
    reactions: Spool,
    reaction_count: u64,
    attachments: TableWriter,
    messages: u64,
    files: usize,
}

impl Conversion {
    /// The messages of one day, in the order of their times.
    fn day(
        &mut self,
        archive: &mut SlackArchive,
        day: &str,
        folders: &[String],
    ) -> Result<(), TransferError> {
        let mut all: Vec<(f64, SlackDestination, SlackMessage)> = Vec::new();
        for folder in folders {
            let messages: Vec<SlackMessage> =
                archive.json(&format!("{folder}/{day}.json"))?.unwrap_or_default();
            let count = messages.len() as u64;
            self.report.read(messages::TABLE, count);
            let Some(conversation) = self.conversations.of_folder(folder) else {
                self.report.leave_out(messages::TABLE, "of a channel that is not in the export", count);
                continue;
            };
            for message in messages {
                match (message.refusal(), seconds(&message.ts)) {
                    (None, Some(at)) => all.push((at, conversation, message)),
                    (why, _) => self.report.leave_out(messages::TABLE, why.unwrap_or("without a time"), 1),
                }
            }
        }
        all.sort_by(|one, other| one.0.total_cmp(&other.0));
        all.into_iter().try_for_each(|(at, conversation, message)| self.message(at, conversation, &message))
    }

    fn message(
        &mut self,
        at: f64,
        conversation: SlackDestination,
        message: &SlackMessage,
    ) -> Result<(), TransferError> {
        let id = self.messages + 1;
        let sender = message.sender(&mut self.people);
        let mut links = Vec::new();
        for file in message.files.iter().flatten() {
            links.extend(self.file(id, sender, at, file)?);
        }
        let content = message.content(&self.people, &self.conversations, &links, &mut self.report);
        if content.is_empty() {
            self.report.leave_out(messages::TABLE, "without a text", 1);
            return Ok(());
        }
        self.messages = id;
        self.people.wrote(sender, at);
        self.report.carry(messages::TABLE, 1);
        let (recipient, topic) = match conversation {
            SlackDestination::Channel(position) => {
                let recipient =
                    self.conversations.channels.get(position).map_or(0, |channel| channel.recipient);
                (recipient, message.topic(position, &mut self.threads))
            }
            SlackDestination::People(position) => (self.recipient(position, sender), String::new()),
        };
        for (user, name, code) in message.reactions(&self.people, &mut self.report) {
            self.reaction_count += 1;
            self.reactions.write(if self.reaction_count == 1 { b"" } else { b",\n" })?;
            self.reactions.value(&json!({
                "id": self.reaction_count, "user_profile": user, "message": id, "emoji_name": name,
                "emoji_code": code, "reaction_type": "unicode_emoji",
            }))?;
        }
        let row = |user: u32| json!({"user_profile": user, "message": id, "flags_mask": MENTIONED_MASK});
        let rows = message.mentioned(&self.people).into_iter().map(row).collect();
        let message = json!({
            "id": id, "sender": sender, "recipient": recipient, "realm": 1, "type": 1, "subject": topic,
            "content": content, "rendered_content": null, "date_sent": at, "sending_client": 1,
        });
        self.waiting.push(Waiting { message, rows });
        if self.waiting.len() >= FILE_MESSAGES { self.write_file() } else { Ok(()) }
    }

    /// The recipient of a message in a conversation: of the other person, or of the group.
    fn recipient(&self, position: usize, sender: u32) -> u32 {
        let Some(conversation) = self.conversations.conversations.get(position) else { return sender };
        match conversation.people.as_slice() {
            [] => sender,
            [one] => *one,
            [one, other] => {
                if *one == sender {
                    *other
                } else {
                    *one
                }
            }
            _ => conversation.recipient,
        }
    }

    /// A file of a message: downloaded, or its link.
    fn file(
        &mut self,
        message: u64,
        owner: u32,
        at: f64,
        file: &SlackFile,
    ) -> Result<Option<String>, TransferError> {
        self.report.read(messages::FILES, 1);
        let why = match (&mut self.downloads, &file.url_private_download) {
            (Some(downloads), Some(url)) => {
                let name = path_name(file.name.as_deref().unwrap_or("file"));
                let id: String = file.id.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
                let path = format!("1/{:02x}/slack{id}{message}/{name}", message % 256);
                match downloads.fetch(url, &self.to.join("uploads").join(&path)) {
                    Ok(size) => {
                        let number = self.attachments.row_count() + 1;
                        let name = file.name.as_deref().unwrap_or("file");
                        self.attachments.row(&json!({
                            "id": number, "file_name": name, "path_id": path, "owner": owner, "realm": 1,
                            "create_time": at, "size": size, "content_type": file.mimetype,
                            "is_realm_public": false, "is_web_public": false, "messages": [message],
                        }))?;
                        self.report.carry(messages::FILES, 1);
                        return Ok(Some(format!("[{}](/user_uploads/{path})", file.shown_name())));
                    }
                    Err(why) => why,
                }
            }
            (Some(_), None) => "without an address",
            (None, _) => "whose links are kept; --fetch-files downloads them",
        };
        self.report.leave_out(messages::FILES, why, 1);
        Ok(file.link())
    }

    fn write_file(&mut self) -> Result<(), TransferError> {
        self.files += 1;
        let waiting = std::mem::take(&mut self.waiting);
        let mut tables = TableWriter::new(&self.to)?;
        tables.table("zerver_message", waiting.iter().map(|waiting| &waiting.message))?;
        tables.table("zerver_usermessage", waiting.iter().flat_map(|waiting| &waiting.rows))?;
        tables.finish()?.0.copy_to(&self.to.join(format!("messages-{:06}.json", self.files)))
    }

    fn finish(mut self, request: &SlackRequest) -> Result<Report, TransferError> {
        if !self.waiting.is_empty() || self.files == 0 {
            self.write_file()?;
        }
        let mut tables = TableWriter::new(&self.to)?;
        let first = self.conversations.channels.iter().map(|channel| channel.created).filter(|at| *at > 0.0);
        // Without one, the organization is created when it is imported.
        let created = first.chain(self.people.first_message()).reduce(f64::min);
        let name = request.name.as_deref().unwrap_or("Imported from Slack");
        tables.table(
            "zerver_realm",
            [json!({"id": 1, "name": name, "string_id": "", "description": "",
            "date_created": created, "deactivated": false})],
        )?;
        tables.table("zerver_userprofile", self.people.rows())?;
        tables.table("zerver_client", [json!({"id": 1, "name": "Slack import"})])?;
        self.place_tables(&mut tables)?;
        tables.spooled("zerver_reaction", self.reactions, self.reaction_count)?;
        tables.value("import_source", &"slack")?;
        tables.finish()?.0.copy_to(&self.to.join("realm.json"))?;
        self.attachments.finish()?.0.copy_to(&self.to.join("attachment.json"))?;
        Ok(self.report)
    }

    fn place_tables(&self, tables: &mut TableWriter) -> Result<(), TransferError> {
        let channels = &self.conversations.channels;
        let groups =
            || self.conversations.conversations.iter().filter(|conversation| conversation.people.len() > 2);
        tables.table(
            "zerver_stream",
            channels.iter().map(|channel| {
                let created = Some(channel.created).filter(|at| *at > 0.0);
                json!({
                    "id": channel.id, "realm": 1, "name": channel.name, "description": channel.description,
                    "date_created": created, "creator": channel.creator, "deactivated": channel.is_archived,
                    "invite_only": channel.is_private, "history_public_to_subscribers": !channel.is_private,
                    "is_web_public": false, "recipient": channel.recipient,
                })
            }),
        )?;
        let defaults = channels.iter().filter(|channel| {
            !channel.is_private && !channel.is_archived && DEFAULTS.contains(&&*channel.name)
        });
        tables.table(
            "zerver_defaultstream",
            defaults.map(|channel| json!({"id": channel.id, "stream": channel.id})),
        )?;
        tables.begin("zerver_recipient")?;
        for user in self.people.ids() {
            tables.row(&json!({"id": user, "type": 1, "type_id": user}))?;
        }
        for channel in channels {
            tables.row(&json!({"id": channel.recipient, "type": 2, "type_id": channel.id}))?;
        }
        for group in groups() {
            tables.row(&json!({"id": group.recipient, "type": 3, "type_id": group.recipient}))?;
        }
        tables.begin("zerver_subscription")?;
        let members = channels.iter().map(|channel| (channel.recipient, &channel.members));
        for (recipient, people) in members.chain(groups().map(|group| (group.recipient, &group.people))) {
            for user in people {
                tables.row(&json!({"user_profile": user, "recipient": recipient, "active": true,
                    "color": "#76ce90"}))?;
            }
        }
        Ok(())
    }
}
