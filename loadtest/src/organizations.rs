//! Further organizations of a development server, each below a host name of its own.

use crate::client::Api;
use crate::error::LoadError;
use crate::http::Target;

/// The target of the organization of a number; creates it if it does not exist.
pub async fn ensure(api: &mut Api, target: &Target, number: u32) -> Result<Target, LoadError> {
    let subdomain = format!("load-{number}");
    let host = format!("{subdomain}.localhost:{}", target.port());
    let other = target.with_host(&host);
    let mut there = Api::open(&std::sync::Arc::new(other.clone())).await?;
    if there
        .get_ok("/api/v1/server_settings", None)
        .await
        .is_ok_and(|settings| settings["realm_uri"].is_string())
    {
        return Ok(other);
    }
    let fields = [("subdomain", subdomain.as_str())];
    let created = api.post_ok("/dev/realms", None, &fields).await.map_err(without_realms)?;
    let host = created["host"].as_str().unwrap_or(&host).to_owned();
    Ok(target.with_host(&host))
}

/// Explains what a server lacks that makes no organizations.
fn without_realms(error: LoadError) -> LoadError {
    match error {
        LoadError::Refused { status: 404 | 405, .. } => LoadError::Usage(format!(
            "{error}; this is not a development server, which a scenario with organizations needs"
        )),
        error => error,
    }
}
