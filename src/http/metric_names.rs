//! The metrics of the server: names with their units, and what they mean.

/// Names and explanations, which `GET /metrics` shows as `HELP`. A test compares them with what is shown, and with the
/// dashboard and alerts below `packaging/monitoring`.
pub const METRICS: &[(&str, &str)] = &[
    ("millstream_answers_in_line", "Requests whose responses are being encoded or wait for it, by kind."),
    (
        "millstream_answers_refused_total",
        "Requests refused because too many responses were waiting to be encoded, by kind.",
    ),
    ("millstream_build_info", "1, with the version of the server."),
    ("millstream_checkpoint_bytes", "Size of the newest checkpoint."),
    ("millstream_checkpoint_failures_total", "Checkpoints that could not be written."),
    ("millstream_checkpoints_total", "Checkpoints that were written."),
    ("millstream_cluster_append_seconds", "Duration of an append to the database in seconds."),
    (
        "millstream_cluster_appends_ambiguous_total",
        "Appends whose answer was lost, and which were resolved by reading the database.",
    ),
    (
        "millstream_cluster_appends_fenced_total",
        "Organizations that were closed because another node has taken them.",
    ),
    (
        "millstream_cluster_checkpoint_failures_total",
        "Checkpoints that could not be stored for all nodes, and failures of archiving frames.",
    ),
    (
        "millstream_cluster_checkpoints_loaded_total",
        "Organizations that the node loaded from a checkpoint in the shared files.",
    ),
    ("millstream_cluster_checkpoints_total", "Checkpoints that the node stored in the shared files."),
    (
        "millstream_cluster_checkpoints_unusable_total",
        "Checkpoints in the shared files that were damaged or could not be read.",
    ),
    ("millstream_cluster_forwarded_total", "Requests that were passed on to another node."),
    ("millstream_cluster_lease_seconds", "Seconds until the node's lease ended when it was last renewed."),
    (
        "millstream_cluster_opened_frames_total",
        "Frames that the node read from the database when it opened organizations as their owner.",
    ),
    ("millstream_cluster_opened_total", "Organizations that the node has opened."),
    ("millstream_cluster_organizations_owned", "Organizations that the node owns."),
    (
        "millstream_cluster_standby_lag_frames",
        "Frames by which the node is behind in the followed organization where it is furthest behind.",
    ),
    ("millstream_cluster_standby_organizations", "Organizations of other nodes that the node follows."),
    ("millstream_cluster_takeovers_total", "Slots that the node took because their owner was gone."),
    ("millstream_cluster_trims_total", "How often archived frames were removed from the database."),
    (
        "millstream_conversation_budget_refusals_total",
        "Direct conversations refused because an account started too many.",
    ),
    ("millstream_disk_free_bytes", "Free bytes on the disk of the data folder."),
    ("millstream_erase_completed_seconds", "When erasing was complete, in seconds since 1970."),
    ("millstream_erase_failures_total", "Failures of erasing what was deleted."),
    ("millstream_erase_pending_messages", "Deleted messages whose texts are not erased yet."),
    ("millstream_erased_messages_total", "Deleted messages whose texts were erased."),
    ("millstream_file_failures_total", "Failures of storing or reading uploaded files."),
    ("millstream_http_connections", "Open connections of clients."),
    (
        "millstream_http_connections_displaced_total",
        "Connections without a login or a request that were closed because new ones needed their slots.",
    ),
    (
        "millstream_http_connections_unread_total",
        "Connections closed because the client read nothing of a response.",
    ),
    (
        "millstream_http_request_seconds",
        "Duration of requests in seconds, by method and route; polls include their waiting.",
    ),
    ("millstream_http_requests_total", "Requests by method, route and class of the status."),
    ("millstream_journal_archived_bytes_total", "Bytes of the archives that replaced segments."),
    ("millstream_journal_bytes_total", "Bytes written to the journal."),
    ("millstream_journal_compacted_bytes_total", "Bytes of the segments that became archives."),
    ("millstream_journal_compaction_failures_total", "Failures of compacting a segment of the journal."),
    ("millstream_journal_damaged_segments", "Sealed segments that are damaged, found in the background."),
    ("millstream_journal_frames_total", "Frames written to the journal."),
    ("millstream_journal_group_frames", "Frames of one group, which share a sync of the disk."),
    ("millstream_journal_keep_failures_total", "Failures of dropping old changes from the journal."),
    (
        "millstream_journal_scrubbed_bytes_total",
        "Bytes of sealed segments that were verified in the background.",
    ),
    ("millstream_journal_sync_seconds", "Duration of a sync of the journal in seconds."),
    ("millstream_journal_trims_total", "How often old changes were dropped from the journal."),
    (
        "millstream_ldap_failures_total",
        "Queries that the LDAP directory did not answer, or answered with an error.",
    ),
    (
        "millstream_memory_refused_total",
        "Requests refused because of the memory budget, by purpose and bound.",
    ),
    ("millstream_memory_reserved_bytes", "Bytes reserved for clients, by purpose."),
    ("millstream_memory_total_max_bytes", "The budget of bytes that may be reserved for clients."),
    (
        "millstream_messages_read_total",
        "Messages that were read from the trees for a response, because they were not in memory.",
    ),
    ("millstream_missed_mails_total", "Missed-message e-mails by outcome."),
    ("millstream_outbox_total", "Deliveries (mail, webhook, push) by kind and outcome."),
    ("millstream_queues", "Event queues, by organization."),
    ("millstream_queues_charged_bytes", "Bytes in event queues, by organization."),
    ("millstream_queues_not_resumed_total", "Event queues that could not be rebuilt after a restart."),
    ("millstream_queues_overflowed_total", "Event queues that ended because their client fell behind."),
    (
        "millstream_queues_replaced_total",
        "Event queues that ended because their account registered too many.",
    ),
    ("millstream_resident_memory_bytes", "Memory of the process."),
    ("millstream_row_batches_written_total", "Batches of rows written to the trees."),
    ("millstream_rows_written_total", "Rows written to the trees."),
    ("millstream_search_behind_messages", "Messages that the search index lacks; searches read these."),
    ("millstream_shared_answer_bytes", "Bytes of encoded lists that are kept for several readers."),
    ("millstream_shared_answer_uncached_bytes", "Bytes of encoded lists that only unread responses keep."),
    ("millstream_shared_lists_total", "Encoded lists that were made, and that were reused."),
    ("millstream_storage_failures_total", "Failures of the storage, by reason."),
    ("millstream_storage_read_only", "1 while changes are refused, otherwise 0."),
    (
        "millstream_tls_certificate_ends_seconds",
        "When the certificate for HTTPS ends, in seconds since 1970.",
    ),
    ("millstream_tls_handshakes_failed_total", "TLS handshakes that failed, by reason."),
    ("millstream_uptime_seconds", "Seconds since the server started."),
    ("millstream_write_budget_refusals_total", "Changes refused because an account wrote too many bytes."),
];

/// The explanation of a metric.
pub fn help(name: &str) -> Option<&'static str> {
    METRICS.iter().find(|(known, _)| *known == name).map(|(_, help)| *help)
}
