//! Zulip's web app: installing it, its files, its page, and the calls that it makes.
//!
//! Most tests use a miniature of our own, made by `support::web_app`. With `MILLSTREAM_WEB_APP` set to a release archive
//! of the Zulip server, the real app is used by a browser, too.

mod browser;
mod calls;
mod files;
mod install;
mod page;
mod spectators;
