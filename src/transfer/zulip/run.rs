//! The import from beginning to end.

use super::entry::Entries;
use super::files::Claims;
use super::messages::Messages;
use super::organization::{Builder, Naming};
use super::recipients::Recipients;
use super::source::Source;
use super::survey::Survey;
use super::tables::Tables;
use crate::integrations::blobs::Blobs;
use crate::transfer::problem::TransferError;
use crate::transfer::report::Report;
use actors::{BulkWriter, ImportOrigin, RealmHandle, Server, fits_in_frame};
use model::push::PushFact;
use model::{
    Fact, GroupFact, MessageId, PersonalFact, Realm, RealmFact, RealmId, SubscriptionFact, Timestamp,
};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Estimated bytes of one frame of everything but messages; frames have at most 512 KiB compressed.
const FRAME_BYTES: usize = 300 * 1024;
/// Files whose frames wait to be written.
const FILES_WAITING: usize = 2;

/// What is to be imported, and as what.
#[derive(Clone, Debug, Default)]
pub struct ImportRequest {
    /// The archive as people know it, and the subdomain of the organization.
    pub origin: ImportOrigin,
    /// None keeps the name of the export.
    pub name: Option<String>,
    /// None takes the domain of the exported addresses.
    pub email_domain: Option<String>,
    /// The URL that the organization had; links to it become relative.
    pub former_url: String,
    pub now: Timestamp,
}

/// A finished import.
pub struct Imported {
    pub realm: RealmHandle,
    pub report: Report,
    pub messages: u64,
    /// Messages that an interrupted import had written before.
    pub known: u64,
}

/// What an import is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Files were checked, of this total.
    Checked(usize, usize),
    /// The organization without its messages was written.
    Organization,
    /// Messages were written, of this total.
    Messages(u64, u64),
}

/// Imports an export. The organization can be used when this returns; an interrupted import continues when it is repeated.
///
/// # Errors
/// What is wrong with the export, before anything is written; later only errors of the disk.
pub async fn import(
    server: &Arc<Server>,
    blobs: &Blobs,
    source: &Source,
    request: &ImportRequest,
    progress: &mut dyn FnMut(Progress),
) -> Result<Imported, TransferError> {
    let tables = Tables::read(source)?;
    let survey = Survey::read(source, &mut |done, all| progress(Progress::Checked(done, all)))?;
    let wanted = tables.realm().id("id").map(RealmId);
    let fingerprint = source.fingerprint()?;
    let mut writer = server.write_in_bulk(wanted, &fingerprint, &request.origin).await?;
    let naming = naming(&tables, request);
    let known = writer.last_message();
    let mut report = tables.report.clone();
    report.add(&survey.report);
    let tables = Arc::new(tables);
    let claims =
        organization(&mut writer, blobs, source, (&tables, &survey), &naming, request.now, &mut report)
            .await?;
    progress(Progress::Organization);
    let (messages, count) =
        write_messages(&mut writer, source, (&tables, &survey), claims, request, progress).await?;
    report.add(&messages.report);
    finish(&mut writer, &messages).await?;
    let realm = writer.finish().await?;
    Ok(Imported { realm, report, messages: count, known: u64::from(known > MessageId::ZERO) })
}

fn naming(tables: &Tables, request: &ImportRequest) -> Naming {
    let domain_of = |address: &str| address.rsplit_once('@').map(|(_, domain)| domain.to_lowercase());
    let people = || tables.rows("zerver_userprofile").iter();
    // Exports of this server say it.
    let own = tables.values.get(crate::transfer::export::EMAIL_DOMAIN).and_then(|domain| domain.as_str());
    // Addresses that are shown for hidden ones have the domain of the organization.
    let shown = people().find(|row| is_made_up(row));
    let owner = || people().find(|row| row.int("role") == Some(100) && !row.is("is_bot"));
    let found = own.map(str::to_owned).or_else(|| shown.and_then(|row| domain_of(row.text("email"))));
    let found = found.or_else(|| domain_of(owner().or_else(|| people().next())?.text("delivery_email")));
    Naming {
        subdomain: request.origin.subdomain.clone(),
        name: request.name.clone(),
        email_domain: request.email_domain.clone().or(found).unwrap_or_else(|| "localhost".to_owned()),
    }
}

/// Whether the shown address of a user is `user12@…`.
fn is_made_up(row: &crate::transfer::rows::Row) -> bool {
    let made_up = row.id("id").map(|id| format!("user{id}@"));
    made_up.is_some_and(|start| row.text("email").starts_with(&start))
}

/// Writes everything but the messages. Where that was done before, it only becomes known again.
async fn organization(
    writer: &mut BulkWriter,
    blobs: &Blobs,
    source: &Source,
    (tables, survey): (&Arc<Tables>, &Survey),
    naming: &Naming,
    now: Timestamp,
    report: &mut Report,
) -> Result<Claims, TransferError> {
    let is_new = writer.directory().is_none();
    let mut builder = Builder::new(tables, writer.realm(), naming, now, is_new);
    builder.read_groups();
    builder.system_groups();
    builder.people();
    builder.read_members();
    builder.pictures(source, blobs).await?;
    let claims = builder.files(source, blobs).await?;
    builder.lists();
    builder.profile_fields();
    builder.channels(survey);
    builder.made_groups();
    builder.realm_settings();
    builder.system_members();
    builder.bot_configs();
    builder.subscriptions(survey);
    builder.personal();
    let recipients = Recipients::new(tables, &builder.directory);
    builder.texts(&recipients, &tables.clients);
    builder.facts.push(Fact::Push(Box::new(PushFact::NotificationCursorMoved(writer.last_message()))));
    report.add(&builder.report);
    // Messages are written after all of it.
    if writer.last_message() == MessageId::ZERO {
        let Some(frames) = in_frames(builder.facts) else {
            writer.forget_unwritten()?;
            return Err(TransferError::TooLarge(
                "it has a text or a list that takes more than 4 MB, or 512 KiB compressed".to_owned(),
            ));
        };
        for facts in frames {
            writer.write(facts).await?;
        }
        writer.flush().await?;
    }
    Ok(claims)
}

/// Facts in frames that can be written; none if one of them is too large. Everything is checked before anything is written.
fn in_frames(facts: Vec<Fact>) -> Option<Vec<Vec<Fact>>> {
    let (mut frames, mut frame, mut bytes) = (Vec::new(), Vec::new(), 0);
    for fact in facts {
        bytes += estimated_bytes(&fact);
        if bytes > FRAME_BYTES && !frame.is_empty() {
            frames.push(std::mem::take(&mut frame));
            bytes = estimated_bytes(&fact);
        }
        frame.push(fact);
    }
    frames.push(frame);
    let mut checked = Vec::new();
    for frame in frames {
        if fits_in_frame(&frame) {
            checked.push(frame);
            continue;
        }
        // What was estimated too low.
        for fact in frame {
            let alone = vec![fact];
            if !fits_in_frame(&alone) {
                return None;
            }
            checked.push(alone);
        }
    }
    Some(checked)
}

/// An upper bound of the bytes of usual facts.
fn estimated_bytes(fact: &Fact) -> usize {
    let more = match fact {
        Fact::Subscription(SubscriptionFact::Added { subscribers, .. }) => {
            let spans = subscribers.iter().map(|(_, own)| own.spans.len() * 12);
            subscribers.len() * 60 + spans.sum::<usize>()
        }
        Fact::Subscription(SubscriptionFact::TopicPoliciesImported { topics, .. }) => {
            topics.iter().map(|(_, topic)| topic.name.len() + 40).sum()
        }
        Fact::Group(GroupFact::MembersChanged { added, .. }) => added.len() * 8,
        Fact::Personal(PersonalFact::ScheduledMessageSet { message: Some(message), .. }) => {
            message.content.len() + message.rendered.len()
        }
        Fact::Personal(PersonalFact::SavedSnippetSet { snippet: Some(snippet), .. }) => snippet.content.len(),
        Fact::Personal(PersonalFact::DraftsAdded { drafts, .. }) => {
            drafts.iter().map(|(_, draft)| draft.content.len()).sum()
        }
        Fact::Personal(PersonalFact::BotStorageChanged { set, .. }) => {
            set.iter().map(|(key, value)| key.len() + value.len()).sum()
        }
        Fact::User(model::UserFact::BotIntegrationSet { integration, .. }) => integration.bytes(),
        _ => 0,
    };
    more + 4_000
}

/// Reads and renders on a thread of its own, while the frames before are written.
async fn write_messages(
    writer: &mut BulkWriter,
    source: &Source,
    (tables, survey): (&Arc<Tables>, &Survey),
    claims: Claims,
    request: &ImportRequest,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Messages, u64), TransferError> {
    let directory = writer.directory().cloned().unwrap_or_default();
    let url = request.former_url.trim_end_matches('/').to_owned();
    let mut messages = Messages::new(tables.clone(), directory, claims, writer.last_message(), url);
    let files: Vec<PathBuf> = source.message_files().to_vec();
    let (sender, mut frames) = mpsc::channel::<(Vec<Vec<Fact>>, u64)>(FILES_WAITING);
    let thread = std::thread::Builder::new().name("import".into());
    let thread = thread.spawn(move || -> Result<Messages, TransferError> {
        for path in files {
            let entries = Entries::read(&path)?;
            let count = entries.all.len() as u64;
            if sender.blocking_send((messages.frames(entries), count)).is_err() {
                break;
            }
        }
        messages.finish();
        Ok(messages)
    });
    let thread = thread.map_err(|reason| TransferError::System { path: "a thread".into(), reason })?;
    let mut count = 0;
    while let Some((file, messages)) = frames.recv().await {
        for facts in file {
            writer.write(facts).await?;
        }
        count += messages;
        progress(Progress::Messages(count, survey.messages));
    }
    let messages = thread.join().map_err(|_| TransferError::Interrupted)??;
    writer.flush().await?;
    Ok((messages, count))
}

/// Activates the organization.
async fn finish(writer: &mut BulkWriter, messages: &Messages) -> Result<(), TransferError> {
    let last = writer.last_message();
    // New parts of widgets are numbered by frame, and must come after the imported ones.
    while writer.frames() <= u64::from(messages.parts_max) {
        writer.write(vec![Fact::Push(Box::new(PushFact::NotificationCursorMoved(last)))]).await?;
    }
    writer.flush().await?;
    let Some(directory) = writer.directory() else { return Err(TransferError::Interrupted) };
    let is_active = !messages.tables.realm().is("deactivated");
    let realm = Realm { is_active, ..Realm::clone(directory.realm()) };
    writer.write(vec![Fact::Realm(RealmFact::Changed(Box::new(realm)))]).await?;
    Ok(())
}
