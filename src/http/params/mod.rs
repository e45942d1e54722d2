//! Request parameters: from the query string and the body of any method to a typed request.
//!
//! `parse` turns bytes into names and values, `fields` gives typed access to them with the API's error texts, and
//! `json` does so inside JSON values. Parameters that no endpoint read are reported.

mod fields;
mod json;
pub(in crate::http) mod multipart;
mod parse;
#[cfg(test)]
mod tests;

pub use fields::{check_length_max, check_not_blank};
pub use json::{Json, JsonField, JsonObject};
pub use parse::{BodyKind, Fields};

use super::error::ApiError;

/// A request that can be read from parameters.
///
/// Read in declaration order: the first error is the one reported. Read everything here, also for shared helpers,
/// because parameters that are not read are listed in `ignored_parameters_unsupported`.
pub trait FromFields: Sized {
    /// Reads the known parameters; the error is the response.
    fn from_fields(fields: &Fields) -> Result<Self, ApiError>;
}

/// For endpoints whose parameters are all in the path: nothing is read, everything is reported as ignored.
impl FromFields for () {
    fn from_fields(_: &Fields) -> Result<Self, ApiError> {
        Ok(())
    }
}

/// The parameters of a request, as an argument of a handler.
///
/// An endpoint that takes no `Params` at all never reports ignored parameters.
#[derive(Clone, Debug)]
pub struct Params<T>(pub T);
