//! Parts of the state that are not implemented, with their empty values (docs/api/events.md#state).

use super::fetch::Fetch;
use crate::api::wire::realm::PROFILE_FIELD_TYPES;
use crate::http::Envelope;

/// Fetch type, key, and its empty value as JSON.
const EMPTY: &[(&str, &str, &[u8])] = &[
    ("custom_profile_fields", "custom_profile_field_types", PROFILE_FIELD_TYPES),
    ("onboarding_steps", "navigation_tour_video_url", b"null"),
    ("realm_filters", "realm_filters", b"[]"),
    ("realm_billing", "realm_billing", br#"{"has_pending_sponsorship_request":false}"#),
    ("realm_embedded_bots", "realm_embedded_bots", b"[]"),
    ("stop_words", "stop_words", b"[]"),
    ("video_calls", "has_zoom_token", b"false"),
    ("giphy", "giphy_api_key", b"\"\""),
    ("tenor", "tenor_api_key", b"\"\""),
];

/// Adds the requested ones.
pub fn empty_fields(mut envelope: Envelope, fetch: &Fetch) -> Envelope {
    for (word, key, value) in EMPTY {
        if fetch.wants(word) {
            envelope = envelope.raw_field(key, value);
        }
    }
    envelope
}
