//! An export from beginning to end. It runs on a thread of its own: everything here blocks.

use super::archive::Archive;
use super::files::Store;
use super::groups::AnonymousGroups;
use super::messages::{Clients, MessageExport, MessageParts};
use super::personal::CLIENT_OF_STATUSES;
use super::scope::{ExportKind, Scope};
use super::tables::TableWriter;
use crate::integrations::blobs::Blobs;
use crate::transfer::problem::TransferError;
use crate::version::ZULIP_VERSION;
use actors::RealmHandle;
use model::{ChannelId, Directory, RealmId, RecipientId, Timestamp, UserId};
use serde_json::json;
use std::cell::Cell;
use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is to be exported.
#[derive(Clone)]
pub struct ExportRequest {
    pub realm: RealmHandle,
    pub blobs: Blobs,
    pub kind: ExportKind,
    /// Name of the top folder in the archive.
    pub top: String,
    /// Where temporary files are made.
    pub folder: PathBuf,
    /// Ends the export early when it becomes true.
    pub stop: Arc<AtomicBool>,
}

/// A finished export.
#[derive(Clone, Debug, Default)]
pub struct Exported {
    pub messages: u64,
    pub files: u64,
    /// Uncompressed bytes.
    pub bytes: u64,
    /// Recorded files whose bytes are not in the store.
    pub missing_files: u64,
}

/// What an export is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Messages were read, of so many.
    Messages(u64, u64),
    /// Everything else is being written.
    Rest,
}

/// What the parts of an export need.
pub struct Context<'r> {
    pub realm: &'r RealmHandle,
    pub scope: Scope,
    pub personal: Personal,
    pub folder: &'r Path,
    pub stop: &'r AtomicBool,
    pub progress: &'r dyn Fn(Step),
}

impl Context<'_> {
    /// Fails when the export is to end early.
    pub fn check_running(&self) -> Result<(), TransferError> {
        if self.stop.load(Ordering::Relaxed) { Err(TransferError::Stopped) } else { Ok(()) }
    }
}

/// The recipients of single people, which exist only in exports: after those of channels and conversations at the beginning,
/// with room for new ones.
#[derive(Clone, Copy, Debug)]
pub struct Personal {
    first: u32,
}

/// Recipients that may be created while an export runs.
const NEW_RECIPIENTS: u32 = 1 << 20;

impl Personal {
    fn new(directory: &Directory) -> Self {
        let channels = directory.channels().map(|channel| channel.recipient.0);
        let all = channels.chain(directory.directs().map(|direct| direct.recipient.0));
        Self { first: all.max().unwrap_or_default().saturating_add(NEW_RECIPIENTS) }
    }

    /// The recipient of a person.
    pub fn of(self, user: UserId) -> RecipientId {
        RecipientId(self.first.saturating_add(user.0))
    }
}

/// The organization after the messages were read.
pub struct Snapshot<'s> {
    pub realm: &'s RealmHandle,
    pub directory: Directory,
    pub scope: &'s Scope,
    pub personal: Personal,
    pub clients: &'s Clients,
    pub folder: &'s Path,
    pub at: Timestamp,
    channels: HashSet<ChannelId>,
}

impl Snapshot<'_> {
    /// The organization's id.
    pub fn realm_id(&self) -> RealmId {
        self.directory.realm().id
    }

    /// The recipient of a person.
    pub fn personal(&self, user: UserId) -> RecipientId {
        self.personal.of(user)
    }

    /// Whether a channel is exported.
    pub fn has_channel(&self, channel: ChannelId) -> bool {
        self.channels.contains(&channel)
    }
}

/// A time as exports have it.
pub fn seconds(at: Timestamp) -> f64 {
    at.0 as f64 / 1000.0
}

/// Writes an export to `out`, which is returned. Blocks; call it from a thread of its own, outside of asynchronous code.
///
/// # Errors
/// `System`, `Data` and `Files` of the disk or store, and `Stopped`.
pub fn export<W: Write>(
    request: &ExportRequest,
    out: W,
    progress: &dyn Fn(Step),
) -> Result<(W, Exported), TransferError> {
    let failed = |reason| TransferError::system(&request.folder, reason);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let (realm, at) = (&request.realm, request.realm.now());
    let directory = realm.directory();
    let context = Context {
        realm,
        scope: Scope::new(request.kind, &directory),
        personal: Personal::new(&directory),
        folder: &request.folder,
        stop: &request.stop,
        progress,
    };
    let clients = Clients::default();
    clients.id_of(CLIENT_OF_STATUSES);
    let mut archive = Archive::new(out, &request.top, at.secs());
    let mut messages = MessageExport::new(&context, &clients)?;
    messages.write(&mut archive)?;
    progress(Step::Rest);
    let parts = messages.parts;
    let count = parts.messages;
    let store = Store { blobs: &request.blobs, runtime: &runtime, missing: Cell::new(0) };
    rest(&mut archive, &context, &clients, parts, &store, at)?;
    let exported = Exported {
        messages: count,
        files: archive.files,
        bytes: archive.bytes,
        missing_files: store.missing.get(),
    };
    let out = archive.finish().map_err(failed)?;
    Ok((out, exported))
}

fn rest<W: Write>(
    archive: &mut Archive<W>,
    context: &Context<'_>,
    clients: &Clients,
    parts: MessageParts,
    store: &Store<'_>,
    at: Timestamp,
) -> Result<(), TransferError> {
    let directory = context.realm.directory();
    let exported = directory.channels().filter(|channel| context.scope.has_channel(&directory, channel));
    let channels = exported.map(|channel| channel.id).collect();
    let (realm, scope, personal, folder) = (context.realm, &context.scope, context.personal, context.folder);
    let snapshot = Snapshot { realm, directory, scope, personal, clients, folder, at, channels };
    let mut tables = TableWriter::new(folder)?;
    let mut anonymous = AnonymousGroups::new(&snapshot);
    snapshot.realm_tables(&mut tables, &mut anonymous)?;
    snapshot.people(&mut tables)?;
    snapshot.lists(&mut tables)?;
    snapshot.profile_fields(&mut tables)?;
    snapshot.channel_tables(&mut tables, &mut anonymous)?;
    snapshot.groups(&mut tables, anonymous)?;
    snapshot.recipients(&mut tables)?;
    snapshot.subscriptions(&mut tables)?;
    snapshot.audit_log(&mut tables)?;
    snapshot.personal_tables(&mut tables)?;
    let scheduled = snapshot.texts(&mut tables)?;
    tables.spooled("zerver_reaction", parts.reactions, parts.reaction_count)?;
    for table in ["zerver_useractivity", "zerver_useractivityinterval", "zerver_onboardingusermessage"] {
        tables.begin(table)?;
    }
    let names = clients.all();
    tables.table("zerver_client", names.iter().map(|(id, name)| json!({"id": id, "name": name})))?;
    tables.value("import_source", &"zulip")?;
    tables.value(EMAIL_DOMAIN, &snapshot.directory.realm().email_domain)?;
    context.check_running()?;
    archive.tables("realm.json", tables)?;
    snapshot.files(archive, store, &parts.uses, &scheduled)?;
    context.check_running()?;
    snapshot.pictures(archive, store)?;
    let migrations = json!({"migrations_by_app": {}, "zulip_version": ZULIP_VERSION});
    archive.bytes("migration_status.json", migrations.to_string().as_bytes())?;
    let stats = serde_json::to_vec_pretty(&archive.stats).unwrap_or_default();
    archive.bytes("stats.json", &stats)
}

/// The value beside the tables with the domain of the addresses of bots; only exports of this server have it.
pub const EMAIL_DOMAIN: &str = "millstream_email_domain";
