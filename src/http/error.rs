//! What goes wrong on the wire: one table of codes with their HTTP status, and the error answer made from it.
//!
//! The only place that knows both a code's name and its status. Texts of one endpoint live with that
//! endpoint; what the words of the product become is `error/words.rs`.

mod words;

pub(crate) use words::{escape_html, not_invited};

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

macro_rules! error_codes {
    ($($name:ident $status:ident)*) => {
        /// The word in `code` (conventions, section 4).
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = concat!("`", stringify!($name), "`, status ", stringify!($status), ".")] $name,)*
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The word as clients read it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }

            /// The HTTP status it travels with, unless the error says otherwise.
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
    INVALID_JSON                         BAD_REQUEST
    UNAUTHORIZED                         UNAUTHORIZED
    UNAUTHENTICATED_USER                 UNAUTHORIZED
    INVALID_API_KEY                      UNAUTHORIZED
    AUTHENTICATION_FAILED                UNAUTHORIZED
    USER_DEACTIVATED                     UNAUTHORIZED
    REALM_DEACTIVATED                    UNAUTHORIZED
    PASSWORD_AUTH_DISABLED               UNAUTHORIZED
    PASSWORD_RESET_REQUIRED              UNAUTHORIZED
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
    INVALID_PUSH_DEVICE_TOKEN            BAD_REQUEST
    INVALID_REMOTE_PUSH_DEVICE_TOKEN     BAD_REQUEST
    NO_ACTIVE_PUSH_DEVICE                BAD_REQUEST
    ADMIN_ACTION_REQUIRED                FORBIDDEN
    FAILED_TO_CONNECT_BOUNCER            BAD_GATEWAY
    INTERNAL_SERVER_ERROR_ON_BOUNCER     BAD_GATEWAY
    PUSH_SERVICE_NOT_CONFIGURED          BAD_REQUEST
    INVALID_BOUNCER_PUBLIC_KEY           BAD_REQUEST
    REQUEST_EXPIRED                      BAD_REQUEST
    MISSING_REMOTE_REALM                 FORBIDDEN
    REMOTE_REALM_SERVER_MISMATCH_ERROR   FORBIDDEN
    REMOTE_BILLING_UNAUTHENTICATED_USER  UNAUTHORIZED
    CSRF_FAILED                          FORBIDDEN
    SERVER_NOT_READY                     INTERNAL_SERVER_ERROR
    REQUEST_TIMEOUT                      SERVICE_UNAVAILABLE
    MISSING_HTTP_EVENT_HEADER            BAD_REQUEST
    ANOMALOUS_WEBHOOK_PAYLOAD            BAD_REQUEST
    UNSUPPORTED_WEBHOOK_EVENT_TYPE       OK
}

/// An error answer: `{"result":"error","msg":…,"code":…}` and what the code adds to it.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiError {
    code: Option<Code>,
    status: StatusCode,
    msg: Cow<'static, str>,
    extra: Vec<(&'static str, Value)>,
}

impl ApiError {
    /// An error with its code's own status. `msg` is what a person reads.
    pub fn new(code: Code, msg: impl Into<Cow<'static, str>>) -> Self {
        Self { code: Some(code), status: code.status(), msg: msg.into(), extra: Vec::new() }
    }

    /// BAD_REQUEST, status 400: the everyday refusal.
    pub fn bad_request(msg: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::BAD_REQUEST, msg)
    }

    /// BAD_REQUEST with status 404: a resource of the caller's own that is not there (section 3).
    pub fn resource_not_found(msg: impl Into<Cow<'static, str>>) -> Self {
        Self::bad_request(msg).status(StatusCode::NOT_FOUND)
    }

    /// No such path (section 3).
    pub fn not_found() -> Self {
        Self::new(Code::NOT_FOUND, "Not Found")
    }

    /// Neither credentials nor a session (section 1, row 1).
    pub fn not_logged_in() -> Self {
        Self::new(Code::UNAUTHORIZED, "Not logged in: API authentication or user session required")
    }

    /// The path exists, the method does not (section 1, row 0). The only 4xx without a code.
    pub fn method_not_allowed(methods: &[&str]) -> Self {
        let error = Self {
            code: None,
            status: StatusCode::METHOD_NOT_ALLOWED,
            msg: "Method Not Allowed".into(),
            extra: vec![],
        };
        error.with("allowed_methods", methods)
    }

    /// Our own fault. The text is fixed: what really happened goes to the log, not to the client.
    pub fn internal() -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self { code: None, status, msg: "Internal server error".into(), extra: Vec::new() }
    }

    /// The part of the server that would answer is behind or stopping: status 503, try again.
    pub fn unavailable(msg: impl Into<Cow<'static, str>>) -> Self {
        Self { code: None, status: StatusCode::SERVICE_UNAVAILABLE, msg: msg.into(), extra: Vec::new() }
    }

    /// The body is larger than this path reads: status 413.
    pub fn body_too_large(limit_bytes: usize) -> Self {
        Self::bad_request(format!("Request body is too large (limit: {limit_bytes} bytes)"))
            .status(StatusCode::PAYLOAD_TOO_LARGE)
    }

    /// Over a rate limit. The wait, in seconds, is also sent as `Retry-After` (section 4).
    pub fn rate_limited(retry_after_secs: f64) -> Self {
        Self::new(Code::RATE_LIMIT_HIT, "API usage exceeded rate limit").with("retry-after", retry_after_secs)
    }

    /// Parameters that exclude one another (section 2).
    pub fn unsupported_combination(names: &[&str]) -> Self {
        let names = names.join(", ");
        Self::bad_request(format!("Unsupported parameter combination: {names}")).with("parameters", names)
    }

    /// Adds a field beside `msg` and `code`.
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.extra.push((name, value.into()));
        self
    }

    /// Replaces the status of the table, for the few cases where a code has several.
    pub fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// The code, when there is one.
    pub fn code(&self) -> Option<Code> {
        self.code
    }

    /// The HTTP status.
    pub fn status_code(&self) -> StatusCode {
        self.status
    }

    /// The text for people.
    pub fn msg(&self) -> &str {
        &self.msg
    }

    /// A field added by [`ApiError::with`].
    pub fn extra(&self, name: &str) -> Option<&Value> {
        self.extra.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// The body, with a newline at its end.
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

    /// The whole answer: status, body, and the headers that belong to this error.
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

/// The type of every answer in the envelope.
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

    /// The table as published. A change here is a change clients see.
    const FROZEN: &str = "BAD_REQUEST 400, REQUEST_VARIABLE_MISSING 400, REQUEST_VARIABLE_INVALID 400, \
        REQUEST_CONFUSING_VAR 400, INVALID_JSON 400, UNAUTHORIZED 401, UNAUTHENTICATED_USER 401, \
        INVALID_API_KEY 401, AUTHENTICATION_FAILED 401, USER_DEACTIVATED 401, REALM_DEACTIVATED 401, \
        PASSWORD_AUTH_DISABLED 401, PASSWORD_RESET_REQUIRED 401, UNAUTHORIZED_PRINCIPAL 400, NOT_FOUND 404, \
        NONEXISTENT_SUBDOMAIN 404, RATE_LIMIT_HIT 429, STREAM_DOES_NOT_EXIST 400, CHANNEL_ALREADY_EXISTS 409, \
        STREAM_WILDCARD_MENTION_NOT_ALLOWED 400, TOPIC_WILDCARD_MENTION_NOT_ALLOWED 400, \
        MOVE_MESSAGES_TIME_LIMIT_EXCEEDED 400, EXPECTATION_MISMATCH 400, REACTION_ALREADY_EXISTS 400, \
        REACTION_DOES_NOT_EXIST 400, INVITATION_FAILED 400, BAD_EVENT_QUEUE_ID 400, BAD_NARROW 400, \
        CANNOT_DEACTIVATE_LAST_USER 400, CANNOT_DEACTIVATE_GROUP_IN_USE 400, SYSTEM_GROUP_REQUIRED 400, \
        BAD_IMAGE 400, REALM_UPLOAD_QUOTA 400, INVALID_PUSH_DEVICE_TOKEN 400, \
        INVALID_REMOTE_PUSH_DEVICE_TOKEN 400, NO_ACTIVE_PUSH_DEVICE 400, ADMIN_ACTION_REQUIRED 403, \
        FAILED_TO_CONNECT_BOUNCER 502, INTERNAL_SERVER_ERROR_ON_BOUNCER 502, PUSH_SERVICE_NOT_CONFIGURED 400, \
        INVALID_BOUNCER_PUBLIC_KEY 400, REQUEST_EXPIRED 400, MISSING_REMOTE_REALM 403, \
        REMOTE_REALM_SERVER_MISMATCH_ERROR 403, REMOTE_BILLING_UNAUTHENTICATED_USER 401, CSRF_FAILED 403, \
        SERVER_NOT_READY 500, REQUEST_TIMEOUT 503, MISSING_HTTP_EVENT_HEADER 400, ANOMALOUS_WEBHOOK_PAYLOAD 400, \
        UNSUPPORTED_WEBHOOK_EVENT_TYPE 200";

    #[test]
    fn the_table_is_frozen() {
        let rows = Code::ALL.iter().map(|code| format!("{} {}", code.name(), code.status().as_u16()));
        assert_eq!(rows.collect::<Vec<_>>().join(", "), FROZEN);
    }

    #[test]
    fn bodies_are_what_clients_know() {
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

        let response = ApiError::new(Code::INVALID_API_KEY, "Invalid API key").into_response();
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
