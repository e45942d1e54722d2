//! How many mails people without an account may have sent: to one mailbox, by one network, and by an organization. Each request
//! counts, whether the address has an account or not, so a refusal does not tell.

use crate::http::App;
use crate::http::address::Network;
use crate::rate_limit::{Bucket, RateLimitStatus};
use actix_web::http::StatusCode;
use actors::RealmHandle;
use rules::addresses::counted_address;
use std::hash::Hash;
use std::net::IpAddr;

/// Why a mail is not sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooManyMails {
    FromNetwork,
    ToAddress,
    OfOrganization,
}

impl TooManyMails {
    /// The status and the text of the page.
    pub fn problem(self) -> (StatusCode, &'static str) {
        let text = match self {
            Self::FromNetwork => "Too many mails were requested from your network. Try again later.",
            Self::ToAddress => "Too many mails were requested for this address. Try again later.",
            Self::OfOrganization => "Too many mails for new accounts were requested today. Try again later.",
        };
        (StatusCode::TOO_MANY_REQUESTS, text)
    }
}

/// Counts a mail to an address: for the network of the person who asks, and for the mailbox, separately for each purpose.
pub fn count_mail(
    app: &App,
    from: Option<IpAddr>,
    purpose: impl Hash,
    address: &str,
) -> Result<(), TooManyMails> {
    let by_network = app.limits.acquire(Bucket::ResetMailsByIp, Network::from(from), app.moment());
    check(by_network, TooManyMails::FromNetwork)?;
    let mailbox = (purpose, counted_address(address));
    let by_address = app.limits.acquire(Bucket::ResetMailsByAddress, mailbox, app.moment());
    check(by_address, TooManyMails::ToAddress)
}

/// Counts a mail for a new account, which may go to an address without one, for the organization.
pub fn count_sign_up(app: &App, realm: &RealmHandle) -> Result<(), TooManyMails> {
    let counted = app.limits.acquire(Bucket::SignUpsByOrganization, realm.id(), app.moment());
    check(counted, TooManyMails::OfOrganization)
}

fn check(counted: Option<RateLimitStatus>, too_many: TooManyMails) -> Result<(), TooManyMails> {
    match counted.map(|status| status.check()) {
        None | Some(Ok(())) => Ok(()),
        Some(Err(_)) => Err(too_many),
    }
}
