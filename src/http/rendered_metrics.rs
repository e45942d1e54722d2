//! The text of `GET /metrics`. Rendering it takes up to ten milliseconds, so it is done off the threads that serve requests, and no more
//! often than a twentieth of a core permits: beyond that, callers get the last text.

use actix_web::error::BlockingError;
use actix_web::web::block;
use bytes::Bytes;
use std::time::Instant;
use tokio::sync::Mutex;

/// Renderings that may follow each other at once.
const BURST: f64 = 20.0;

/// Renderings that become possible in each second.
const PER_SEC: f64 = 5.0;

/// The last text, and when it may be rendered again. Those who ask meanwhile wait for the one that is being rendered.
#[derive(Default)]
pub struct RenderedMetrics(Mutex<State>);

#[derive(Default)]
struct State {
    text: Bytes,
    permits: Permits,
}

/// A token bucket of renderings.
struct Permits {
    left: f64,
    since: Option<Instant>,
}

impl Default for Permits {
    fn default() -> Self {
        Self { left: BURST, since: None }
    }
}

impl Permits {
    /// Takes a permit, if there is one.
    fn take(&mut self, now: Instant) -> bool {
        let since = self.since.replace(now).unwrap_or(now);
        self.left = (self.left + now.duration_since(since).as_secs_f64() * PER_SEC).min(BURST);
        let is_permitted = self.left >= 1.0;
        if is_permitted {
            self.left -= 1.0;
        }
        is_permitted
    }
}

impl RenderedMetrics {
    /// What `render` returns now, or has returned 200 milliseconds ago at most.
    ///
    /// # Errors
    /// When it panics.
    pub async fn text(&self, render: fn() -> String) -> Result<Bytes, BlockingError> {
        let mut state = self.0.lock().await;
        if state.permits.take(Instant::now()) {
            state.text = block(render).await?.into();
        }
        Ok(state.text.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn renderings_are_bounded() {
        let (mut permits, start) = (Permits::default(), Instant::now());
        let mut taken = |after| (0..100).filter(|_| permits.take(start + Duration::from_secs(after))).count();
        assert_eq!([taken(0), taken(0), taken(1), taken(3), taken(3600)], [20, 0, 5, 10, 20]);
    }

    #[actix_web::test]
    async fn callers_beyond_the_bound_get_the_last_text() {
        let metrics = RenderedMetrics::default();
        let mut last = Bytes::new();
        for _ in 0..(BURST as usize + 5) {
            last = metrics.text(|| "up 1".repeat(20)).await.unwrap();
        }
        assert!(last.starts_with(b"up 1"));
        metrics.0.lock().await.permits.left = 0.0;
        assert_eq!(metrics.text(String::new).await.unwrap().as_ptr(), last.as_ptr());
    }
}
