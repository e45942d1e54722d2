//! Waiting outside of measured time, where a server limits the rate of requests.

use std::time::{Duration, Instant};

use crate::output::note;

/// How long one call waits in all.
const WAIT_MAX: Duration = Duration::from_secs(120);
/// Waited when a server does not say how long to wait, and from this sum on there is a line about it.
const WAIT: Duration = Duration::from_secs(1);
/// The shortest wait, so that a server that asks for none is not flooded.
const WAIT_MIN: Duration = Duration::from_millis(10);

/// The waits of one connection.
#[derive(Debug, Default)]
pub struct RateLimitWaits {
    waited: Duration,
    has_said_so: bool,
}

impl RateLimitWaits {
    /// Waits as long as the server asks for before a call that began then is repeated; `false`, without a wait, if that is too long.
    pub async fn wait(&mut self, call: &str, begun: Instant, asked: Option<Duration>) -> bool {
        let (wait, line) = self.next(call, begun.elapsed(), asked);
        if let Some(line) = line {
            note(line);
        }
        let Some(wait) = wait else { return false };
        tokio::time::sleep(wait).await;
        true
    }

    /// How long to wait, none if that is too long, and the line to print. `since` is how long the call has taken so far.
    fn next(
        &mut self,
        call: &str,
        since: Duration,
        asked: Option<Duration>,
    ) -> (Option<Duration>, Option<String>) {
        let wait = asked.unwrap_or(WAIT).max(WAIT_MIN);
        let (asked_secs, most) = (wait.as_secs_f64(), WAIT_MAX.as_secs());
        if since + wait > WAIT_MAX {
            let line = format!(
                "{call}: the server limits the rate of requests and asks to wait for {asked_secs:.1} s; \
                 not repeated any more, because a call waits for {most} s in all at most"
            );
            return (None, Some(line));
        }
        self.waited += wait;
        if self.has_said_so || self.waited < WAIT {
            return (Some(wait), None);
        }
        self.has_said_so = true;
        let line = format!(
            "{call}: the server limits the rate of requests and asks to wait for {asked_secs:.1} s; \
             repeated for up to {most} s"
        );
        (Some(wait), Some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: Duration = Duration::from_millis(500);

    #[test]
    fn line_about_short_waits_comes_once_they_add_up() {
        let mut waits = RateLimitWaits::default();
        assert_eq!(waits.next("GET /x", Duration::ZERO, Some(HALF)), (Some(HALF), None));
        let (wait, line) = waits.next("GET /x", HALF, Some(HALF));
        assert_eq!(wait, Some(HALF));
        let line = line.unwrap();
        assert!(
            line.starts_with("GET /x: ") && line.contains("for 0.5 s; repeated for up to 120 s"),
            "{line}"
        );
        assert_eq!(waits.next("GET /x", WAIT, Some(HALF)), (Some(HALF), None), "once");
    }

    #[test]
    fn waits_are_bounded_and_a_line_says_so() {
        let mut waits = RateLimitWaits::default();
        let (wait, line) = waits.next("GET /x", Duration::ZERO, Some(Duration::from_secs(86_400)));
        let line = line.unwrap();
        assert!(wait.is_none() && line.contains("for 86400.0 s; not repeated any more"), "{line}");
        assert_eq!(waits.next("GET /x", WAIT_MAX, Some(HALF)).0, None);
        assert_eq!(waits.next("GET /x", Duration::ZERO, Some(Duration::ZERO)).0, Some(WAIT_MIN));
        assert_eq!(waits.next("GET /x", Duration::ZERO, None).0, Some(WAIT));
    }
}
