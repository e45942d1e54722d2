//! Background work during sending: moving or deleting a whole topic of another channel, or many concurrent logins. Each
//! call is timed and verified. The effect on the senders shows in their own measurements.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::budget::Budget;
use super::missed::{self, MissedMail};
use super::tasks::FailureLimit;
use crate::client::{Account, Api, Failure, NAME_CHARS_MAX};
use crate::error::LoadError;
use crate::http::encode_form;
use crate::pace::{Load, Pace};
use crate::recorder::{Recorder, Window};
use crate::scenario::background::BackgroundPlan;
use crate::setup::Stage;
use crate::text::one_line;

/// The topic of the fill, if it has only one.
const TOPIC: &str = "topic 0";

/// Background work, prepared to start.
#[derive(Debug)]
pub struct BackgroundWork {
    name: &'static str,
    api: Api,
    owner: Account,
    work: Work,
}

#[derive(Debug)]
enum Work {
    Move { from: u64, to: u64, target: u64, pause: Duration },
    DeleteTopic { channel: u64 },
    Login { people: Vec<(Api, (String, String))>, per_sec: Option<f64> },
    MissedMail(MissedMail),
}

impl BackgroundWork {
    /// Logs in and looks up the topic. A topic that an earlier run left in the other channel is moved back.
    pub async fn prepare(stage: &Stage, plan: &BackgroundPlan) -> Result<Self, LoadError> {
        let owner = stage.owner().await?;
        let mut api = Api::open(&stage.target).await?;
        let work = match plan {
            BackgroundPlan::Move { channel, to, pause_ms } => {
                let (from, to) = (stage.channel(channel)?.id, stage.channel(to)?.id);
                if let Some((target, _)) = topic_ends(&mut api, &owner, to).await? {
                    move_topic(&mut api, &owner, target, from).await?;
                }
                let target = first_of_topic(&mut api, &owner, from).await?;
                Work::Move { from, to, target, pause: Duration::from_millis(*pause_ms) }
            }
            BackgroundPlan::Login { concurrent, per_sec } => {
                let mut people = Vec::new();
                for number in stage.everyone().into_iter().cycle().take(*concurrent as usize) {
                    let password = stage.password(number)?;
                    people.push((Api::open(&stage.target).await?.measured(), password));
                }
                Work::Login { people, per_sec: *per_sec }
            }
            BackgroundPlan::MissedMail { channel, every_ms } => {
                Work::MissedMail(MissedMail::prepare(stage, channel, *every_ms)?)
            }
            BackgroundPlan::DeleteTopic { channel } => {
                let channel = stage.channel(channel)?.id;
                first_of_topic(&mut api, &owner, channel).await?;
                Work::DeleteTopic { channel }
            }
        };
        Ok(Self { name: plan.name(), api, owner, work })
    }

    /// The name of the operation in results.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Starts with the measured time, and ends with the phase or when the work is done. After a topic was deleted,
    /// sending ends, too, because the work it was measured with is over.
    pub async fn run(mut self, window: Window, recorder: Arc<Recorder>, budget: Arc<Budget>) {
        tokio::time::sleep_until(window.measure_from.into()).await;
        if let Work::Login { people, per_sec } = self.work {
            return log_in(people, &Load::of(None, per_sec), window, &recorder).await;
        }
        if let Work::MissedMail(work) = self.work {
            return missed::run(work, (self.api, self.owner), window, recorder).await;
        }
        self.api = self.api.measured();
        let outcome = match self.work {
            Work::Login { .. } | Work::MissedMail(_) => Ok(()),
            Work::Move { from, to, target, pause } => {
                self.keep_moving(window, &recorder, [to, from], target, pause).await
            }
            Work::DeleteTopic { channel } => self.delete(window, &recorder, channel).await,
        };
        if let Err(error) = outcome {
            recorder.record_failure(&one_line(&error.to_string(), NAME_CHARS_MAX));
        }
        if matches!(self.work, Work::DeleteTopic { .. }) {
            budget.close();
        }
    }

    async fn keep_moving(
        &mut self,
        window: Window,
        recorder: &Recorder,
        places: [u64; 2],
        target: u64,
        pause: Duration,
    ) -> Result<(), LoadError> {
        // There and back, so that the next run finds the topic in the first channel.
        while Instant::now() < window.stop_at {
            for place in places {
                let before = self.find_ends(places).await?;
                let started = Instant::now();
                move_topic(&mut self.api, &self.owner, target, place).await?;
                recorder.record_success(started, None);
                let after = topic_ends(&mut self.api, &self.owner, place).await?;
                if after != before {
                    return Err(LoadError::Server(format!("moved {before:?}, arrived {after:?}")));
                }
                tokio::time::sleep(pause).await;
            }
        }
        Ok(())
    }

    /// The first and the last message of whichever channel has the topic.
    async fn find_ends(&mut self, places: [u64; 2]) -> Result<Option<(u64, u64)>, LoadError> {
        for place in places {
            let range = topic_ends(&mut self.api, &self.owner, place).await?;
            if range.is_some() {
                return Ok(range);
            }
        }
        Ok(None)
    }

    async fn delete(&mut self, window: Window, recorder: &Recorder, channel: u64) -> Result<(), LoadError> {
        let path = format!("/api/v1/streams/{channel}/delete_topic");
        while Instant::now() < window.stop_at {
            let started = Instant::now();
            let reply = self.api.post_ok(&path, Some(&self.owner), &[("topic_name", TOPIC)]).await?;
            recorder.record_success(started, None);
            if reply["complete"] == true {
                let left = topic_ends(&mut self.api, &self.owner, channel).await?;
                return match left {
                    None => Ok(()),
                    Some(range) => Err(LoadError::Server(format!("{range:?} are left of the topic"))),
                };
            }
        }
        Err(LoadError::Server("the topic was not deleted in time".to_owned()))
    }
}

/// All users concurrently, until the phase ends.
async fn log_in(people: Vec<(Api, (String, String))>, load: &Load, window: Window, recorder: &Arc<Recorder>) {
    let mut crowd = JoinSet::new();
    let window = Window { begins: Instant::now(), ..window };
    let count = u32::try_from(people.len()).unwrap_or(u32::MAX);
    for (index, (mut api, (address, password))) in (0..).zip(people) {
        let recorder = recorder.clone();
        let mut pace = Pace::new(&window, load, index, count);
        crowd.spawn(async move {
            let mut failures_in_a_row = FailureLimit::of(&pace);
            while let Some(started) = pace.wait().await {
                let logged_in = async {
                    let outcome = api.login_by_password(&address, &password).await;
                    outcome.map(|()| None).map_err(Failure::from)
                };
                let outcome = pace.within(logged_in).await;
                if !failures_in_a_row.record(&recorder, started, outcome).await {
                    break;
                }
            }
            pace.finish(&recorder);
        });
    }
    crowd.join_all().await;
}

async fn first_of_topic(api: &mut Api, owner: &Account, channel: u64) -> Result<u64, LoadError> {
    let range = topic_ends(api, owner, channel).await?;
    let missing =
        || LoadError::Usage("there is nothing to move or delete: add a fill to the scenario".to_owned());
    range.map(|(first, _)| first).ok_or_else(missing)
}

async fn move_topic(api: &mut Api, owner: &Account, target: u64, to: u64) -> Result<(), LoadError> {
    let to = to.to_string();
    let fields = [
        ("stream_id", to.as_str()),
        ("propagate_mode", "change_all"),
        // Without notices, which would make the topics grow with every move.
        ("send_notification_to_old_thread", "false"),
        ("send_notification_to_new_thread", "false"),
    ];
    api.patch_ok(&format!("/api/v1/messages/{target}"), Some(owner), &fields).await?;
    Ok(())
}

/// The first and the last message of the topic in a channel; none if it is empty there.
async fn topic_ends(api: &mut Api, reader: &Account, channel: u64) -> Result<Option<(u64, u64)>, LoadError> {
    let narrow = serde_json::json!([
        { "operator": "channel", "operand": channel },
        { "operator": "topic", "operand": TOPIC }
    ]);
    let narrow = narrow.to_string();
    let mut ends = Vec::new();
    for (anchor, before, after) in [("oldest", "0", "1"), ("newest", "1", "0")] {
        let query = encode_form(&[
            ("narrow", &narrow),
            ("anchor", anchor),
            ("num_before", before),
            ("num_after", after),
            ("include_anchor", "false"),
        ]);
        let page = api.get_ok(&format!("/api/v1/messages?{query}"), Some(reader)).await?;
        ends.extend(page["messages"][0]["id"].as_u64());
    }
    Ok(ends.first().copied().zip(ends.last().copied()))
}
