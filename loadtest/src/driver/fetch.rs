//! `fetch`: clients that read pages of messages, the newest or random ones. Every page is checked for success, and a
//! sample for its content: parsing all pages would cost more CPU than the server uses.

use std::sync::Arc;
use std::time::Instant;

use serde::Deserialize;

use super::get::is_success;
use super::tasks::{ClientTasks, FailureLimit};
use crate::client::{Account, Api, Failure};
use crate::error::LoadError;
use crate::http::{Connection, NumberedGet, Target, bodiless_request, encode_form};
use crate::outcome::PhaseResult;
use crate::pace::{Load, Pace};
use crate::recorder::{Recorder, Window};
use crate::scenario::{Anchor, FetchStep, Phase};
use crate::setup::{Stage, members_of};
use crate::text::Random;

/// One of this many pages is parsed.
const CHECK_EVERY: u64 = 64;
/// Messages of a page when those of a channel are counted: the most that a server gives.
const COUNTED_PAGE: u32 = 5_000;

/// Runs a `fetch` phase.
pub async fn run(
    stage: &mut Stage,
    phase: &Phase,
    step: &FetchStep,
    server_pid: Option<u32>,
) -> Result<PhaseResult, LoadError> {
    let channels = stage.channels_named(&step.channel)?;
    let ids: Vec<u64> = channels.iter().map(|channel| channel.id).collect();
    let accounts = stage.accounts(&members_of(&channels), step.clients as usize).await?;
    let mut api = Api::open(&stage.target).await?;
    let mut fetchers = Vec::with_capacity(accounts.len());
    for (seed, account) in (1..).zip(&accounts) {
        let fetcher = Fetcher::open(&stage.target, account, &ids, step.num_before, seed).await?;
        fetchers.push(fetcher);
    }
    if let [id] = ids[..] {
        let range = find_anchor_range(&mut api, &accounts[0], id, step.num_before).await?;
        for (fetcher, account) in fetchers.iter_mut().zip(&accounts) {
            fetcher.full_pages = true;
            if step.anchor == Anchor::Anywhere {
                fetcher.go_anywhere(&stage.target, account, id, range);
            }
        }
    }
    let (window, ramp) = (Window::of(phase), phase.ramp());
    let load = Load::of(ramp.as_ref(), step.rate_per_sec);
    let recorder = Arc::new(Recorder::staged("fetch", window, ramp));
    let mut tasks = ClientTasks::new(&phase.name, window, vec![recorder.clone()], server_pid);
    for (index, fetcher) in (0..).zip(fetchers) {
        tasks.add(fetcher.run(Pace::new(&window, &load, index, step.clients), recorder.clone()));
    }
    tasks.wait().await;
    Ok(tasks.into_result(Instant::now()))
}

fn page_path(channel_id: u64, num_before: u32, num_after: u32, anchor: &str) -> String {
    let narrow = serde_json::json!([{ "operator": "channel", "operand": channel_id }]).to_string();
    let (before, after) = (num_before.to_string(), num_after.to_string());
    let query = encode_form(&[
        ("narrow", &narrow),
        ("num_before", &before),
        ("num_after", &after),
        ("include_anchor", "false"),
        ("anchor", anchor),
    ]);
    format!("/api/v1/messages?{query}")
}

async fn read_ids(api: &mut Api, reader: &Account, path: &str) -> Result<Vec<u64>, LoadError> {
    let page = api.get_ok(path, Some(reader)).await?;
    let messages = page["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(messages.iter().filter_map(|message| message["id"].as_u64()).collect())
}

/// The first and the last message id of a channel; `None` if it is empty.
pub async fn find_id_range(
    api: &mut Api,
    reader: &Account,
    channel_id: u64,
) -> Result<Option<(u64, u64)>, LoadError> {
    let first = read_ids(api, reader, &page_path(channel_id, 0, 1, "oldest")).await?;
    let last = read_ids(api, reader, &page_path(channel_id, 1, 0, "newest")).await?;
    Ok(first.first().copied().zip(last.last().copied()))
}

/// How many messages a channel has, counted up to `wanted`.
pub async fn count_up_to(
    api: &mut Api,
    reader: &Account,
    channel_id: u64,
    wanted: u64,
) -> Result<u64, LoadError> {
    let (mut count, mut anchor) = (0, "newest".to_owned());
    while count < wanted {
        let page = u32::try_from(wanted - count).unwrap_or(COUNTED_PAGE).min(COUNTED_PAGE);
        let ids = read_ids(api, reader, &page_path(channel_id, page, 0, &anchor)).await?;
        count += ids.len() as u64;
        let (Some(first), Some(last)) = (ids.first(), ids.last()) else { break };
        if ids.len() < page as usize {
            break;
        }
        // All ids of the page are of this channel, so that a fill sent them without other traffic, and those before as well.
        if count < wanted && anchor == "newest" && last - first + 1 == ids.len() as u64 {
            let range = find_id_range(api, reader, channel_id).await?;
            count = range.map_or(0, |(oldest, newest)| newest - oldest + 1);
            break;
        }
        anchor = first.to_string();
    }
    Ok(count.min(wanted))
}

/// The range of anchors that have a whole page before them.
async fn find_anchor_range(
    api: &mut Api,
    reader: &Account,
    channel_id: u64,
    num_before: u32,
) -> Result<(u64, u64), LoadError> {
    let first = read_ids(api, reader, &page_path(channel_id, 0, num_before, "oldest")).await?;
    let Some((_, newest)) = find_id_range(api, reader, channel_id).await? else {
        return Err(LoadError::Usage(
            "the channel to fetch from is empty: add a fill to the scenario".to_owned(),
        ));
    };
    if first.len() < num_before as usize {
        return Err(LoadError::Usage(format!("the channel has fewer than {num_before} messages: fill it")));
    }
    let lowest = first.last().copied().unwrap_or(newest) + 1;
    Ok((lowest, newest.max(lowest)))
}

/// A client that reads pages.
#[derive(Debug)]
pub struct Fetcher {
    connection: Connection,
    /// Channel id, and the complete request for its newest page.
    newest: Vec<(u64, Vec<u8>)>,
    anywhere: Option<Anywhere>,
    num_before: usize,
    /// Whether a page with fewer than `num_before` messages is a failure.
    full_pages: bool,
    random: Random,
    request: Vec<u8>,
    fetched: u64,
}

/// Requests for random pages of one channel.
#[derive(Debug)]
struct Anywhere {
    channel_id: u64,
    request: NumberedGet,
    lowest: u64,
    newest: u64,
}

#[derive(Deserialize)]
struct Page {
    messages: Vec<PageMessage>,
}

#[derive(Deserialize)]
struct PageMessage {
    id: u64,
    stream_id: Option<u64>,
}

impl Fetcher {
    /// Connects; each request fetches the newest page of a random channel of `channel_ids`.
    pub async fn open(
        target: &Arc<Target>,
        account: &Account,
        channel_ids: &[u64],
        num_before: u32,
        seed: u64,
    ) -> Result<Self, LoadError> {
        let connection = Connection::open(target)
            .await
            .map_err(|source| LoadError::Http { call: format!("connect to {}", target.host), source })?;
        let request_for = |id: &u64| {
            let path = page_path(*id, num_before, 0, "newest");
            (*id, bodiless_request("GET", &target.host, &path, Some(&account.authorization)))
        };
        Ok(Self {
            connection,
            newest: channel_ids.iter().map(request_for).collect(),
            anywhere: None,
            num_before: num_before as usize,
            full_pages: false,
            random: Random::new(seed),
            request: Vec::with_capacity(512),
            fetched: 0,
        })
    }

    fn go_anywhere(&mut self, target: &Target, account: &Account, channel_id: u64, range: (u64, u64)) {
        let path = page_path(channel_id, u32::try_from(self.num_before).unwrap_or(0), 0, "");
        let request = NumberedGet::new(&target.host, &path, Some(&account.authorization));
        self.anywhere = Some(Anywhere { channel_id, request, lowest: range.0, newest: range.1 });
    }

    /// Fetches until the phase ends.
    pub async fn run(mut self, mut pace: Pace, recorder: Arc<Recorder>) {
        let mut failures_in_a_row = FailureLimit::of(&pace);
        while let Some(started) = pace.wait().await {
            if !failures_in_a_row.record(&recorder, started, pace.within(self.fetch()).await).await {
                break;
            }
        }
        pace.finish(&recorder);
    }

    async fn fetch(&mut self) -> Result<usize, Failure> {
        let (channel_id, below) = self.choose();
        self.fetched += 1;
        let reply = self.connection.exchange_rested(&self.request).await?;
        if reply.status != 200 || !is_success(reply.body) {
            return Err(Failure::of(&reply));
        }
        let bytes = reply.body.len();
        if self.fetched % CHECK_EVERY == 1 {
            let least = if self.full_pages { self.num_before } else { 0 };
            check_page(reply.body, channel_id, below, least..=self.num_before).map_err(of_sample)?;
        }
        Ok(bytes)
    }

    /// Writes the next request; returns its channel and the exclusive upper bound of its ids.
    fn choose(&mut self) -> (u64, u64) {
        if let Some(anywhere) = &self.anywhere {
            let anchor = anywhere.lowest + self.random.below(anywhere.newest - anywhere.lowest + 1);
            anywhere.request.fill(&mut self.request, i64::try_from(anchor).unwrap_or(i64::MAX));
            return (anywhere.channel_id, anchor);
        }
        let place = usize::try_from(self.random.below(self.newest.len() as u64)).unwrap_or(0);
        self.request.clone_from(&self.newest[place].1);
        (self.newest[place].0, u64::MAX)
    }
}

/// What a failed check is counted as: the pages between were not checked, so more may be wrong.
fn of_sample(reason: String) -> String {
    format!("{reason} (1 of {CHECK_EVERY} pages is checked)")
}

/// Whether a page has ascending messages of one channel before an id, and as many as it should.
fn check_page(
    body: &[u8],
    channel_id: u64,
    below: u64,
    count: std::ops::RangeInclusive<usize>,
) -> Result<(), String> {
    let page: Page = serde_json::from_slice(body).map_err(|_| "a malformed page".to_owned())?;
    if !count.contains(&page.messages.len()) {
        return Err(format!("a page of {} messages", page.messages.len()));
    }
    if !page.messages.windows(2).all(|pair| pair[0].id < pair[1].id) {
        return Err("a page that is not ascending".to_owned());
    }
    if page.messages.iter().any(|message| message.id >= below || message.stream_id != Some(channel_id)) {
        return Err("a page with messages of another channel".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(ids: &[u64]) -> Vec<u8> {
        let messages: Vec<_> =
            ids.iter().map(|id| serde_json::json!({"id": id, "stream_id": 5, "x": 1})).collect();
        serde_json::json!({ "result": "success", "messages": messages }).to_string().into_bytes()
    }

    #[test]
    fn pages_are_checked_for_order_place_and_size() {
        assert_eq!(check_page(&page(&[1, 2, 9]), 5, 10, 3..=3), Ok(()));
        assert!(check_page(&page(&[1, 2]), 5, 10, 3..=3).is_err());
        assert!(check_page(&page(&[2, 1, 3]), 5, 10, 3..=3).is_err());
        assert!(check_page(&page(&[1, 2, 10]), 5, 10, 3..=3).is_err());
        assert!(check_page(&page(&[1, 2, 3]), 6, 10, 3..=3).is_err());
        assert!(check_page(b"{}", 5, 10, 0..=3).is_err());
        let counted = check_page(&page(&[1, 2]), 5, 10, 3..=3).map_err(of_sample);
        assert_eq!(counted, Err("a page of 2 messages (1 of 64 pages is checked)".to_owned()));
    }

    #[test]
    fn anchor_is_last_in_the_path() {
        assert!(page_path(7, 100, 0, "").ends_with("&anchor="));
        assert!(page_path(7, 1, 0, "newest").contains("operand%22%3A7"));
    }
}
