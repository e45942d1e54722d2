//! `page_params`: what the app reads from the page before anything else. It validates all of it, so that a missing or
//! mistyped field is a page that never starts; `tests/web_app/fields.txt` lists them.

use crate::api::events::register::web_page::PRESENCE_DAYS;
use crate::http::ApiError;
use crate::pages::LOGIN_PAGE;
use crate::web_app::languages::Language;
use bytes::Bytes;
use serde::Serialize;

/// Where people download apps.
const APPS: &str = "https://zulip.com/apps/";

/// One condition of a window for one conversation.
#[derive(Clone, Debug, Serialize)]
pub struct Term {
    pub operator: &'static str,
    pub operand: String,
}

/// A window for one conversation.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Conversation {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub narrow: Vec<Term>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub narrow_stream: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub narrow_topic: Option<String>,
}

/// The parameters but for translations and state, which are encoded already.
#[derive(Debug, Serialize)]
pub struct PageParams<'p> {
    pub page_type: &'static str,
    pub development_environment: bool,
    pub request_language: &'p str,
    pub test_suite: bool,
    pub insecure_desktop_app: bool,
    pub corporate_enabled: bool,
    pub embedded_bots_enabled: bool,
    pub two_fa_enabled: bool,
    pub two_fa_enabled_user: bool,
    pub promote_sponsoring_zulip: bool,
    pub show_try_zulip_modal: bool,
    pub warn_no_email: bool,
    pub show_webathena: bool,
    pub login_page: &'static str,
    pub apps_page_url: &'static str,
    pub language_list: &'p [Language],
    /// The cookie with the language that a spectator chose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language_cookie_name: Option<&'static str>,
    /// Unknown: the app then never offers to mark old messages as read.
    pub furthest_read_time: Option<u64>,
    pub is_spectator: bool,
    pub no_event_queue: bool,
    pub presence_history_limit_days_for_web_app: u32,
    pub realm_rendered_description: &'p str,
    #[serde(flatten)]
    pub conversation: Conversation,
}

/// What differs from page to page.
#[derive(Debug)]
pub struct Facts<'f> {
    pub request_language: &'f str,
    pub language_list: &'f [Language],
    pub insecure_desktop_app: bool,
    pub warn_no_email: bool,
    pub realm_rendered_description: &'f str,
    pub conversation: Conversation,
    /// Present on pages for spectators without an account.
    pub language_cookie_name: Option<&'static str>,
}

impl<'p> PageParams<'p> {
    /// The parameters of a page.
    pub fn new(facts: Facts<'p>) -> Self {
        Self {
            page_type: "home",
            development_environment: false,
            request_language: facts.request_language,
            test_suite: false,
            insecure_desktop_app: facts.insecure_desktop_app,
            corporate_enabled: false,
            embedded_bots_enabled: false,
            two_fa_enabled: false,
            two_fa_enabled_user: false,
            promote_sponsoring_zulip: false,
            show_try_zulip_modal: false,
            warn_no_email: facts.warn_no_email,
            show_webathena: false,
            login_page: LOGIN_PAGE,
            apps_page_url: APPS,
            language_list: facts.language_list,
            furthest_read_time: None,
            language_cookie_name: facts.language_cookie_name,
            is_spectator: facts.language_cookie_name.is_some(),
            no_event_queue: facts.language_cookie_name.is_some(),
            presence_history_limit_days_for_web_app: PRESENCE_DAYS,
            realm_rendered_description: facts.realm_rendered_description,
            conversation: facts.conversation,
        }
    }

    /// All parameters as one JSON object in parts: these, the translations, and the state.
    pub fn encode(&self, translations: Bytes, state: Vec<Bytes>) -> Result<Vec<Bytes>, ApiError> {
        let mut own = serde_json::to_vec(self).map_err(|error| {
            tracing::error!(%error, "the parameters of a page could not be encoded");
            ApiError::internal()
        })?;
        own.pop();
        own.extend_from_slice(b",\"translation_data\":");
        let mut parts = vec![own.into(), translations, Bytes::from_static(b",\"state_data\":")];
        parts.extend(state);
        parts.push(Bytes::from_static(b"}"));
        Ok(parts)
    }
}
