//! The page that starts the app, with the state of a registration made at once.

use super::conversation::HomeQuery;
use super::desktop::DesktopApp;
use super::escape::json_for_attribute;
use super::params::{Conversation, Facts, PageParams};
use crate::api::account::server_settings::render_description;
use crate::api::events::register::{Register, registered};
use crate::http::admission::Admission;
use crate::http::{ApiError, Caller, Envelope, HandlerResult, Reply};
use crate::web_app::Bundle;
use crate::web_app::page_variant::{ColorScheme, PageVariant, Window};
use crate::web_app::skeleton::Values;
use actix_web::http::header::{self, HeaderValue};
use actors::RealmHandle;
use actors::budget::Reservation;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use rules::settings::{realm_text, user_int, user_text};
use std::sync::Arc;

/// Parts of this size are sent at a time.
const PIECE_BYTES: usize = 32 << 10;
const NONCE_BYTES: usize = 16;
const NEVER_CACHED: HeaderValue =
    HeaderValue::from_static("max-age=0, no-cache, no-store, must-revalidate, private");

/// A page that starts the app.
pub struct Page {
    pub bundle: Arc<Bundle>,
    /// URL of the organization.
    pub realm_url: String,
    pub csrf_token: String,
    pub desktop: DesktopApp,
    pub query: HomeQuery,
}

impl Page {
    /// Registers a queue, and returns the page with its state.
    pub async fn for_user(self, admission: &Admission, caller: Caller) -> HandlerResult {
        let directory = caller.realm.directory();
        let user = caller.user.clone();
        let conversation = self.query.conversation(&directory, &user);
        let window = if conversation.is_some() { Window::Conversation } else { Window::Whole };
        let conversation = conversation.unwrap_or_default();
        let variant =
            PageVariant { colors: ColorScheme::of_setting(user_int(&user, "color_scheme")), window };
        let app = &admission.app;
        let warn_no_email = app.config.mail.host.is_empty() && !app.is_development;
        let params = Register::for_web_page(conversation.queue_narrow());
        let Self { bundle, realm_url, csrf_token, desktop, .. } = self;
        let nonce = random_nonce()?;
        let policy = content_security_policy(&nonce)?;
        let finish = move |state: Envelope, held| {
            let language = bundle.languages().code(user_text(&user, "default_language"));
            let description = render_description(directory.realm());
            let params = PageParams::new(Facts {
                request_language: language,
                language_list: bundle.languages().list(),
                insecure_desktop_app: desktop == DesktopApp::Insecure,
                warn_no_email,
                realm_rendered_description: &description,
                conversation,
                language_cookie_name: None,
            });
            let json = params.encode(bundle.languages().translations(language), state.into_object())?;
            let values = Values {
                language,
                title: &directory.realm().name,
                nonce: &nonce,
                csrf_token: &csrf_token,
                params: json.iter().map(|part| json_for_attribute(part)).collect(),
            };
            hold(bundle.skeleton(variant).fill(values), held)
        };
        let parts = registered(admission, caller, realm_url, params, finish).await?;
        Ok(parts.reply(policy))
    }

    /// Returns the page for a spectator without an account, who has no queue: the app asks for the state itself.
    pub async fn for_spectator(
        self,
        admission: &Admission,
        realm: &RealmHandle,
        chosen: Chosen<'_>,
    ) -> HandlerResult {
        let Self { bundle, csrf_token, .. } = self;
        let directory = realm.directory();
        let default = realm_text(directory.realm(), "default_language");
        let language = bundle.languages().code(chosen.language.unwrap_or(default));
        let nonce = random_nonce()?;
        let description = render_description(directory.realm());
        let params = PageParams::new(Facts {
            request_language: language,
            language_list: bundle.languages().list(),
            insecure_desktop_app: self.desktop == DesktopApp::Insecure,
            warn_no_email: false,
            realm_rendered_description: &description,
            conversation: Conversation::default(),
            language_cookie_name: Some(chosen.cookie),
        });
        let nothing = vec![Bytes::from_static(b"null")];
        let json = params.encode(bundle.languages().translations(language), nothing)?;
        let values = Values {
            language,
            title: &directory.realm().name,
            nonce: &nonce,
            csrf_token: &csrf_token,
            params: json.iter().map(|part| json_for_attribute(part)).collect(),
        };
        let variant = PageVariant { colors: ColorScheme::of_setting(1), window: Window::Whole };
        let parts = bundle.skeleton(variant).fill(values);
        let held = hold(parts, admission.reserve(SPECTATOR_PAGE_BYTES).await?)?;
        Ok(held.reply(content_security_policy(&nonce)?))
    }
}

/// Memory of a spectator's page, in bytes; it is corrected when the page is made.
const SPECTATOR_PAGE_BYTES: u64 = 64 << 10;

/// The language that a spectator chose, and the cookie that has it.
pub struct Chosen<'c> {
    pub cookie: &'static str,
    pub language: Option<&'c str>,
}

/// The parts of a page, and the memory that they hold of the budget.
struct Held {
    parts: Vec<Bytes>,
    held: Reservation,
}

/// Corrects the reservation to the real size. Fails if that is more than there is room for.
fn hold(parts: Vec<Bytes>, mut held: Reservation) -> Result<Held, ApiError> {
    let bytes = size_of(&parts);
    match bytes.checked_sub(held.bytes()) {
        Some(more) => held.grow(more)?,
        None => held.shrink_to(bytes),
    }
    Ok(Held { parts, held })
}

fn size_of(parts: &[Bytes]) -> u64 {
    parts.iter().map(|part| part.len() as u64).sum()
}

impl Held {
    /// The response, in pieces; the memory is released with the last of them.
    fn reply(self, policy: HeaderValue) -> Reply {
        let Self { parts, held } = self;
        let size = size_of(&parts);
        let pieces: Vec<Bytes> = parts.into_iter().flat_map(in_pieces).collect();
        let held = stream::once(async move {
            drop(held);
            Ok(Bytes::new())
        });
        let bytes = stream::iter(pieces.into_iter().map(Ok)).chain(held);
        let headers = vec![
            (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
            (header::CACHE_CONTROL, NEVER_CACHED),
            (header::CONTENT_SECURITY_POLICY, policy),
            // Videos that are embedded from other sites need the origin; no site gets more.
            (header::REFERRER_POLICY, HeaderValue::from_static("strict-origin-when-cross-origin")),
            (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
        ];
        Reply::stream(headers, size, bytes.boxed())
    }
}

fn in_pieces(mut part: Bytes) -> impl Iterator<Item = Bytes> {
    std::iter::from_fn(move || {
        let size = part.len().min(PIECE_BYTES);
        (size > 0).then(|| part.split_to(size))
    })
}

fn random_nonce() -> Result<String, ApiError> {
    let mut bytes = [0; NONCE_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| {
        tracing::error!(%error, "the system has no random numbers");
        ApiError::internal()
    })?;
    Ok(STANDARD.encode(bytes))
}

/// What the page may load and run. Scripts come from this server; pictures and videos that messages link may come from
/// anywhere, and known video sites may be embedded.
fn content_security_policy(nonce: &str) -> Result<HeaderValue, ApiError> {
    let policy = format!(
        "default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'unsafe-inline'; \
         img-src 'self' data: blob: https: http:; font-src 'self' data:; connect-src 'self' blob:; \
         media-src 'self' blob: https: http:; \
         frame-src https://www.youtube-nocookie.com https://www.youtube.com https://player.vimeo.com; \
         manifest-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    );
    HeaderValue::from_str(&policy).map_err(|_| ApiError::internal())
}
