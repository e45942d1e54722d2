//! Cross-origin rules: which web pages may read a response, and which calls a development server restricts to its own
//! machine.
//!
//! The API allows every origin, because its callers authenticate with each call and other pages have no key. Web
//! pages for people do not, and neither do calls of a development server that give out keys without authentication:
//! those are refused to pages of other machines, and for host names that are not the server's own, because the owner
//! of such a name could point it anywhere (DNS rebinding).

use super::app::App;
use super::error::ApiError;
use crate::hosts::{Hosts, is_loopback};
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderMap, HeaderValue};

const ANY_ORIGIN: HeaderValue = HeaderValue::from_static("*");

/// The origins that may read the responses of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origins {
    /// Every origin: the route is protected by keys, or public.
    Any,
    /// The server's own origin only.
    Own,
    /// Every origin; on a development server, where no key is needed, only those of the same machine.
    Developers,
}

/// The origins that may read one response.
#[derive(Clone, Debug, Default)]
pub enum Readers {
    #[default]
    Any,
    Own,
    /// The origin that asks, if it may: to another one, or to none, the answer is another one.
    ByOrigin(Option<HeaderValue>),
}

impl Readers {
    /// Those of the refusal of a route's request.
    pub fn of_refusal(app: &App, origins: Origins) -> Self {
        match origins {
            Origins::Developers if app.is_development => Self::ByOrigin(None),
            Origins::Any | Origins::Own | Origins::Developers => Self::Own,
        }
    }

    /// Whether pages of other origins may read it.
    pub fn has_others(&self) -> bool {
        !matches!(self, Self::Own | Self::ByOrigin(None))
    }

    /// Adds the CORS headers.
    pub fn write_headers(self, headers: &mut HeaderMap) {
        match self {
            Self::Any => headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY_ORIGIN),
            Self::Own => return,
            Self::ByOrigin(origin) => {
                headers.append(header::VARY, HeaderValue::from_static("Origin"));
                match origin {
                    Some(origin) => headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin),
                    None => return,
                }
            }
        };
    }
}

/// The origins that may read the response to a request. Status 403 on a development server for a page of another
/// machine, and for a host name that is not this machine's.
pub fn check_origin(app: &App, origins: Origins, headers: &HeaderMap) -> Result<Readers, ApiError> {
    match origins {
        Origins::Any => Ok(Readers::Any),
        Origins::Own => Ok(Readers::Own),
        Origins::Developers if !app.is_development => Ok(Readers::Any),
        Origins::Developers => check_local(&app.hosts, headers),
    }
}

fn check_local(hosts: &Hosts, headers: &HeaderMap) -> Result<Readers, ApiError> {
    let host = headers.get(header::HOST).map(|host| host.to_str().unwrap_or_default());
    // Programs may omit it; browsers never do.
    if let Some(host) = host
        && !hosts.is_ours(host)
    {
        return Err(refusal(
            "this server is not known by the name it was called by; set external_url \
             (MILLSTREAM_EXTERNAL_URL) to the address that you use",
        ));
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(Readers::ByOrigin(None)) };
    let text = origin.to_str().unwrap_or_default();
    let authority = text.split_once("://").map(|(_, authority)| authority);
    let is_same =
        authority.is_some_and(|authority| host.is_some_and(|host| host.eq_ignore_ascii_case(authority)));
    if !is_same && !authority.is_some_and(is_loopback) && !hosts.is_external_origin(text) {
        return Err(refusal("it was called by a web page of another machine"));
    }
    Ok(Readers::ByOrigin(Some(origin.clone())))
}

fn refusal(why: &str) -> ApiError {
    let msg = format!("This call is for developers on the machine of the development server: {why}.");
    ApiError::bad_request(msg).status(StatusCode::FORBIDDEN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Overrides};

    fn hosts(listen: &str, external_url: &str) -> Hosts {
        let flags = Overrides::default().set("listen", "test", Some(listen)).set(
            "external_url",
            "test",
            Some(external_url),
        );
        Hosts::new(&Config::load(None, [], flags).unwrap(), true)
    }

    fn status(hosts: &Hosts, host: &str, origin: &str) -> u16 {
        let mut headers = HeaderMap::new();
        for (name, value) in [(header::HOST, host), (header::ORIGIN, origin)] {
            if !value.is_empty() {
                headers.insert(name, HeaderValue::from_str(value).unwrap());
            }
        }
        check_local(hosts, &headers).map_or_else(|error| error.status_code().as_u16(), |_| 200)
    }

    #[test]
    fn unknown_host_names_are_refused() {
        let local = hosts("127.0.0.1:9991", "");
        for host in [
            "",
            "localhost:9991",
            "LOCALHOST",
            "beta.localhost:9991",
            "127.0.0.1:9991",
            "[::1]:9991",
            "10.0.2.2:9991",
            "192.168.1.5",
        ] {
            assert_eq!(status(&local, host, ""), 200, "{host}");
        }
        for host in
            ["evil.example", "evil.example:9991", "localhost.evil.example", "203.0.113.9", "evil", "@"]
        {
            assert_eq!(status(&local, host, ""), 403, "{host}");
        }
        let open = hosts("0.0.0.0:9991", "http://chat.example.com:9991");
        for host in ["chat.example.com:9991", "beta.chat.example.com", "203.0.113.9:9991", "millstream:9991"]
        {
            assert_eq!(status(&open, host, ""), 200, "{host}");
        }
        assert_eq!(status(&open, "evil.example:9991", ""), 403);
        assert_eq!(status(&hosts("203.0.113.9:80", ""), "203.0.113.9", ""), 200);
    }

    #[test]
    fn pages_of_other_machines_are_refused() {
        let local = hosts("127.0.0.1:9991", "");
        let host = "localhost:9991";
        for origin in
            ["http://localhost:9991", "http://localhost:3000", "http://127.0.0.1", "http://[::1]:3000"]
        {
            assert_eq!(status(&local, host, origin), 200, "{origin}");
        }
        for origin in [
            "null",
            "https://evil.example",
            "http://localhost.evil.example",
            "http://evil.example:9991",
            "http://192.168.1.9",
            "localhost",
            "http://127.0.0.1.evil.example",
        ] {
            assert_eq!(status(&local, host, origin), 403, "{origin}");
        }
        // A page of the server itself, at any address.
        assert_eq!(status(&local, "192.168.1.5:9991", "http://192.168.1.5:9991"), 200);
        assert_eq!(status(&local, "192.168.1.5:9991", "http://192.168.1.5:80"), 403);
        let open = hosts("0.0.0.0:9991", "https://chat.example.com");
        assert_eq!(status(&open, host, "https://chat.example.com"), 200);
        assert_eq!(status(&open, host, "http://chat.example.com"), 403);
    }
}
