//! Executes the operator's requests.

use super::answer::Answer;
use super::find::{find_account, find_realm, find_user};
use super::request::AdminRequest;
use super::{accounts, audit, channels, erasing, organizations, outbox};
use crate::cli::error::CliError;
use actors::{Requester, Server, on_behalf_of};

/// Executes a request. What it answers is durable.
///
/// # Errors
/// What the request's rules refuse, and errors of the storage.
pub async fn execute(server: &Server, request: AdminRequest) -> Result<Answer, CliError> {
    on_behalf_of(Some(Requester::operator()), Box::pin(respond(server, request))).await
}

#[expect(clippy::too_many_lines, reason = "one arm for each request")]
async fn respond(server: &Server, request: AdminRequest) -> Result<Answer, CliError> {
    match request {
        AdminRequest::Audit { realm, since, user, limit } => {
            audit::list(&find_realm(server, &realm)?, since, user.as_deref(), limit)
        }
        AdminRequest::RealmCreate { name, subdomain, email_domain, owner } => {
            organizations::create(server, name, subdomain, email_domain, owner).await
        }
        AdminRequest::RealmList => Ok(organizations::list(server)),
        AdminRequest::RealmSetActive { realm, is_active } => {
            organizations::set_active(&find_realm(server, &realm)?, is_active).await
        }
        AdminRequest::UserList { realm } => Ok(accounts::list(&find_realm(server, &realm)?)),
        AdminRequest::UserCreate { realm, role, user } => {
            accounts::create(&find_realm(server, &realm)?, role, user).await
        }
        AdminRequest::UserRole { account, role } => {
            let (realm, user) = find_account(server, &account.realm, &account.email)?;
            accounts::set_role(&realm, &user, role).await
        }
        AdminRequest::UserSetPassword { account, password_hash } => {
            let (realm, user) = find_account(server, &account.realm, &account.email)?;
            accounts::set_password(&realm, &user, password_hash).await
        }
        AdminRequest::UserSetActive { account, is_active } => {
            let (realm, user) = find_account(server, &account.realm, &account.email)?;
            accounts::set_active(&realm, &user, is_active).await
        }
        AdminRequest::UserDelete { realm, user, keeps_messages } => {
            let realm = find_realm(server, &realm)?;
            let user = find_user(&realm, &user)?;
            accounts::delete(&realm, &user, keeps_messages).await
        }
        AdminRequest::UserApiKey { account } => {
            let (realm, user) = find_account(server, &account.realm, &account.email)?;
            Ok(accounts::api_key(&realm, &user))
        }
        AdminRequest::UserEndSessions { realm, email } => {
            accounts::end_sessions(&find_realm(server, &realm)?, email.as_deref()).await
        }
        AdminRequest::UserGrant { account, permission, is_granted } => {
            let (realm, user) = find_account(server, &account.realm, &account.email)?;
            accounts::grant(&realm, &user, permission, is_granted).await
        }
        AdminRequest::ChannelList { realm } => Ok(channels::list(&find_realm(server, &realm)?)),
        AdminRequest::ChannelCreate { realm, name, description, is_private, creator } => {
            let realm = find_realm(server, &realm)?;
            channels::create(&realm, (name, description), is_private, creator.as_deref()).await
        }
        AdminRequest::EraseStart => Ok(erasing::start(server)),
        AdminRequest::EraseStatus => erasing::status(server),
        AdminRequest::OutboxList { realm } => outbox::list(server, realm.as_deref()),
        AdminRequest::OutboxRetry { realm, job } => outbox::retry(server, realm.as_deref(), job).await,
        AdminRequest::OutboxDrop { realm, job } => outbox::drop_job(server, realm.as_deref(), job).await,
        AdminRequest::LogLevel { .. }
        | AdminRequest::Reload
        | AdminRequest::Export(_)
        | AdminRequest::Probe
        | AdminRequest::Address => {
            let why =
                "no server is running on this data folder; start it, or name another folder with --data";
            Err(CliError::Refused(why.to_owned()))
        }
    }
}
