//! The page that a browser shows instead of an error: not found, too many requests, a form that has expired.

use super::{Link, MessagePage, login_path};
use crate::http::error::{ApiError, Code};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use askama::Template;

/// Turns an error into a page with the same status and headers. If it cannot be rendered, it stays JSON. `path` is what was opened;
/// where that is for accounts only, it is opened after the login.
pub fn problem_page(error: ApiError, path: &str) -> HttpResponse {
    let (title, text) = texts(&error);
    let is_for_accounts = error.status_code() == StatusCode::UNAUTHORIZED && !needs_token(&error);
    let login = login_path(path);
    let link = is_for_accounts.then_some(Link { path: &login, words: "Log in" });
    let html = MessagePage { organization: "", title, text: &text, link }.render();
    let mut response = error.into_response();
    let Ok(html) = html else { return response };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    crate::http::reply::protect_page(headers);
    response.set_body(actix_web::body::BoxBody::new(html))
}

/// Whether no login helps, because only a token of the operator opens it.
fn needs_token(error: &ApiError) -> bool {
    error.code() == Some(Code::AUTHENTICATION_FAILED)
}

fn texts(error: &ApiError) -> (&'static str, String) {
    if needs_token(error) {
        return ("This needs a token", error.msg().to_owned());
    }
    if error.code() == Some(Code::CSRF_FAILED) {
        let text =
            "Open the page again and repeat what you did. Your browser must accept cookies of this site.";
        return ("This form has expired", text.to_owned());
    }
    match error.status_code() {
        StatusCode::NOT_FOUND => (
            "This page does not exist",
            "The address may be wrong, or the page is not part of this server.".to_owned(),
        ),
        StatusCode::UNAUTHORIZED => {
            ("Log in to see this", "It is for people with an account in this organization.".to_owned())
        }
        StatusCode::METHOD_NOT_ALLOWED => {
            ("This page cannot be opened", "It belongs to a form of another page.".to_owned())
        }
        StatusCode::PAYLOAD_TOO_LARGE => {
            ("This is too large", "Go back, and send less with the form.".to_owned())
        }
        StatusCode::TOO_MANY_REQUESTS => {
            ("Too many requests", "Wait a moment, and then try again.".to_owned())
        }
        StatusCode::INTERNAL_SERVER_ERROR => {
            ("Something went wrong", "This was an error of the server. Try again later.".to_owned())
        }
        StatusCode::SERVICE_UNAVAILABLE => {
            ("The server is busy", "It cannot do this at the moment. Try again later.".to_owned())
        }
        _ => ("This does not work", error.msg().to_owned()),
    }
}
