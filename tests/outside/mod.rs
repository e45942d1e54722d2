//! What is owed to the world outside: whoever is slow, broken or gone there holds nothing up here.

mod bounds;
mod invitations;
mod mail;
mod mail_tls;
