//! Scenarios across endpoints: concurrent clients, lifetimes of queues, privacy, and operation.

mod clock;
mod command_line;
mod concurrency;
mod export;
mod image;
mod import;
mod import_slack;
mod ladder;
mod mail_links;
mod monitoring;
mod moves;
mod operator;
mod order;
mod overflow;
mod privacy;
mod protected_history;
mod queues;
mod readme;
mod running;
mod scheduled;
mod search_privacy;
mod settings_reference;
mod upload_memory;
mod upload_sweep;
mod write_budget;
