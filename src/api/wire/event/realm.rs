//! `realm`: settings and pictures of the organization, and its deactivation.

use super::writer::EventWriter;
use crate::api::wire::list::Object;
use crate::api::wire::settings::setting;
use model::RealmId;
use model::event::RealmChange;
use model::picture::RealmPicture;
use serde::Serialize;

/// `D` is an object of the properties that changed.
#[derive(Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum Realm<D> {
    UpdateDict { property: &'static str, data: D },
    Deactivated { realm_id: RealmId },
}

pub(super) fn settings<'e>(writer: &EventWriter<'e>, changes: &'e RealmChange) -> impl Serialize + use<'e> {
    let directory = writer.directory;
    let values = changes.iter().map(move |(name, value)| (name, setting(directory, value)));
    Realm::UpdateDict { property: "default", data: Object(values) }
}

pub(super) fn picture<'e>(which: RealmPicture, url: &'e str, source: &'e str) -> impl Serialize + use<'e> {
    let property = match which {
        RealmPicture::Icon => "icon",
        RealmPicture::Logo => "logo",
        RealmPicture::NightLogo => "night_logo",
    };
    let data = Object([(format!("{property}_url"), url), (format!("{property}_source"), source)]);
    Realm::UpdateDict { property, data }
}

pub(super) fn deactivated(realm_id: RealmId) -> impl Serialize {
    Realm::<()>::Deactivated { realm_id }
}
