//! The lists of a seed: custom profile fields with their values, folders of channels, linkifiers, custom emoji.

use super::builder::SeedBuilder;
use model::attachment::ImageInfo;
use model::picture::{PictureFact, RealmEmoji};
use model::{
    Attachment, AttachmentFact, AttachmentId, ChannelFact, ChannelFolder, Fact, FieldKind, FolderId,
    LinkifierRecord, Listed, PersonalFact, ProfileField, ProfileFieldId, ProfileFields, ProfileValue,
    RealmFact, UserFact, UserId,
};
use rules::linkifiers::compile_linkifiers;
use std::collections::BTreeMap;

impl SeedBuilder<'_> {
    /// The facts of all lists. They come before channels and messages, which refer to them.
    pub(super) fn lists(&mut self) -> Vec<Fact> {
        let mut facts = self.fields();
        facts.extend(self.onboarding());
        facts.extend(self.folders());
        facts.extend(self.linkifier_facts());
        facts.extend(self.emoji());
        facts.extend(self.files());
        facts
    }

    /// The folder with a name.
    pub(super) fn folder(&self, name: &str) -> Option<FolderId> {
        self.directory.folders().find(|folder| folder.name == name).map(|folder| folder.id)
    }

    fn fields(&self) -> Vec<Fact> {
        let mut list = Vec::new();
        let mut values: BTreeMap<UserId, Vec<(ProfileFieldId, Option<ProfileValue>)>> = BTreeMap::new();
        for (number, seed) in (1..).zip(&self.seed.fields) {
            let id = ProfileFieldId(number);
            list.push(ProfileField {
                id,
                name: seed.name.to_owned(),
                hint: seed.hint.to_owned(),
                kind: seed.kind,
                data: seed.data.to_owned(),
                order: number,
                is_in_summary: seed.is_in_summary,
                is_required: false,
                is_editable_by_user: true,
            });
            for (email, text) in &seed.values {
                values.entry(self.user(email)).or_default().push((id, Some(self.value(seed.kind, text))));
            }
        }
        let last = list.last().map(|field| field.id).unwrap_or_default();
        let fields = Box::new(ProfileFields { list, last });
        let mut facts = vec![Fact::Realm(RealmFact::ProfileFieldsChanged(fields))];
        let set = |(user, values)| Fact::User(UserFact::ProfileValuesSet { user, values });
        facts.extend(values.into_iter().map(set));
        facts
    }

    /// People who were here for a while have met the welcome bot.
    fn onboarding(&self) -> Vec<Fact> {
        let people = self.directory.users().filter(|user| !user.is_bot());
        let seen = |user: UserId| {
            let steps = self.seed.onboarding_seen.iter().map(|step| (*step).to_owned()).collect();
            Fact::Personal(PersonalFact::OnboardingStepSeen { user, steps })
        };
        people.map(|user| seen(user.id)).collect()
    }

    fn value(&self, kind: FieldKind, text: &str) -> ProfileValue {
        ProfileValue {
            text: match kind {
                FieldKind::Person => format!("[{}]", self.user(text)),
                _ => text.to_owned(),
            },
            html: kind.is_markdown().then(|| self.render(text).html),
        }
    }

    fn folders(&mut self) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (number, seed) in (1..).zip(&self.seed.folders) {
            let folder = ChannelFolder {
                id: FolderId(number),
                name: seed.name.to_owned(),
                description: seed.description.to_owned(),
                rendered_description: self.render(seed.description).html,
                order: number,
                created: self.joined(),
                creator: self.user(self.seed.creator),
                is_archived: false,
            };
            self.directory.put_folder(folder.clone());
            facts.push(Fact::Channel(ChannelFact::FolderChanged(Box::new(folder))));
        }
        facts
    }

    fn linkifier_facts(&mut self) -> Option<Fact> {
        let mut all = Listed::default();
        for (pattern, url_template) in &self.seed.linkifiers {
            let id = all.next_id();
            let (pattern, url_template) = ((*pattern).to_owned(), (*url_template).to_owned());
            all.items.push(LinkifierRecord { id, pattern, url_template });
        }
        self.linkifiers = compile_linkifiers(&all);
        (!all.items.is_empty()).then(|| Fact::Realm(RealmFact::LinkifiersChanged(Box::new(all))))
    }

    fn files(&mut self) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (id, seed) in (1..).zip(&self.seed.files) {
            let (width, height) = seed.pixels;
            let file = Attachment {
                id: AttachmentId(id),
                owner: self.user(seed.owner),
                path_id: format!("{}/{}", self.directory.realm().id, seed.path),
                name: seed.name.to_owned(),
                size: seed.bytes,
                content_type: seed.content_type.to_owned(),
                created: self.joined(),
                image: Some(ImageInfo { width, height, is_animated: false, orientation: 1 }),
                unclaimed_since: Some(self.joined()),
            };
            self.directory.put_attachment(file.clone());
            facts.push(Fact::Attachment(AttachmentFact::Added(Box::new(file))));
        }
        facts
    }

    fn emoji(&mut self) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (id, seed) in (1..).zip(&self.seed.emoji) {
            let fact = PictureFact::EmojiSet(RealmEmoji {
                id,
                name: seed.name.to_owned(),
                file: seed.file.to_owned(),
                still: None,
                author: Some(self.user(seed.author)),
                is_deactivated: false,
            });
            self.directory.put_picture(&fact);
            facts.push(Fact::Picture(Box::new(fact)));
        }
        facts
    }
}
