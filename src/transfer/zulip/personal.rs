//! What users keep for themselves: alert words, muted users, statuses, views, policies for topics.

use super::organization::Builder;
use crate::transfer::rows::timestamp;
use model::{
    Fact, NamedStatus, NavigationView, PersonalFact, StatusEmoji, SubscriptionFact, Timestamp, UserId,
    UserStatus, UserTopic, VisibilityPolicy,
};
use std::collections::BTreeMap;

/// Policies in one fact.
const POLICIES_MAX: usize = 500;
const NO_USER: &str = "of a user that is not in the export";
const TOPICS: &str = "zerver_usertopic";

impl Builder<'_> {
    /// All personal records but the texts.
    pub fn personal(&mut self) {
        self.alert_words();
        self.each_row("zerver_muteduser", |own, row| {
            let user = own.user(row.id("user_profile")).ok_or(NO_USER)?;
            let muted = own.user(row.id("muted_user")).ok_or(NO_USER)?;
            let since = Some(row.time("date_muted").unwrap_or(Timestamp(0)));
            own.facts.push(Fact::Personal(PersonalFact::Muted { user, muted, since }));
            Ok(())
        });
        self.statuses();
        self.each_row("zerver_navigationview", |own, row| {
            let user = own.user(row.id("user")).ok_or(NO_USER)?;
            let name = Some(row.text("name").to_owned()).filter(|name| !name.is_empty());
            let view = Some(NavigationView { is_pinned: row.is("is_pinned"), name });
            let fragment = row.text("fragment").to_owned();
            let fact = PersonalFact::NavigationViewSet { user, fragment, before: None, view };
            own.facts.push(Fact::Personal(fact));
            Ok(())
        });
        self.onboarding_steps();
        self.each_row("zerver_botstoragedata", |own, row| {
            let user = own.user(row.id("bot_profile")).ok_or(NO_USER)?;
            let set = vec![(row.text("key").to_owned(), row.text("value").to_owned())];
            let fact = PersonalFact::BotStorageChanged { user, set, removed: Vec::new() };
            own.facts.push(Fact::Personal(fact));
            Ok(())
        });
        self.topic_policies();
    }

    fn alert_words(&mut self) {
        let mut words: BTreeMap<UserId, Vec<String>> = BTreeMap::new();
        self.each_row("zerver_alertword", |own, row| {
            let user = own.user(row.id("user_profile")).ok_or(NO_USER)?;
            if row.is("deactivated") {
                return Err("removed by the user");
            }
            words.entry(user).or_default().push(row.text("word").to_owned());
            Ok(())
        });
        let facts = words.into_iter().map(|(user, words)| PersonalFact::AlertWordsSet { user, words });
        self.facts.extend(facts.map(Fact::Personal));
    }

    fn statuses(&mut self) {
        self.each_row("zerver_userstatus", |own, row| {
            let user = own.user(row.id("user_profile")).ok_or(NO_USER)?;
            let emoji = (!row.text("emoji_name").is_empty()).then(|| StatusEmoji {
                name: row.text("emoji_name").to_owned(),
                code: row.text("emoji_code").to_owned(),
                kind: row.text("reaction_type").to_owned(),
            });
            let status = UserStatus { text: row.text("status_text").to_owned(), emoji };
            if status == UserStatus::default() {
                return Err("empty");
            }
            let (status, named) = (Some(status), NamedStatus::default());
            own.facts.push(Fact::Personal(PersonalFact::StatusSet { user, status, named }));
            Ok(())
        });
    }

    fn onboarding_steps(&mut self) {
        let mut steps: BTreeMap<UserId, Vec<String>> = BTreeMap::new();
        self.each_row("zerver_onboardingstep", |own, row| {
            let user = own.user(row.id("user")).ok_or(NO_USER)?;
            steps.entry(user).or_default().push(row.text("onboarding_step").to_owned());
            Ok(())
        });
        let facts = steps.into_iter().map(|(user, steps)| PersonalFact::OnboardingStepSeen { user, steps });
        self.facts.extend(facts.map(Fact::Personal));
    }

    fn topic_policies(&mut self) {
        let mut by_user: BTreeMap<UserId, Vec<_>> = BTreeMap::new();
        for row in &self.tables.user_topics {
            let policy = match row.visibility_policy {
                1 => VisibilityPolicy::Muted,
                2 => VisibilityPolicy::Unmuted,
                3 => VisibilityPolicy::Followed,
                _ => VisibilityPolicy::Inherit,
            };
            let place = (self.user(Some(row.user_profile)), self.channel(Some(row.stream)));
            let (Some(user), Some(channel)) = place else {
                self.report.leave_out(TOPICS, "of a user or channel that is not in the export", 1);
                continue;
            };
            if policy == VisibilityPolicy::Inherit {
                self.report.leave_out(TOPICS, "without a policy", 1);
                continue;
            }
            let name = row.topic_name.clone();
            let topic = UserTopic { name, policy, updated: timestamp(row.last_updated) };
            by_user.entry(user).or_default().push((channel, topic));
            self.report.carry(TOPICS, 1);
        }
        for (user, topics) in by_user {
            for part in topics.chunks(POLICIES_MAX) {
                let topics = part.to_vec();
                self.facts.push(Fact::Subscription(SubscriptionFact::TopicPoliciesImported { user, topics }));
            }
        }
    }
}
