//! External services (mail, webhooks, push) that are slow, broken or down, without effect on the server's own requests.

mod bounds;
mod invitations;
mod mail;
mod mail_tls;
