//! Topics: the list of them, and what people want to see of each.

mod list;
