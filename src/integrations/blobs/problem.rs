//! What the errors of the library for files mean, in one line each.

use crate::foreign_text::one_line;
use crate::integrations::certificate_problem::certificate_problem;
use object_store::client::{HttpError, HttpErrorKind};

/// Longest error code of a service, in bytes.
const CODE_BYTES_MAX: usize = 64;
/// Begins the library's text of an answer with an error: the status and the content follow.
const STATUS_TEXT: &str = "Server returned non-2xx status code: ";
/// Begins the library's text of a redirect without a destination.
const REDIRECT_TEXT: &str = "Received redirect without LOCATION";
/// Begins the library's text of an answer with status 200 whose content is an error.
const CONTENT_TEXT: &str = "Server returned error response: ";

/// An error of the library in one line, without its addresses and without what the service sent, which may contain keys.
pub(super) fn problem_text(error: &object_store::Error) -> String {
    if let Some(problem) = certificate_problem(error) {
        return problem;
    }
    let of_service = causes(error).find_map(|cause| match cause.downcast_ref::<HttpError>() {
        Some(failure) => Some(connection_text(failure)),
        None => answer_text(&cause.to_string()),
    });
    of_service.unwrap_or_else(|| {
        let text = match error {
            object_store::Error::Generic { source, .. } => source.to_string(),
            other => other.to_string(),
        };
        one_line(text.lines().next().unwrap_or_default())
    })
}

/// Why there is no answer.
fn connection_text(failure: &HttpError) -> String {
    let innermost = causes(failure).last().map(one_line).unwrap_or_default();
    match failure.kind() {
        HttpErrorKind::Timeout => "the service does not answer in time".to_owned(),
        HttpErrorKind::Connect => format!("the service cannot be reached: {innermost}"),
        _ => format!("the connection to the service broke: {innermost}"),
    }
}

/// What an answer with an error means; none if the text is about something else.
fn answer_text(text: &str) -> Option<String> {
    const WRONG_ENDPOINT: &str = "the service is elsewhere: check the endpoint and the region";
    if text.starts_with(REDIRECT_TEXT) {
        return Some(WRONG_ENDPOINT.to_owned());
    }
    let (status, content) = match (text.strip_prefix(STATUS_TEXT), text.strip_prefix(CONTENT_TEXT)) {
        (Some(rest), _) => (rest.split(' ').next()?.trim_end_matches(':').parse::<u16>().ok()?, rest),
        (None, Some(content)) => (200, content),
        (None, None) => return None,
    };
    let code = code_in(content);
    let meaning = match (status, code) {
        (_, Some("NoSuchBucket")) => "there is no such bucket",
        (_, Some("InvalidAccessKeyId" | "SignatureDoesNotMatch")) => "the service refuses the key",
        (401 | 403, _) => "the key has no right to this",
        (404, _) => "the service has no such bucket or file",
        (429 | 503, _) | (_, Some("SlowDown")) => "the service is busy or not available",
        (300..=399, _) => WRONG_ENDPOINT,
        (200 | 500..=599, _) => "the service failed",
        _ => "the service refuses the request",
    };
    let code = code.map(|code| format!(" {code}")).unwrap_or_default();
    Some(format!("{meaning} (status {status}{code})"))
}

/// The error code in the content of an answer, if it is a word.
fn code_in(content: &str) -> Option<&str> {
    let (code, _) = content.split_once("<Code>")?.1.split_once("</Code>")?;
    let is_word = code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_word && !code.is_empty() && code.len() <= CODE_BYTES_MAX).then_some(code)
}

/// An error and its causes, the outermost first.
pub(super) fn causes<'e>(
    error: &'e (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'e (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| error.source())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_a_meaning() {
        for (text, expected) in [
            (
                "Server returned non-2xx status code: 503 Service Unavailable: <Code>SlowDown</Code>",
                Some("the service is busy or not available (status 503 SlowDown)"),
            ),
            (
                "Server returned non-2xx status code: 403 Forbidden: ",
                Some("the key has no right to this (status 403)"),
            ),
            (
                "Server returned non-2xx status code: 400 Bad Request: <Code>a b</Code>",
                Some("the service refuses the request (status 400)"),
            ),
            (
                "Server returned error response: <Code>InternalError</Code>",
                Some("the service failed (status 200 InternalError)"),
            ),
            ("Error performing GET http://127.0.0.1", None),
        ] {
            assert_eq!(answer_text(text).as_deref(), expected, "{text}");
        }
    }
}
