//! Responses that are not sent completely, as a fault that a development server produces on demand.

/// What is not sent of a response, as an extension of it; the connection is closed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    Everything,
    /// The second half of the body.
    SecondHalf,
}
