//! `realm_playgrounds`: all code playgrounds of the organization.

use crate::api::wire::lists::{PlaygroundJson, playground};
use model::{Listed, Playground};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct RealmPlaygrounds<'e> {
    realm_playgrounds: Vec<PlaygroundJson<'e>>,
}

pub(super) fn all(playgrounds: &Listed<Playground>) -> RealmPlaygrounds<'_> {
    RealmPlaygrounds { realm_playgrounds: playgrounds.items.iter().map(playground).collect() }
}
