//! Which exports administrators may request and delete (docs/api/organization.md#exports).

use crate::error::{ExportError, RuleError};
use crate::settings::{EXPORT_CONSENT, user_bool, user_int};
use model::export::{ExportStatus, RealmExport, RequestedExport};
use model::{Directory, Listed, Role, Timestamp, User};

/// Exports of an organization within a week.
const EXPORTS_WEEKLY_MAX: usize = 5;
const WEEK_MILLIS: u64 = 7 * 24 * 3600 * 1000;
/// Messages of an organization that is exported by request.
const EXPORT_MESSAGES_MAX: u64 = 250_000;
/// Bytes of the uploaded files of such an organization.
const EXPORT_UPLOAD_BYTES_MAX: u64 = 10 << 30;
/// Exports that are listed; beyond it the oldest one without a file is forgotten.
const EXPORTS_LISTED_MAX: usize = 100;
/// The value of `email_address_visibility` with which an address is not exported.
const HIDDEN: i64 = 4;

/// Whether an export may be requested now. `contact` is who helps with larger ones.
///
/// # Errors
/// `TooMany`, `TooLarge`, `NoOwner`, `TooManyKept`.
pub fn check_export_request(
    directory: &Directory,
    (kind, messages): (RequestedExport, u64),
    now: Timestamp,
    contact: &str,
) -> Result<(), RuleError> {
    let all = &directory.exports().items;
    let recent = all.iter().filter(|export| now.millis_since(export.requested) < WEEK_MILLIS);
    if recent.count() >= EXPORTS_WEEKLY_MAX {
        return Err(ExportError::TooMany.into());
    }
    if messages > EXPORT_MESSAGES_MAX || directory.upload_space_used() > EXPORT_UPLOAD_BYTES_MAX {
        return Err(ExportError::TooLarge { contact: contact.to_owned() }.into());
    }
    let is_usable = |owner: &User| match kind {
        RequestedExport::WithConsent => user_bool(owner, EXPORT_CONSENT),
        RequestedExport::Public => user_int(owner, "email_address_visibility") != HIDDEN,
    };
    let mut owners = directory.users().filter(|user| user.role == Role::Owner && !user.is_bot());
    if !owners.any(|owner| is_usable(owner)) {
        return Err(ExportError::NoOwner { contact: contact.to_owned() }.into());
    }
    let kept = all.iter().filter(|export| export.path().is_some() || export.is_pending()).count();
    if kept >= EXPORTS_LISTED_MAX {
        return Err(ExportError::TooManyKept.into());
    }
    Ok(())
}

/// The list with one more export. The oldest one without a file is forgotten where there are too many.
pub fn add_export(before: &Listed<RealmExport>, mut export: RealmExport) -> (u32, Listed<RealmExport>) {
    let mut all = before.clone();
    if all.items.len() >= EXPORTS_LISTED_MAX
        && let Some(position) =
            all.items.iter().position(|known| known.path().is_none() && !known.is_pending())
    {
        all.items.remove(position);
    }
    let id = all.next_id();
    export.id = id;
    all.items.push(export);
    (id, all)
}

/// The path of the file of an export that may be deleted.
///
/// # Errors
/// `UnknownExport`, `AlreadyDeleted`, `Failed`, `InProgress`.
pub fn deletable_export(all: &Listed<RealmExport>, id: i64) -> Result<(u32, &str), RuleError> {
    let export = all.items.iter().find(|export| i64::from(export.id) == id);
    let export = export.ok_or(ExportError::UnknownExport)?;
    let refusal = match &export.status {
        ExportStatus::Succeeded { path, .. } => return Ok((export.id, path)),
        ExportStatus::Deleted { .. } => ExportError::AlreadyDeleted,
        ExportStatus::Failed { .. } => ExportError::Failed,
        ExportStatus::Pending => ExportError::InProgress,
    };
    Err(refusal.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Realm, RealmId, SettingValue, UserId};

    const NOW: Timestamp = Timestamp(1_000 * WEEK_MILLIS);

    fn export(id: u32, status: ExportStatus, requested: Timestamp) -> RealmExport {
        RealmExport {
            id,
            kind: RequestedExport::Public,
            requested,
            by: UserId(1),
            url: String::new(),
            status,
        }
    }

    fn directory(exports: Vec<RealmExport>) -> Directory {
        let mut directory = Directory::new(Realm::new(RealmId(1), "", "x", "x.example", Timestamp(0)));
        directory.put_user(User::new(UserId(1), "o@x.example", "Olga", Role::Owner, Timestamp(0)));
        let last_id = exports.len() as u32;
        directory.put_exports(Listed { items: exports, last_id });
        directory
    }

    fn check(directory: &Directory, kind: RequestedExport, messages: u64) -> Result<(), String> {
        let checked = check_export_request(directory, (kind, messages), NOW, "admin@x.example");
        checked.map_err(|error| error.to_string())
    }

    #[test]
    fn requests_are_limited() {
        let public = RequestedExport::Public;
        let failed = |id| export(id, ExportStatus::Failed { at: NOW }, Timestamp(NOW.0 - WEEK_MILLIS + 1));
        let four = directory((1..5).map(failed).collect());
        assert_eq!(check(&four, public, EXPORT_MESSAGES_MAX), Ok(()));
        let large = "Please request a manual export from admin@x.example.";
        assert_eq!(check(&four, public, EXPORT_MESSAGES_MAX + 1), Err(large.into()));
        let five = directory((1..6).map(failed).collect());
        assert_eq!(check(&five, public, 0), Err("Exceeded rate limit.".into()));
        let earlier = check_export_request(&five, (public, 0), NOW.plus_secs(1), "");
        assert_eq!(earlier, Ok(()), "a week later");
    }

    #[test]
    fn an_owner_can_use_the_export() {
        let no_owner = "Make sure at least one Organization Owner is consenting to the export or contact \
                        admin@x.example for help.";
        let mut directory = directory(Vec::new());
        assert_eq!(check(&directory, RequestedExport::WithConsent, 0), Err(no_owner.into()));
        let mut owner = User::clone(directory.user(UserId(1)).unwrap());
        owner.settings.insert(EXPORT_CONSENT.into(), SettingValue::Bool(true));
        owner.settings.insert("email_address_visibility".into(), SettingValue::Int(HIDDEN));
        directory.put_user(owner);
        assert_eq!(check(&directory, RequestedExport::WithConsent, 0), Ok(()));
        assert_eq!(check(&directory, RequestedExport::Public, 0), Err(no_owner.into()));
    }

    #[test]
    fn lists_are_bounded_and_ids_are_new() {
        let kept = || ExportStatus::Succeeded { path: "1/a/b".into(), bytes: 1 };
        let mut all = Listed::default();
        for number in 0..EXPORTS_LISTED_MAX as u64 {
            let status = if number == 3 { ExportStatus::Deleted { at: NOW } } else { kept() };
            all = add_export(&all, export(0, status, Timestamp(number))).1;
        }
        assert_eq!(check(&directory(all.items.clone()), RequestedExport::Public, 0), Ok(()));
        let (id, all) = add_export(&all, export(0, ExportStatus::Pending, NOW));
        assert_eq!((id, all.items.len()), (101, EXPORTS_LISTED_MAX));
        assert!(all.items.iter().all(|export| export.id != 4), "the deleted one is forgotten");
        let full = check(&directory(all.items), RequestedExport::Public, 0);
        assert_eq!(full, Err("Delete an older export first.".into()));
    }

    #[test]
    fn only_files_are_deleted() {
        let statuses = [
            ExportStatus::Pending,
            ExportStatus::Succeeded { path: "1/a/b".into(), bytes: 1 },
            ExportStatus::Failed { at: NOW },
            ExportStatus::Deleted { at: NOW },
        ];
        let items = (1..).zip(statuses).map(|(id, status)| export(id, status, NOW)).collect();
        let all = Listed { items, last_id: 4 };
        let deletable = |id| deletable_export(&all, id).map_err(|error| error.to_string());
        assert_eq!(deletable(1), Err("Export still in progress".into()));
        assert_eq!(deletable(2), Ok((2, "1/a/b")));
        assert_eq!(deletable(3), Err("Export failed, nothing to delete".into()));
        assert_eq!(deletable(4), Err("Export already deleted".into()));
        assert_eq!(deletable(5), Err("Invalid data export ID".into()));
    }
}
