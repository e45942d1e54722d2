//! Lists that administrators maintain, and custom profile fields with their values.

use super::organization::Builder;
use crate::transfer::rows::Row;
use model::{
    DomainOp, Fact, FieldKind, LinkifierRecord, Listed, Playground, ProfileField, ProfileFieldId,
    ProfileFields, ProfileValue, RealmDomain, RealmFact, RealmLists, UserFact, UserId,
};
use rules::linkifiers::compile_linkifiers;
use std::collections::BTreeMap;

impl Builder<'_> {
    /// Domains, linkifiers and playgrounds.
    pub fn lists(&mut self) {
        let mut lists = RealmLists::default();
        self.each_row("zerver_realmdomain", |own, row| {
            let domain = RealmDomain {
                id: row.id("id").ok_or("without an id")?,
                name: row.text("domain").to_lowercase(),
                allows_subdomains: row.is("allow_subdomains"),
            };
            lists.apply_domain(&domain, DomainOp::Added);
            own.facts.push(Fact::Realm(RealmFact::DomainSet { domain, op: DomainOp::Added }));
            Ok(())
        });
        self.linkifiers(&mut lists);
        let mut playgrounds = Listed::default();
        self.each_row("zerver_realmplayground", |_, row| {
            let id = row.id("id").ok_or("without an id")?;
            playgrounds.last_id = playgrounds.last_id.max(id);
            playgrounds.items.push(Playground {
                id,
                name: row.text("name").to_owned(),
                language: row.text("pygments_language").to_owned(),
                url_template: row.text("url_template").to_owned(),
            });
            Ok(())
        });
        lists.playgrounds = playgrounds.clone();
        self.facts.push(Fact::Realm(RealmFact::PlaygroundsChanged(Box::new(playgrounds))));
        self.directory.put_lists(lists);
    }

    fn linkifiers(&mut self, lists: &mut RealmLists) {
        let mut rows = Vec::new();
        self.each_row("zerver_realmfilter", |_, row| {
            let id = row.id("id").ok_or("without an id")?;
            let (pattern, url_template) =
                (row.text("pattern").to_owned(), row.text("url_template").to_owned());
            let record = LinkifierRecord { id, pattern, url_template };
            let alone = Listed { items: vec![record.clone()], last_id: id };
            if compile_linkifiers(&alone).is_empty() {
                return Err("with a pattern or URL template that is not supported here");
            }
            rows.push((row.int("order").unwrap_or_default(), record));
            Ok(())
        });
        rows.sort_by_key(|(order, record)| (*order, record.id));
        lists.linkifiers.last_id = rows.iter().map(|(_, record)| record.id).max().unwrap_or_default();
        lists.linkifiers.items = rows.into_iter().map(|(_, record)| record).collect();
        let all = Box::new(lists.linkifiers.clone());
        self.facts.push(Fact::Realm(RealmFact::LinkifiersChanged(all)));
    }

    /// Custom profile fields and their values.
    pub fn profile_fields(&mut self) {
        let mut fields = ProfileFields::default();
        self.each_row("zerver_customprofilefield", |_, row| {
            let kind = row.int("field_type").and_then(FieldKind::from_code);
            let field = field_of(row, kind.ok_or("of a type that is not known here")?)?;
            fields.last = fields.last.max(field.id);
            fields.list.push(field);
            Ok(())
        });
        fields.list.sort_by_key(|field| (field.order, field.id));
        self.directory.put_profile_fields(fields.clone());
        self.facts.push(Fact::Realm(RealmFact::ProfileFieldsChanged(Box::new(fields.clone()))));
        let mut values: BTreeMap<UserId, Vec<(ProfileFieldId, Option<ProfileValue>)>> = BTreeMap::new();
        self.each_row("zerver_customprofilefieldvalue", |own, row| {
            let user = own.user(row.id("user_profile")).ok_or("of a user that is not in the export")?;
            let field = row.id("field").and_then(|id| fields.get(ProfileFieldId(id)));
            let field = field.ok_or("of a field that is not in the export")?;
            let text = row.text("value");
            if text.is_empty() {
                return Err("without a text");
            }
            let html = field.kind.is_markdown().then(|| own.render_description(text));
            let value = ProfileValue { text: text.to_owned(), html };
            values.entry(user).or_default().push((field.id, Some(value)));
            Ok(())
        });
        let facts = values.into_iter().map(|(user, values)| UserFact::ProfileValuesSet { user, values });
        self.facts.extend(facts.map(Fact::User));
    }
}

fn field_of(row: &Row, kind: FieldKind) -> Result<ProfileField, &'static str> {
    let id = row.id("id").ok_or("without an id")?;
    Ok(ProfileField {
        id: ProfileFieldId(id),
        name: row.text("name").to_owned(),
        hint: row.text("hint").to_owned(),
        kind,
        data: row.text("field_data").to_owned(),
        order: row.id("order").unwrap_or(id),
        is_in_summary: row.is("display_in_profile_summary"),
        is_required: row.is("required"),
        is_editable_by_user: row.flag("editable_by_user").unwrap_or(true),
    })
}
