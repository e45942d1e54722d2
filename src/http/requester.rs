//! Who asks for a change: for the audit log, and for the account that is charged for what is written.

use super::call::{Call, ClientName, FromCall};
use super::caller::Caller;
use super::origins::Origins;
use super::route::{Limit, Route};
use actix_web::http::Method;
use actix_web::http::header::USER_AGENT;
use actors::Requester;
use model::RequestOrigin;
use rules::client::browser;
use std::sync::Arc;

/// The route by which messages are sent: it is called most, and is never in the audit log.
const SEND_PATH: &str = "/api/v1/messages";

/// The requester of a call.
pub fn requester(route: &Route, call: &mut Call<'_>) -> Requester {
    // The link that confirms an address is opened, not submitted.
    let is_page = is_page(route);
    let is_reading = !is_page && matches!(route.method, Method::GET | Method::HEAD);
    let is_sending = route.method == Method::POST && route.path == SEND_PATH;
    let may_be_act = !is_reading && !is_sending && route.limit != Limit::Events;
    let client = may_be_act.then(|| client_of(call, is_page)).flatten();
    let caller = call.caller.as_ref();
    Requester {
        charged: caller.map(Caller::charged_account),
        user: caller.map(|caller| caller.user.id),
        origin: if is_page || call.session.is_some() { RequestOrigin::Browser } else { RequestOrigin::Api },
        address: call.address(),
        client: client.map(Arc::from),
    }
}

/// Whether a row is a page of people, who have a browser also when they are not logged in.
fn is_page(route: &Route) -> bool {
    route.origins == Origins::Own && matches!(route.limit, Limit::Page | Limit::Login)
}

/// The name of the client; on a page without a web session, that of the browser.
fn client_of(call: &mut Call<'_>, is_page: bool) -> Option<String> {
    let is_unknown = is_page && call.session.is_none();
    let of_browser = call.header(USER_AGENT).filter(|_| is_unknown).and_then(browser);
    of_browser.or_else(|| ClientName::from_call(call).ok().map(|ClientName(name)| name))
}
