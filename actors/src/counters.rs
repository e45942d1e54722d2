//! Counters that are in the metrics from the start, so that monitoring reads zero instead of nothing: for an alert
//! (packaging/monitoring/alerts.yaml) a counter that appears with its first failure has not increased.

use crate::health::Pause;
use metrics::{counter, gauge};
use model::job::TaskKind;

/// Counters of failures without labels.
const FAILURES: [&str; 4] = [
    "millstream_erase_failures_total",
    "millstream_checkpoint_failures_total",
    "millstream_journal_compaction_failures_total",
    "millstream_journal_keep_failures_total",
];

/// Puts the counters into the metrics, with what they have counted so far in this process.
pub(crate) fn register() {
    for pause in Pause::ALL {
        counter!("millstream_storage_failures_total", "reason" => pause.name()).increment(0);
    }
    for kind in TaskKind::ALL {
        counter!("millstream_outbox_total", "kind" => kind.name(), "outcome" => "given_up").increment(0);
    }
    for name in FAILURES {
        counter!(name).increment(0);
    }
    // Until the first verification nothing is known to be damaged.
    gauge!("millstream_journal_damaged_segments").increment(0.0);
    counter!("millstream_messages_read_total").increment(0);
    counter!("millstream_queues_overflowed_total").increment(0);
    counter!("millstream_conversation_budget_refusals_total").increment(0);
    counter!("millstream_write_budget_refusals_total").increment(0);
}
