//! The schedule of jobs: due times, attempts, and concurrency limits. Pure: time and randomness are arguments.

use model::job::{TaskDestination, TaskKind};
use model::{JobId, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum number of concurrent deliveries of one kind.
const KIND_IN_PROGRESS_MAX: usize = 16;
/// Maximum number of concurrent deliveries to one destination; one while the last attempt failed.
const DESTINATION_IN_PROGRESS_MAX: usize = 4;

/// Delay after the first failure, in milliseconds.
const FIRST_WAIT_MILLIS: u64 = 2_000;
/// The longest delay between two attempts, in milliseconds.
const WAIT_MILLIS_MAX: u64 = 15 * 60 * 1000;

#[derive(Clone, Copy, Debug)]
struct Known {
    destination: TaskDestination,
    tries: u32,
    /// The due time of the first attempt.
    first_due: Timestamp,
    /// The due time of the next attempt; `None` while one is in progress.
    due: Option<Timestamp>,
}

/// A destination of jobs.
#[derive(Debug, Default)]
struct DestinationQueue {
    waiting: BTreeSet<(Timestamp, JobId)>,
    in_progress: usize,
    is_failing: bool,
}

/// The pending jobs of one organization.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    jobs: HashMap<JobId, Known>,
    queues: BTreeMap<TaskDestination, DestinationQueue>,
    in_progress: BTreeMap<TaskKind, usize>,
}

impl Schedule {
    /// Adds a job, unless it is known already.
    pub fn add(&mut self, id: JobId, destination: TaskDestination, due: Timestamp) {
        if self.jobs.contains_key(&id) {
            return;
        }
        self.jobs.insert(id, Known { destination, tries: 0, first_due: due, due: Some(due) });
        self.queues.entry(destination).or_default().waiting.insert((due, id));
    }

    /// The job to begin now, with the number of the attempt; `None` if no job is due, or all due ones wait for others.
    pub fn begin(&mut self, now: Timestamp) -> Option<(JobId, u32)> {
        let has_room = |destination: &TaskDestination, queue: &DestinationQueue| {
            let max = if queue.is_failing { 1 } else { DESTINATION_IN_PROGRESS_MAX };
            let of_kind = self.in_progress.get(&destination.kind).copied().unwrap_or_default();
            queue.in_progress < max && of_kind < KIND_IN_PROGRESS_MAX
        };
        let open = self.queues.iter().filter(|(destination, queue)| has_room(destination, queue));
        let next =
            open.filter_map(|(destination, queue)| Some((*queue.waiting.first()?, *destination))).min()?;
        let ((due, id), destination) = next;
        if due > now {
            return None;
        }
        let queue = self.queues.get_mut(&destination)?;
        queue.waiting.remove(&(due, id));
        queue.in_progress += 1;
        *self.in_progress.entry(destination.kind).or_default() += 1;
        let known = self.jobs.get_mut(&id)?;
        known.due = None;
        known.tries += 1;
        Some((id, known.tries))
    }

    /// Schedules the next attempt after a failed one, `wait_millis` from now.
    pub fn retry(&mut self, id: JobId, now: Timestamp, wait_millis: u64) {
        let Some(known) = self.jobs.get_mut(&id).filter(|known| known.due.is_none()) else { return };
        let due = Timestamp(now.0 + wait_millis);
        known.due = Some(due);
        let destination = known.destination;
        self.leave(destination, |queue| {
            queue.is_failing = true;
            queue.waiting.insert((due, id));
        });
    }

    /// Removes an ended job; `was_reached` is whether the service answered.
    pub fn end(&mut self, id: JobId, was_reached: bool) {
        let Some(known) = self.jobs.remove(&id) else { return };
        match known.due {
            None => self.leave(known.destination, |queue| queue.is_failing = !was_reached),
            Some(due) => {
                if let Some(queue) = self.queues.get_mut(&known.destination) {
                    queue.waiting.remove(&(due, id));
                }
                self.remove_if_unused(known.destination);
            }
        }
    }

    /// The due time of a job's first attempt; `None` for an unknown job.
    pub fn first_due(&self, id: JobId) -> Option<Timestamp> {
        self.jobs.get(&id).map(|known| known.first_due)
    }

    /// Number of deliveries in progress.
    pub fn in_progress(&self) -> usize {
        self.in_progress.values().sum()
    }

    fn leave(&mut self, destination: TaskDestination, change: impl FnOnce(&mut DestinationQueue)) {
        if let Some(count) = self.in_progress.get_mut(&destination.kind) {
            *count = count.saturating_sub(1);
        }
        if let Some(queue) = self.queues.get_mut(&destination) {
            queue.in_progress = queue.in_progress.saturating_sub(1);
            change(queue);
        }
        self.remove_if_unused(destination);
    }

    /// Removes a destination without jobs.
    fn remove_if_unused(&mut self, destination: TaskDestination) {
        if self
            .queues
            .get(&destination)
            .is_some_and(|queue| queue.in_progress == 0 && queue.waiting.is_empty())
        {
            self.queues.remove(&destination);
        }
    }
}

/// The time of a job's first attempt. If its kind cannot be delivered as configured, attempts can only fail until a restart
/// with another configuration: there is a single attempt at the end, after which the job is dropped.
pub(super) fn first_attempt(due: Timestamp, can_be_delivered: bool, give_up_secs: u64) -> Timestamp {
    if can_be_delivered {
        return due;
    }
    Timestamp(due.0.saturating_add(give_up_secs.saturating_mul(1000)))
}

/// The delay after a number of failed attempts, in milliseconds: exponential backoff up to a quarter of an hour, with a
/// random reduction of up to half, so that jobs that failed together are not repeated together.
pub(super) fn wait_millis(tries: u32, chance: u64) -> u64 {
    let doubled = FIRST_WAIT_MILLIS.saturating_mul(1 << tries.saturating_sub(1).min(20));
    let whole = doubled.min(WAIT_MILLIS_MAX);
    whole - chance % (whole / 2)
}

/// The delay in milliseconds if the service asked for some seconds without requests: at most the longest delay.
pub(super) fn wait_at_least(after_secs: u64, wait_millis: u64) -> u64 {
    wait_millis.max(after_secs.saturating_mul(1000).min(WAIT_MILLIS_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::job::{MailTask, Task};
    use model::{InvitationId, UserId};

    const MAIL: TaskDestination = TaskDestination { kind: TaskKind::Mail, id: 0 };

    fn webhook(id: u32) -> TaskDestination {
        TaskDestination { kind: TaskKind::Webhook, id }
    }

    fn begin_all(schedule: &mut Schedule, now: u64) -> Vec<u64> {
        std::iter::from_fn(|| schedule.begin(Timestamp(now))).map(|(id, _)| id.0).collect()
    }

    #[test]
    fn jobs_start_in_order_of_due_time() {
        let mut schedule = Schedule::default();
        for (id, due) in [(1, 30), (2, 10), (3, 20)] {
            schedule.add(JobId(id), MAIL, Timestamp(due));
        }
        assert_eq!(begin_all(&mut schedule, 9), [] as [u64; 0]);
        assert_eq!(begin_all(&mut schedule, 25), [2, 3]);
        schedule.add(JobId(2), MAIL, Timestamp(0));
        assert_eq!(begin_all(&mut schedule, 25), [] as [u64; 0], "what is known is not taken twice");
        schedule.end(JobId(1), true);
        assert_eq!(begin_all(&mut schedule, 99), [] as [u64; 0], "what ended while it waited is not begun");
        schedule.end(JobId(2), true);
        schedule.end(JobId(3), true);
        assert!(schedule.jobs.is_empty() && schedule.queues.is_empty() && schedule.in_progress() == 0);
    }

    #[test]
    fn failing_lane_does_not_block_others() {
        let mut schedule = Schedule::default();
        for id in 1..=100 {
            schedule.add(JobId(id), webhook(1), Timestamp(0));
        }
        let begun = begin_all(&mut schedule, 0);
        assert_eq!(begun, [1, 2, 3, 4], "at most this many at once to one destination");
        for id in begun {
            schedule.retry(JobId(id), Timestamp(0), 1_000);
        }
        assert_eq!(begin_all(&mut schedule, 10), [5], "then one by one, as long as it fails");
        for place in 2..=30 {
            schedule.add(JobId(1_000 + u64::from(place)), webhook(place), Timestamp(0));
        }
        schedule.add(JobId(2_000), MAIL, Timestamp(5));
        let begun = begin_all(&mut schedule, 10);
        assert_eq!(begun.len(), KIND_IN_PROGRESS_MAX - 1 + 1, "the kind's room, and the mail");
        assert!(begun.contains(&2_000));
        schedule.end(JobId(5), true);
        for id in begun {
            schedule.end(JobId(id), true);
        }
        assert!(
            begin_all(&mut schedule, 10).len() > 4,
            "a destination that answers again gets several at once"
        );
    }

    #[test]
    fn many_invitations_do_not_delay_other_mails() {
        let user = UserId(1);
        let missed = Task::Mail(MailTask::Missed { user, messages: Vec::new() });
        let requested = Task::Mail(MailTask::PasswordReset { user, asked: Timestamp(0) });
        let mut schedule = Schedule::default();
        for id in 1..=100 {
            let invitation = Task::Mail(MailTask::Invitation(InvitationId(1)));
            schedule.add(JobId(id), invitation.destination(), Timestamp(0));
        }
        assert_eq!(begin_all(&mut schedule, 0), [1, 2, 3, 4]);
        for id in 201..=210 {
            schedule.add(JobId(id), missed.destination(), Timestamp(1));
        }
        schedule.add(JobId(301), requested.destination(), Timestamp(2));
        assert_eq!(begin_all(&mut schedule, 2), [201, 202, 203, 204, 301]);
    }

    #[test]
    fn undeliverable_jobs_are_attempted_once_at_the_end() {
        let due = Timestamp(7_000);
        assert_eq!(first_attempt(due, true, 60), due);
        assert_eq!(first_attempt(due, false, 60), Timestamp(67_000));
        assert_eq!(first_attempt(due, false, u64::MAX), Timestamp(u64::MAX));
        let mut schedule = Schedule::default();
        schedule.add(JobId(1), MAIL, first_attempt(due, false, 60));
        assert_eq!(begin_all(&mut schedule, 66_999), [] as [u64; 0]);
        assert_eq!(begin_all(&mut schedule, 67_000), [1]);
    }

    #[test]
    fn attempts_are_counted_and_delayed() {
        let mut schedule = Schedule::default();
        schedule.add(JobId(1), MAIL, Timestamp(0));
        assert_eq!(schedule.begin(Timestamp(0)), Some((JobId(1), 1)));
        schedule.retry(JobId(1), Timestamp(100), 50);
        assert_eq!(schedule.begin(Timestamp(149)), None);
        assert_eq!(schedule.begin(Timestamp(150)), Some((JobId(1), 2)));
    }

    #[test]
    fn services_may_ask_for_a_longer_delay() {
        for (after_secs, wait_millis, expected) in
            [(0, 1_500, 1_500), (1, 1_500, 1_500), (60, 1_500, 60_000), (u64::MAX, 1_500, WAIT_MILLIS_MAX)]
        {
            assert_eq!(wait_at_least(after_secs, wait_millis), expected);
        }
    }

    #[test]
    fn backoff_doubles_up_to_limit() {
        for (tries, most) in
            [(1, 2_000), (2, 4_000), (3, 8_000), (9, 512_000), (10, 900_000), (u32::MAX, 900_000)]
        {
            assert_eq!(wait_millis(tries, 0), most);
            for chance in [1, 999, 12_345, u64::MAX] {
                let wait = wait_millis(tries, chance);
                assert!(wait > most / 2 && wait <= most, "{tries} {chance}: {wait}");
            }
        }
    }
}
