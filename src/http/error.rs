//! Errors on the wire: the table of codes with their HTTP status, and the error response.
//!
//! The only place that knows both a code's name and its status. `domain` maps the errors of the actors and rules;
//! texts of one endpoint are defined there.

pub(crate) mod domain;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actors::Pause;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

macro_rules! error_codes {
    ($($name:ident $status:ident)*) => {
        /// The value of `code`.
        #[allow(non_camel_case_types, reason = "the variants have the names that clients read")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = concat!("`", stringify!($name), "`, status ", stringify!($status), ".")] $name,)*
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The name that clients read.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }

            /// The code of a name.
            pub fn of_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|code| code.name() == name)
            }

            /// The default HTTP status.
            pub const fn status(self) -> StatusCode {
                match self { $(Self::$name => StatusCode::$status,)* }
            }
        }
    };
}

error_codes! {
    BAD_REQUEST                          BAD_REQUEST
    REQUEST_VARIABLE_MISSING             BAD_REQUEST
    REQUEST_VARIABLE_INVALID             BAD_REQUEST
    REQUEST_CONFUSING_VAR                BAD_REQUEST
    UNAUTHORIZED                         UNAUTHORIZED
    INVALID_API_KEY                      UNAUTHORIZED
    AUTHENTICATION_FAILED                UNAUTHORIZED
    USER_DEACTIVATED                     UNAUTHORIZED
    REALM_DEACTIVATED                    UNAUTHORIZED
    PASSWORD_AUTH_DISABLED               UNAUTHORIZED
    UNAUTHORIZED_PRINCIPAL               BAD_REQUEST
    NOT_FOUND                            NOT_FOUND
    NONEXISTENT_SUBDOMAIN                NOT_FOUND
    RATE_LIMIT_HIT                       TOO_MANY_REQUESTS
    STREAM_DOES_NOT_EXIST                BAD_REQUEST
    CHANNEL_ALREADY_EXISTS               CONFLICT
    STREAM_WILDCARD_MENTION_NOT_ALLOWED  BAD_REQUEST
    TOPIC_WILDCARD_MENTION_NOT_ALLOWED   BAD_REQUEST
    MOVE_MESSAGES_TIME_LIMIT_EXCEEDED    BAD_REQUEST
    EXPECTATION_MISMATCH                 BAD_REQUEST
    REACTION_ALREADY_EXISTS              BAD_REQUEST
    REACTION_DOES_NOT_EXIST              BAD_REQUEST
    INVITATION_FAILED                    BAD_REQUEST
    BAD_EVENT_QUEUE_ID                   BAD_REQUEST
    BAD_NARROW                           BAD_REQUEST
    CANNOT_DEACTIVATE_LAST_USER          BAD_REQUEST
    CANNOT_DEACTIVATE_GROUP_IN_USE       BAD_REQUEST
    SYSTEM_GROUP_REQUIRED                BAD_REQUEST
    BAD_IMAGE                            BAD_REQUEST
    REALM_UPLOAD_QUOTA                   BAD_REQUEST
    MISSING_HTTP_EVENT_HEADER            BAD_REQUEST
    ANOMALOUS_WEBHOOK_PAYLOAD            BAD_REQUEST
    INVALID_PUSH_DEVICE_TOKEN            BAD_REQUEST
    INVALID_REMOTE_PUSH_DEVICE_TOKEN     BAD_REQUEST
    NO_ACTIVE_PUSH_DEVICE                BAD_REQUEST
    ADMIN_ACTION_REQUIRED                FORBIDDEN
    CSRF_FAILED                          FORBIDDEN
    FAILED_TO_CONNECT_BOUNCER            BAD_GATEWAY
    INTERNAL_SERVER_ERROR_ON_BOUNCER     BAD_GATEWAY
    PUSH_SERVICE_NOT_CONFIGURED          BAD_REQUEST
    SERVER_OVERLOADED                    SERVICE_UNAVAILABLE
    SERVER_STOPPING                      SERVICE_UNAVAILABLE
    STORAGE_FULL                         SERVICE_UNAVAILABLE
    STORAGE_UNAVAILABLE                  SERVICE_UNAVAILABLE
    FILES_UNAVAILABLE                    SERVICE_UNAVAILABLE
    LDAP_UNAVAILABLE                     SERVICE_UNAVAILABLE
    SEARCH_NOT_READY                     SERVICE_UNAVAILABLE
}

/// An error response: `{"result":"error","msg":…,"code":…}` and the fields that the code adds.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiError {
    code: Option<Code>,
    status: StatusCode,
    msg: Cow<'static, str>,
    extra: Vec<(&'static str, Value)>,
}

impl ApiError {
    /// An error with its code's default status. `msg` is shown to people.
    pub fn new(code: Code, msg: impl Into<Cow<'static, str>>) -> Self {
        Self { code: Some(code), status: code.status(), msg: msg.into(), extra: Vec::new() }
    }

    /// BAD_REQUEST, status 400: the ordinary refusal.
    pub fn bad_request(msg: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::BAD_REQUEST, msg)
    }

    /// The path does not exist.
    pub fn not_found() -> Self {
        Self::new(Code::NOT_FOUND, "Not Found")
    }

    /// The request has no credentials.
    pub fn not_logged_in() -> Self {
        Self::new(Code::UNAUTHORIZED, "Not logged in: API authentication or user session required")
    }

    /// The path exists, the method does not. The only 4xx error without a code.
    pub fn method_not_allowed(methods: &[&str]) -> Self {
        let error = Self {
            code: None,
            status: StatusCode::METHOD_NOT_ALLOWED,
            msg: "Method Not Allowed".into(),
            extra: vec![],
        };
        error.with("allowed_methods", methods)
    }

    /// An internal error. The text is fixed: the cause is logged, not sent.
    pub fn internal() -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self { code: None, status, msg: "Internal server error".into(), extra: Vec::new() }
    }

    /// SERVER_OVERLOADED: retry in a second.
    pub fn unavailable(msg: impl Into<Cow<'static, str>>) -> Self {
        Self::retry_later(Code::SERVER_OVERLOADED, msg, 1.0)
    }

    /// A temporary error, with the seconds after which a client should retry (`Retry-After`).
    pub fn retry_later(code: Code, msg: impl Into<Cow<'static, str>>, secs: f64) -> Self {
        Self::new(code, msg).with("retry-after", secs)
    }

    /// SERVER_STOPPING: the process is shutting down.
    pub fn stopping() -> Self {
        Self::retry_later(Code::SERVER_STOPPING, "The server is restarting; try again in a moment", 1.0)
    }

    /// STORAGE_FULL or STORAGE_UNAVAILABLE: changes are refused until the disk has room or works again.
    pub fn paused(pause: Pause) -> Self {
        let code = if pause.needs_space() { Code::STORAGE_FULL } else { Code::STORAGE_UNAVAILABLE };
        let mut msg = pause.to_string();
        msg[..1].make_ascii_uppercase();
        Self::retry_later(code, msg, STORAGE_RETRY_SECS)
    }

    /// STORAGE_UNAVAILABLE: a disk error; the details are logged only.
    pub fn storage_unavailable() -> Self {
        let msg = "The server cannot store or read its data at the moment";
        Self::retry_later(Code::STORAGE_UNAVAILABLE, msg, STORAGE_RETRY_SECS)
    }

    /// Status 413: the body is larger than this path accepts.
    pub fn body_too_large(limit_bytes: usize) -> Self {
        Self::bad_request(format!("Request body is too large (limit: {limit_bytes} bytes)"))
            .status(StatusCode::PAYLOAD_TOO_LARGE)
    }

    /// RATE_LIMIT_HIT. The wait, in seconds, is also sent as `Retry-After`.
    pub fn rate_limited(retry_after_secs: f64) -> Self {
        Self::new(Code::RATE_LIMIT_HIT, "API usage exceeded rate limit").with("retry-after", retry_after_secs)
    }

    /// Parameters that exclude one another.
    pub fn unsupported_combination(names: &[&str]) -> Self {
        let names = names.join(", ");
        Self::bad_request(format!("Unsupported parameter combination: {names}")).with("parameters", names)
    }

    /// Adds a field beside `msg` and `code`.
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.extra.push((name, value.into()));
        self
    }

    /// Adds to the text that the body was not read, because the parameters are probably in it.
    pub fn with_body_hint(mut self) -> Self {
        let msg = format!(
            "{} (the request's body was not read: parameters are sent form-encoded, as \
             application/x-www-form-urlencoded or multipart/form-data, and not as JSON)",
            self.msg
        );
        self.msg = msg.into();
        self
    }

    /// Overrides the default status.
    pub fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// The code, if there is one.
    pub fn code(&self) -> Option<Code> {
        self.code
    }

    /// The HTTP status of the response.
    pub fn status_code(&self) -> StatusCode {
        self.status
    }

    /// The text shown to people.
    pub fn msg(&self) -> &str {
        &self.msg
    }

    /// A field added by [`ApiError::with`].
    pub fn extra(&self, name: &str) -> Option<&Value> {
        self.extra.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// The JSON body, with a newline at its end.
    pub fn render_json(&self) -> String {
        let mut body = String::with_capacity(96 + self.msg.len());
        body.push_str(r#"{"result":"error","msg":"#);
        body.push_str(&Value::from(self.msg.as_ref()).to_string());
        if let Some(code) = self.code {
            body.push_str(r#","code":""#);
            body.push_str(code.name());
            body.push('"');
        }
        for (name, value) in &self.extra {
            body.push_str(&format!(r#","{name}":{value}"#));
        }
        body.push_str("}\n");
        body
    }

    /// The complete response: status, body, and the headers that belong to the error.
    pub fn into_response(self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status);
        response.insert_header((header::CONTENT_TYPE, JSON));
        if self.code == Some(Code::UNAUTHORIZED) {
            response.insert_header((header::WWW_AUTHENTICATE, BASIC_REALM));
        }
        if let Some(wait) = self.extra("retry-after") {
            response.insert_header((header::RETRY_AFTER, wait.to_string()));
        }
        if let Some(methods) = self.extra("allowed_methods").and_then(Value::as_array) {
            let methods: Vec<&str> = methods.iter().filter_map(Value::as_str).collect();
            response.insert_header((header::ALLOW, methods.join(", ")));
        }
        response.body(self.render_json())
    }
}

/// Seconds after which clients should retry what the disk refused.
pub(super) const STORAGE_RETRY_SECS: f64 = 10.0;

/// The content type of every response in the envelope.
pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");
const BASIC_REALM: HeaderValue = HeaderValue::from_static("Basic realm=\"zulip\"");

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.status.as_u16(), self.code.map_or("-", Code::name), self.msg)
    }
}

impl std::error::Error for ApiError {}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::body::to_bytes;

    /// The table as published. Changes are visible to clients.
    const FROZEN: &str = "BAD_REQUEST 400, REQUEST_VARIABLE_MISSING 400, REQUEST_VARIABLE_INVALID 400, \
        REQUEST_CONFUSING_VAR 400, UNAUTHORIZED 401, INVALID_API_KEY 401, AUTHENTICATION_FAILED 401, USER_DEACTIVATED 401, \
        REALM_DEACTIVATED 401, PASSWORD_AUTH_DISABLED 401, UNAUTHORIZED_PRINCIPAL 400, NOT_FOUND 404, \
        NONEXISTENT_SUBDOMAIN 404, RATE_LIMIT_HIT 429, STREAM_DOES_NOT_EXIST 400, \
        CHANNEL_ALREADY_EXISTS 409, STREAM_WILDCARD_MENTION_NOT_ALLOWED 400, \
        TOPIC_WILDCARD_MENTION_NOT_ALLOWED 400, MOVE_MESSAGES_TIME_LIMIT_EXCEEDED 400, \
        EXPECTATION_MISMATCH 400, REACTION_ALREADY_EXISTS 400, REACTION_DOES_NOT_EXIST 400, \
        INVITATION_FAILED 400, BAD_EVENT_QUEUE_ID 400, BAD_NARROW 400, CANNOT_DEACTIVATE_LAST_USER 400, \
        CANNOT_DEACTIVATE_GROUP_IN_USE 400, SYSTEM_GROUP_REQUIRED 400, BAD_IMAGE 400, \
        REALM_UPLOAD_QUOTA 400, MISSING_HTTP_EVENT_HEADER 400, ANOMALOUS_WEBHOOK_PAYLOAD 400, \
        INVALID_PUSH_DEVICE_TOKEN 400, INVALID_REMOTE_PUSH_DEVICE_TOKEN 400, NO_ACTIVE_PUSH_DEVICE 400, \
        ADMIN_ACTION_REQUIRED 403, CSRF_FAILED 403, FAILED_TO_CONNECT_BOUNCER 502, INTERNAL_SERVER_ERROR_ON_BOUNCER 502, \
        PUSH_SERVICE_NOT_CONFIGURED 400, SERVER_OVERLOADED 503, SERVER_STOPPING 503, STORAGE_FULL 503, \
        STORAGE_UNAVAILABLE 503, FILES_UNAVAILABLE 503, LDAP_UNAVAILABLE 503, SEARCH_NOT_READY 503";

    #[test]
    fn error_codes_are_frozen() {
        let rows = Code::ALL.iter().map(|code| format!("{} {}", code.name(), code.status().as_u16()));
        assert_eq!(rows.collect::<Vec<_>>().join(", "), FROZEN);
    }

    #[test]
    fn error_bodies() {
        let cases = [
            (
                ApiError::not_logged_in(),
                r#"{"result":"error","msg":"Not logged in: API authentication or user session required","code":"UNAUTHORIZED"}"#,
            ),
            (
                ApiError::method_not_allowed(&["GET", "POST", "HEAD"]),
                r#"{"result":"error","msg":"Method Not Allowed","allowed_methods":["GET","POST","HEAD"]}"#,
            ),
            (
                ApiError::new(Code::BAD_EVENT_QUEUE_ID, "Bad event queue ID: a\"b").with("queue_id", "a\"b"),
                r#"{"result":"error","msg":"Bad event queue ID: a\"b","code":"BAD_EVENT_QUEUE_ID","queue_id":"a\"b"}"#,
            ),
            (ApiError::not_found(), r#"{"result":"error","msg":"Not Found","code":"NOT_FOUND"}"#),
            (ApiError::internal(), r#"{"result":"error","msg":"Internal server error"}"#),
            (
                ApiError::rate_limited(0.5),
                r#"{"result":"error","msg":"API usage exceeded rate limit","code":"RATE_LIMIT_HIT","retry-after":0.5}"#,
            ),
            (
                ApiError::unsupported_combination(&["a", "b"]),
                r#"{"result":"error","msg":"Unsupported parameter combination: a, b","code":"BAD_REQUEST","parameters":"a, b"}"#,
            ),
        ];
        for (error, body) in cases {
            assert_eq!(error.render_json(), format!("{body}\n"));
        }
    }

    #[actix_web::test]
    async fn headers_follow_the_error() {
        let response = ApiError::not_logged_in().into_response();
        assert_eq!(response.headers().get("WWW-Authenticate").unwrap(), "Basic realm=\"zulip\"");
        assert_eq!(response.headers().get("Content-Type").unwrap(), "application/json");

        let response = ApiError::new(Code::UNAUTHORIZED, "Invalid API key").into_response();
        assert_eq!(response.status(), 401);
        assert_eq!(response.headers().get("WWW-Authenticate").unwrap(), "Basic realm=\"zulip\"");

        let response = ApiError::new(Code::USER_DEACTIVATED, "Account is deactivated").into_response();
        assert_eq!(response.status(), 401);
        assert!(response.headers().get("WWW-Authenticate").is_none());

        let response = ApiError::rate_limited(1.25).into_response();
        assert_eq!(response.headers().get("Retry-After").unwrap(), "1.25");

        let response = ApiError::method_not_allowed(&["POST"]).into_response();
        assert_eq!(
            (response.status().as_u16(), response.headers().get("Allow").unwrap()),
            (405, &"POST".parse().unwrap())
        );
        assert!(to_bytes(response.into_body()).await.unwrap().ends_with(b"}\n"));

        assert_eq!(ApiError::body_too_large(9).into_response().status(), 413);
    }
}
