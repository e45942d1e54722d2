//! Durability when the process is stopped or killed. These tests run the real program on a data folder.

mod archives;
mod backup;
mod copies;
mod delete_topic;
mod disk;
mod erase;
mod folder;
mod format_1;
mod invitations;
mod kill;
mod kill_commands;
mod message_changes;
mod notifications;
mod outbox;
mod outbox_commands;
mod pictures;
mod replay;
mod rounds;
mod scheduled;
mod search;
mod terminate;
mod traffic;
mod uploads;
mod uploads_in_parts;
mod web_sessions;
mod webhooks;
