//! Whole stories: many people at once, queues that come and go, and who must not see what.

mod command_line;
mod concurrency;
mod moves;
mod order;
mod overflow;
mod privacy;
mod protected_history;
mod queues;
mod settings_reference;
