//! `POST /jwt/fetch_api_key`: an API key for a signed token (docs/api/account.md#fetch-an-api-key-by-token). Not
//! enabled for any organization.

use crate::http::{ApiError, Fields, FromFields, HandlerResult, Params, Realm};

/// Parameters that are known but not used.
pub struct JwtFetchApiKey;

impl FromFields for JwtFetchApiKey {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        fields.optional_bool("include_profile")?;
        fields.optional("token");
        Ok(Self)
    }
}

/// Refuses every token.
pub async fn jwt_fetch_api_key(_: Realm, _: Params<JwtFetchApiKey>) -> HandlerResult {
    Err(ApiError::bad_request("JWT authentication is not enabled for this organization"))
}
