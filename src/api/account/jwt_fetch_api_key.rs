//! `POST /jwt/fetch_api_key`: an API key for a token that another service signed (companions.md 1). No organization
//! here has a key to check such tokens with, and this says so.

use crate::http::{Answer, ApiError, Fields, FromFields, Params, Realm};

/// The parameters.
pub struct JwtFetchApiKey;

impl FromFields for JwtFetchApiKey {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        fields.optional_bool("include_profile")?;
        fields.optional("token");
        Ok(Self)
    }
}

/// Refuses, whatever the token is.
pub async fn jwt_fetch_api_key(_: Realm, _: Params<JwtFetchApiKey>) -> Answer {
    Err(ApiError::bad_request("JWT authentication is not enabled for this organization"))
}
