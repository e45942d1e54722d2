//! Exports that administrators request (docs/api/organization.md#exports). They are made outside of the actors, which record what
//! was requested and what became of it.

use super::frame_draft::{FrameDraft, requester};
use super::serialized::{DecisionContext, SerializedCommand};
use crate::error::DomainError;
use model::export::{ExportStatus, RealmExport, RequestedExport};
use model::{Fact, Listed, RealmFact, UserId};
use rules::bot_notices::export_finished_text;
use rules::exports::{add_export, check_export_request, deletable_export};
use rules::permissions::roles::check_administrator;

/// Requests an export.
pub struct RequestExport {
    pub by: UserId,
    pub kind: RequestedExport,
    /// The organization's URL.
    pub url: String,
    /// Who helps with exports that are too large.
    pub contact: String,
}

impl SerializedCommand for RequestExport {
    /// The id of the export.
    type Outcome = u32;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(u32, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        check_administrator(&*requester(directory, self.by)?)?;
        let messages = context.realm.view.read().messages.all.len();
        check_export_request(directory, (self.kind, messages), context.now, &self.contact)?;
        let export = RealmExport {
            id: 0,
            kind: self.kind,
            requested: context.now,
            by: self.by,
            url: self.url,
            status: ExportStatus::Pending,
        };
        let (id, all) = add_export(directory.exports(), export);
        Ok((id, vec![changed(all)]))
    }
}

/// Records what became of a pending export. The notification bot tells the requester of one that succeeded.
pub struct FinishExport {
    pub id: u32,
    /// The path and the bytes of its file; none if it failed.
    pub file: Option<(String, u64)>,
}

impl SerializedCommand for FinishExport {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let mut all = Listed::clone(context.directory.exports());
        let export = all.items.iter_mut().find(|export| export.id == self.id && export.is_pending());
        let Some(export) = export else { return Ok(((), Vec::new())) };
        let by = export.by;
        let is_done = self.file.is_some();
        export.status = match self.file {
            Some((path, bytes)) => ExportStatus::Succeeded { path, bytes },
            None => ExportStatus::Failed { at: context.now },
        };
        let mut frame = FrameDraft::new(context);
        frame.push(changed(all));
        let author = frame.directory.user(by).filter(|user| user.is_active && is_done).cloned();
        if let Some(author) = author
            && let Some(draft) = frame.notice(&author, export_finished_text().to_owned())
        {
            frame.send_direct(draft, by);
        }
        Ok(((), frame.facts))
    }
}

/// Marks all pending exports as failed: the server that was making them ended.
pub struct FailPendingExports;

impl SerializedCommand for FailPendingExports {
    /// How many there were.
    type Outcome = usize;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(usize, Vec<Fact>), DomainError> {
        let mut all = Listed::clone(context.directory.exports());
        let mut count = 0;
        for export in all.items.iter_mut().filter(|export| export.is_pending()) {
            export.status = ExportStatus::Failed { at: context.now };
            count += 1;
        }
        Ok((count, if count > 0 { vec![changed(all)] } else { Vec::new() }))
    }
}

/// Deletes the file of an export.
pub struct DeleteExport {
    pub by: UserId,
    pub id: i64,
}

impl SerializedCommand for DeleteExport {
    /// The path of the file.
    type Outcome = String;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(String, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        check_administrator(&*requester(directory, self.by)?)?;
        let (id, path) = deletable_export(directory.exports(), self.id)?;
        let path = path.to_owned();
        let mut all = Listed::clone(directory.exports());
        if let Some(export) = all.items.iter_mut().find(|export| export.id == id) {
            export.status = ExportStatus::Deleted { at: context.now };
        }
        Ok((path, vec![changed(all)]))
    }
}

fn changed(all: Listed<RealmExport>) -> Fact {
    Fact::Realm(RealmFact::ExportsChanged(Box::new(all)))
}
