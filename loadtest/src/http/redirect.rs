//! Redirects are not followed: what is measured is the server at the given address. An error says which address to give.

use super::target::Target;
use crate::error::LoadError;

/// What paths of the API begin with.
const API: &str = "/api/v1/";

/// Whether a status sends the client to another address.
pub fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// A location without its query and fragment, which may have secrets, and other paths than its own.
pub fn without_parameters(location: &str) -> &str {
    location.split(['?', '#']).next().unwrap_or_default()
}

/// The error of a redirect to `location`, with the address to give instead of the target's.
pub fn refuse(call: String, status: u16, location: Option<&str>, target: &Target) -> LoadError {
    let location = location.map(without_parameters);
    let advice = advise(target, location);
    let location = location.unwrap_or("no address").to_owned();
    LoadError::Redirected { call, status, location, advice }
}

fn advise(target: &Target, location: Option<&str>) -> String {
    let scheme = if target.tls.is_some() { "https" } else { "http" };
    let own = format!("{scheme}://{}", target.host);
    let Some(location) = location else {
        return format!("it does not say where (no Location), so find out why {own} sends clients elsewhere");
    };
    let (origin, path) = split(scheme, &own, location);
    let Some(origin) = origin else {
        return format!(
            "that is no address of http:// or https://, so find out why {own} sends clients there"
        );
    };
    let is_own = origin.eq_ignore_ascii_case(&own);
    match path.find(API) {
        Some(0) if is_own => {
            format!(
                "that is another path of the same server, so a proxy at {own} changes paths: give the address of the server behind it"
            )
        }
        Some(0) => format!("use {origin} as the URL{}", allowance(&origin)),
        Some(_) => format!(
            "the API is below another path there, and loadtest needs it at {API}: give the address of the server behind that proxy"
        ),
        None if is_own => {
            format!(
                "that is no path of the API, so {own} is not a server of the Zulip API, or it wants a login before: give another address as the URL"
            )
        }
        None => format!("if the API is there, use {origin} as the URL{}", allowance(&origin)),
    }
}

/// What else an address needs, if it is one of another machine.
fn allowance(origin: &str) -> &'static str {
    match Target::local(origin) {
        Err(error) if error.to_string().contains("--allow-remote") => {
            ", with --allow-remote if its operator agrees"
        }
        Ok(_) | Err(_) => "",
    }
}

/// The origin and the path of a location without parameters, which may be relative to the server's own; no origin if its scheme is another.
fn split(scheme: &str, own: &str, location: &str) -> (Option<String>, String) {
    let absolute = match location.strip_prefix("//") {
        Some(rest) => format!("{scheme}://{rest}"),
        None => location.to_owned(),
    };
    let Some((given, rest)) = absolute.split_once("://") else { return (Some(own.to_owned()), absolute) };
    if absolute.starts_with('/') {
        return (Some(own.to_owned()), absolute);
    }
    let end = rest.find('/').unwrap_or(rest.len());
    let is_http = given.eq_ignore_ascii_case("http") || given.eq_ignore_ascii_case("https");
    let origin = is_http.then(|| format!("{}://{}", given.to_ascii_lowercase(), &rest[..end]));
    (origin, rest[end..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_says_which_address_to_give() {
        let target = Target::local("http://127.0.0.1:9991").unwrap();
        for (location, part) in [
            ("https://127.0.0.1:9991/api/v1/server_settings", "use https://127.0.0.1:9991 as the URL"),
            ("HTTPS://localhost/api/v1/messages", "use https://localhost as the URL"),
            ("//localhost:8000/api/v1/messages?x", "use http://localhost:8000 as the URL"),
            (
                "https://chat.example.org/api/v1/users/me",
                "use https://chat.example.org as the URL, with --allow-remote if its operator agrees",
            ),
            ("http://127.0.0.1:9991/api/v1/users/me/", "another path of the same server"),
            ("/api/v1/users/me/", "another path of the same server"),
            ("https://chat.example.org/zulip/api/v1/users/me", "below another path"),
            ("/login/?next=http://x", "not a server of the Zulip API"),
            ("/login/?next=/api/v1/server_settings", "no path of the API, so"),
            ("http://127.0.0.1:9991/login#/api/v1/users/me", "it wants a login before"),
            (
                "https://sso.example.org?next=/api/v1/messages",
                "if the API is there, use https://sso.example.org as",
            ),
            ("https://sso.example.org", "if the API is there, use https://sso.example.org as the URL"),
            ("ftp://127.0.0.1/api/v1/users/me", "no address of http:// or https://"),
        ] {
            let error = refuse("GET /x".to_owned(), 302, Some(location), &target).to_string();
            assert!(error.contains(part) && !error.contains(['?', '#']), "{location}: {error}");
        }
        assert!(advise(&target, None).contains("no Location"));
    }
}
