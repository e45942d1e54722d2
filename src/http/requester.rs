//! Who asks for a change: for the log of administrative acts, and for the account that is charged for what is written.

use super::call::{Call, ClientName, FromCall};
use super::caller::Caller;
use super::route::{Limit, Route};
use actix_web::http::Method;
use actors::Requester;
use model::RequestOrigin;
use std::sync::Arc;

/// The route by which messages are sent: it is called most, and is never an administrative act.
const SEND_PATH: &str = "/api/v1/messages";

/// The requester of a call.
pub fn requester(route: &Route, call: &mut Call<'_>) -> Requester {
    let is_reading = matches!(route.method, Method::GET | Method::HEAD);
    let is_sending = route.method == Method::POST && route.path == SEND_PATH;
    let may_be_act = !is_reading && !is_sending && route.limit != Limit::Events;
    let client = may_be_act.then(|| ClientName::from_call(call).ok()).flatten();
    let caller = call.caller.as_ref();
    Requester {
        charged: caller.map(Caller::charged_account),
        user: caller.map(|caller| caller.user.id),
        origin: if call.session.is_some() { RequestOrigin::Browser } else { RequestOrigin::Api },
        address: call.address(),
        client: client.map(|ClientName(name)| Arc::from(name)),
    }
}
