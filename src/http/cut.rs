//! A connection that is broken off, for faults of development servers.

/// What is not sent of a response; an extension of the response. The connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    Everything,
    /// The second half of the body.
    SecondHalf,
}
