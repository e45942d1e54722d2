//! What a development server records of a body that its handler reads itself: the parameters, and of files the names and sizes.

use super::app::App;
use super::params::Fields;
use crate::dev::calls::{RecordedCall, RecordedFile};
use actix_web::{HttpMessage, HttpRequest};
use parking_lot::Mutex;
use std::sync::Arc;

/// Files that are recorded of a call.
const FILES_MAX: usize = 10;

/// The record of a body. On other servers it does nothing.
#[derive(Clone, Default)]
pub(super) struct RecordedBody(Option<Arc<Mutex<Content>>>);

#[derive(Default)]
struct Content {
    parameters: Vec<(String, String)>,
    files: Vec<RecordedFile>,
    /// The parameters that the endpoint does not know.
    ignored: Vec<String>,
    /// Whether bytes are those of the newest file that is recorded.
    is_in_file: bool,
}

impl RecordedBody {
    /// The record of a request's body, which the request keeps for [`Self::write`].
    pub fn of(app: &App, request: &HttpRequest) -> Self {
        let record = Self(app.tools.as_ref().map(|_| Arc::default()));
        if record.0.is_some() {
            request.extensions_mut().insert(record.clone());
        }
        record
    }

    /// A file begins; bytes that follow are its own. A body that is nothing but a file has no name.
    pub fn begin_file(&self, name: Option<&str>) {
        let Some(mut content) = self.0.as_ref().map(|content| content.lock()) else { return };
        content.is_in_file = content.files.len() < FILES_MAX;
        if content.is_in_file {
            content.files.push(RecordedFile::new(name));
        }
    }

    /// Some more bytes of a file.
    pub fn add(&self, bytes: u64) {
        let Some(mut content) = self.0.as_ref().map(|content| content.lock()) else { return };
        if content.is_in_file
            && let Some(file) = content.files.last_mut()
        {
            file.size += bytes;
        }
    }

    /// The parameters of URL and body.
    pub fn set_parameters(&self, fields: &Fields) {
        if let Some(content) = &self.0 {
            let pairs = fields.pairs().map(|(name, value)| (name.to_owned(), value.to_owned()));
            content.lock().parameters = pairs.collect();
        }
    }

    /// The parameters that the handler did not read, which are in the record also if the call fails.
    pub fn ignored(&self, fields: &Fields) -> Vec<String> {
        let ignored = fields.ignored();
        if let Some(content) = &self.0 {
            content.lock().ignored.clone_from(&ignored);
        }
        ignored
    }

    /// Adds to a call what was recorded of its request's body.
    pub fn write(request: &HttpRequest, call: &mut RecordedCall) {
        let extensions = request.extensions();
        let Some(content) = extensions.get::<Self>().and_then(|record| record.0.as_ref()) else { return };
        let mut content = content.lock();
        call.files = std::mem::take(&mut content.files);
        if !content.ignored.is_empty() {
            call.ignored_parameters = std::mem::take(&mut content.ignored);
        }
        if !content.parameters.is_empty() {
            call.set_parameters(content.parameters.iter().map(|(name, value)| (&**name, &**value)));
        }
    }
}
