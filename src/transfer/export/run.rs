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
use model::{ChannelId, Directory, RealmId, RecipientId, ScheduledTo, Timestamp, UserId};
use serde_json::json;
use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};
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

/// The ids of recipients in an export. Those of single people, and of groups that have no message yet, exist only there: they come after the
/// ids of the organization at the beginning. Ids that are newer than the beginning are moved behind them.
#[derive(Clone, Copy, Debug)]
pub struct Personal {
    /// The newest recipient at the beginning.
    last: u32,
}

/// Ids for people and groups without messages.
const ROOM: u32 = 1 << 24;

impl Personal {
    fn new(directory: &Directory) -> Self {
        let channels = directory.channels().map(|channel| channel.recipient.0);
        let all = channels.chain(directory.directs().map(|direct| direct.recipient.0));
        Self { last: all.max().unwrap_or_default() }
    }

    /// The id of a channel's or conversation's recipient.
    pub fn kept(self, recipient: RecipientId) -> RecipientId {
        if recipient.0 > self.last { RecipientId(recipient.0.saturating_add(ROOM)) } else { recipient }
    }

    /// The recipient of a group without messages.
    fn of_group(self, number: u32) -> RecipientId {
        RecipientId(self.last.saturating_add(ROOM).saturating_sub(number))
    }

    /// The recipient of a person.
    pub fn of(self, user: UserId) -> RecipientId {
        RecipientId(self.last.saturating_add(user.0))
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
    /// Groups of people to whom only scheduled messages are addressed.
    pub new_groups: BTreeMap<Vec<UserId>, RecipientId>,
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
    let new_groups = new_groups(&directory, scope, personal);
    let snapshot = Snapshot { realm, directory, scope, personal, clients, folder, at, new_groups, channels };
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

/// Groups of people to whom scheduled messages are addressed and who have no conversation yet.
fn new_groups(
    directory: &Directory,
    scope: &Scope,
    personal: Personal,
) -> BTreeMap<Vec<UserId>, RecipientId> {
    let mut groups = BTreeMap::new();
    for user in directory.users().filter(|user| scope.shares(user.id)) {
        for (_, message) in directory.scheduled_messages(user.id) {
            if let ScheduledTo::People(people) = &message.to
                && people.len() > 2
                && directory.direct_by_users(people).is_none()
            {
                let next = groups.len() as u32;
                groups.entry(people.clone()).or_insert_with(|| personal.of_group(next));
            }
        }
    }
    groups
}

/// The value beside the tables with the domain of the addresses of bots; only exports of this server have it.
pub const EMAIL_DOMAIN: &str = "millstream_email_domain";
