//! What holds when the process ends, politely or not. These run the real program on a folder of their own.

mod delete_topic;
mod folder;
mod invitations;
mod kill;
mod load;
mod notifications;
mod outbox;
mod pictures;
mod replay;
mod terminate;
mod webhooks;
