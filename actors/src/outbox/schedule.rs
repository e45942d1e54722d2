//! The schedule of jobs: due times, attempts, and concurrency limits. Pure: time and randomness are arguments.
//!
//! Of the destinations with room, that of the owner with the fewest deliveries in progress comes first, then one whose last
//! attempt did not fail, then the owner that was served longest ago, then the earliest due job. So one owner's slow services delay
//! those of another by one attempt at most.

use model::job::{TaskDestination, TaskKind};
use model::{JobId, Timestamp, UserId};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum number of concurrent deliveries of one kind.
const KIND_IN_PROGRESS_MAX: usize = 16;
/// Maximum number of concurrent deliveries to one destination; one while the last attempt failed.
const DESTINATION_IN_PROGRESS_MAX: usize = 4;
/// Maximum number of concurrent deliveries to the destinations of one owner: more than to one of them, so that a slow one does not
/// hold the others, and so few that those of another owner have places.
const OWNER_IN_PROGRESS_MAX: usize = 6;

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
    /// Whose share of the deliveries its jobs are in, as of its first pending job; none for kinds without owners.
    owner: Option<UserId>,
    waiting: BTreeSet<(Timestamp, JobId)>,
    in_progress: usize,
    is_failing: bool,
}

/// The destinations of one owner that have jobs.
#[derive(Debug, Default)]
struct OwnerShare {
    queues: usize,
    in_progress: usize,
    /// The number of the last begun delivery.
    last_turn: u64,
}

/// The pending jobs of one organization.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    jobs: HashMap<JobId, Known>,
    queues: BTreeMap<TaskDestination, DestinationQueue>,
    owners: BTreeMap<UserId, OwnerShare>,
    in_progress: BTreeMap<TaskKind, usize>,
    /// Number of begun deliveries.
    turns: u64,
}

impl Schedule {
    /// Adds a job with the owner of its destination, unless it is known already.
    pub fn add(
        &mut self,
        id: JobId,
        (destination, owner): (TaskDestination, Option<UserId>),
        due: Timestamp,
    ) {
        if self.jobs.contains_key(&id) {
            return;
        }
        self.jobs.insert(id, Known { destination, tries: 0, first_due: due, due: Some(due) });
        let owners = &mut self.owners;
        let queue = self.queues.entry(destination).or_insert_with(|| {
            if let Some(owner) = owner {
                owners.entry(owner).or_default().queues += 1;
            }
            DestinationQueue { owner, ..DestinationQueue::default() }
        });
        queue.waiting.insert((due, id));
    }

    /// The job to begin now, with the number of the attempt; `None` if no job is due, or all due ones wait for others.
    pub fn begin(&mut self, now: Timestamp) -> Option<(JobId, u32)> {
        let open = self.queues.iter().filter_map(|(destination, queue)| {
            let first = *queue.waiting.first().filter(|(due, _)| *due <= now)?;
            Some((self.precedence(*destination, queue)?, first, *destination))
        });
        let (_, (due, id), destination) = open.min()?;
        let queue = self.queues.get_mut(&destination)?;
        queue.waiting.remove(&(due, id));
        queue.in_progress += 1;
        self.turns += 1;
        if let Some(share) = queue.owner.and_then(|owner| self.owners.get_mut(&owner)) {
            share.in_progress += 1;
            share.last_turn = self.turns;
        }
        *self.in_progress.entry(destination.kind).or_default() += 1;
        let known = self.jobs.get_mut(&id)?;
        known.due = None;
        known.tries += 1;
        Some((id, known.tries))
    }

    /// The precedence of a destination, the lowest first; none if it has no room. Destinations without an owner do not compete
    /// with those of owners, because they are of other kinds.
    fn precedence(
        &self,
        destination: TaskDestination,
        queue: &DestinationQueue,
    ) -> Option<(usize, bool, u64)> {
        let destination_max = if queue.is_failing { 1 } else { DESTINATION_IN_PROGRESS_MAX };
        let of_kind = self.in_progress.get(&destination.kind).copied().unwrap_or_default();
        let share = queue.owner.and_then(|owner| self.owners.get(&owner));
        let (of_owner, last_turn) = share.map_or((0, 0), |share| (share.in_progress, share.last_turn));
        let has_room = queue.in_progress < destination_max
            && of_kind < KIND_IN_PROGRESS_MAX
            && of_owner < OWNER_IN_PROGRESS_MAX;
        has_room.then_some((of_owner, queue.is_failing, last_turn))
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
            if let Some(share) = queue.owner.and_then(|owner| self.owners.get_mut(&owner)) {
                share.in_progress = share.in_progress.saturating_sub(1);
            }
            change(queue);
        }
        self.remove_if_unused(destination);
    }

    /// Removes a destination without jobs.
    fn remove_if_unused(&mut self, destination: TaskDestination) {
        let Some(queue) = self.queues.get(&destination) else { return };
        if queue.in_progress > 0 || !queue.waiting.is_empty() {
            return;
        }
        let owner = queue.owner;
        self.queues.remove(&destination);
        let Some(owner) = owner else { return };
        let left = self.owners.get(&owner).map_or(0, |share| share.queues.saturating_sub(1));
        match self.owners.get_mut(&owner).filter(|_| left > 0) {
            Some(share) => share.queues = left,
            None => drop(self.owners.remove(&owner)),
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
    use model::InvitationId;
    use model::job::{MailTask, Task};

    const MAIL: (TaskDestination, Option<UserId>) = (TaskDestination { kind: TaskKind::Mail, id: 0 }, None);

    /// A bot of an owner with the same number.
    fn webhook(id: u32) -> (TaskDestination, Option<UserId>) {
        bot(id, id)
    }

    fn bot(id: u32, owner: u32) -> (TaskDestination, Option<UserId>) {
        (TaskDestination { kind: TaskKind::Webhook, id }, Some(UserId(owner)))
    }

    /// Adds a job for each of an owner's bots; the ids count up from `first`.
    fn add_for_bots(schedule: &mut Schedule, owner: u32, first: u64, bots: u32) {
        for number in 0..bots {
            let id = JobId(first + u64::from(number));
            schedule.add(id, bot(owner * 1_000 + number, owner), Timestamp(0));
        }
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
        assert!(schedule.owners.is_empty());
    }

    #[test]
    fn failing_destination_does_not_block_others() {
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
        for id in 2..=30 {
            schedule.add(JobId(1_000 + u64::from(id)), webhook(id), Timestamp(0));
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
    fn bots_of_one_owner_leave_room_for_those_of_others() {
        let mut schedule = Schedule::default();
        add_for_bots(&mut schedule, 1, 100, 30);
        let begun = begin_all(&mut schedule, 0);
        assert_eq!(begun, [100, 101, 102, 103, 104, 105], "the limit of one owner");
        schedule.add(JobId(500), webhook(2), Timestamp(9));
        assert_eq!(begin_all(&mut schedule, 9), [500], "another owner's bot waits for none of them");
        begun.into_iter().for_each(|id| schedule.retry(JobId(id), Timestamp(10), 0));
        let begun = begin_all(&mut schedule, 10);
        assert_eq!(begun, [106, 107, 108, 109, 110, 111], "what failed is tried after the others");
        begun.into_iter().chain([500]).for_each(|id| schedule.end(JobId(id), true));
        for id in 100..130 {
            schedule.end(JobId(id), true);
        }
        assert!(schedule.queues.is_empty() && schedule.owners.is_empty() && schedule.in_progress() == 0);
    }

    #[test]
    fn owners_take_turns() {
        let mut schedule = Schedule::default();
        for owner in 1..=3 {
            add_for_bots(&mut schedule, owner, u64::from(owner) * 100, 10);
        }
        let begun = begin_all(&mut schedule, 0);
        let expected: Vec<u64> = (0..16).map(|turn| (turn % 3 + 1) * 100 + turn / 3).collect();
        assert_eq!(begun, expected);
        schedule.add(JobId(900), webhook(4), Timestamp(8));
        assert_eq!(begin_all(&mut schedule, 9), [] as [u64; 0], "all places are taken");
        schedule.end(JobId(100), true);
        assert_eq!(begin_all(&mut schedule, 9), [900], "who has none in progress is next, though due later");
        schedule.end(JobId(101), true);
        assert_eq!(begin_all(&mut schedule, 9), [106], "then who has the fewest");
    }

    #[test]
    fn many_invitations_do_not_delay_other_mails() {
        let user = UserId(1);
        let missed = Task::Mail(MailTask::Missed { user, messages: Vec::new() });
        let requested = Task::Mail(MailTask::PasswordReset { user, asked: Timestamp(0) });
        let mut schedule = Schedule::default();
        for id in 1..=100 {
            let invitation = Task::Mail(MailTask::Invitation(InvitationId(1)));
            schedule.add(JobId(id), (invitation.destination(), None), Timestamp(0));
        }
        assert_eq!(begin_all(&mut schedule, 0), [1, 2, 3, 4]);
        for id in 201..=210 {
            schedule.add(JobId(id), (missed.destination(), None), Timestamp(1));
        }
        schedule.add(JobId(301), (requested.destination(), None), Timestamp(2));
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
