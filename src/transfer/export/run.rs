//! An export from beginning to end. It runs on a thread of its own: everything here blocks.

use super::archive::Archive;
use super::clients::Clients;
use super::files::Store;
use super::groups::AnonymousGroups;
use super::messages::{MessageExport, MessageParts};
use super::personal::CLIENT_OF_STATUSES;
use super::scope::{ExportKind, Scope};
use super::snapshot::{Context, EMAIL_DOMAIN, Personal, Snapshot, Step};
use super::tables::TableWriter;
use crate::integrations::blobs::Blobs;
use crate::transfer::problem::TransferError;
use crate::version::ZULIP_VERSION;
use actors::RealmHandle;
use model::{Directory, RecipientId, ScheduledTo, Timestamp, UserId};
use serde_json::json;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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
    /// Bytes before compression.
    pub bytes: u64,
    /// Recorded files whose bytes are not in the store.
    pub missing_files: u64,
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
