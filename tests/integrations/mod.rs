//! External services (mail, webhooks, push) that are slow, broken or down, without effect on the server's own requests.

mod bounds;
mod incoming;
mod incoming_examples;
mod incoming_files;
mod incoming_tls;
mod incoming_webhooks;
mod invitations;
mod mail;
mod mail_replies;
mod mail_tls;
