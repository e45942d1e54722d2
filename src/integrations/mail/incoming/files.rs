//! Attachments of e-mails: they become uploaded files of the user as whom the e-mail is posted.

use super::parse::MailFile;
use crate::api::uploads::store::{discard, store_bytes};
use crate::http::{App, Caller};

/// The attachments of an e-mail, stored or left out.
#[derive(Debug, Default)]
pub struct StoredFiles {
    /// What the message says of each, in their order.
    pub lines: Vec<String>,
    /// The paths of those that were stored.
    paths: Vec<String>,
}

/// The server cannot store files now; the e-mail comes again later.
#[derive(Debug)]
pub struct StoreLater;

/// Stores attachments. One that is refused, because it is too large or there is no room left for the organization, is named
/// with the reason.
pub async fn store(app: &App, owner: &Caller, files: Vec<MailFile>) -> Result<StoredFiles, StoreLater> {
    let mut stored = StoredFiles::default();
    for MailFile { name, content_type, bytes } in files {
        let shown = shown(&name);
        match store_bytes(app, owner, &name, content_type.as_deref(), bytes.into()).await {
            Ok(path_id) => {
                stored.lines.push(format!("[{shown}](/user_uploads/{path_id})"));
                stored.paths.push(path_id);
            }
            Err(error) if error.status_code().is_server_error() => {
                stored.discard(app, owner).await;
                return Err(StoreLater);
            }
            Err(refusal) => stored.lines.push(format!("(attachment left out: `{shown}`. {})", refusal.msg())),
        }
    }
    Ok(stored)
}

impl StoredFiles {
    /// Deletes the files of an e-mail that was not posted.
    pub async fn discard(&self, app: &App, owner: &Caller) {
        for path_id in &self.paths {
            discard(app, owner, path_id).await;
        }
    }
}

/// The name of a file in Markdown, where it is plain text.
fn shown(name: &str) -> String {
    name.chars().filter(|point| !point.is_control() && !"[]`\\".contains(*point)).collect()
}
