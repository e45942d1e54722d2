//! Changes of saved texts, as events report them.

/// What happened to texts of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextChange<I, T> {
    /// They are new.
    Added(Vec<(I, T)>),
    /// One is now this.
    Changed(I, T),
    /// One was deleted, or sent.
    Removed(I),
}

impl<I, T> TextChange<I, T> {
    /// The texts that the event has.
    pub fn texts(&self) -> impl Iterator<Item = &T> {
        let (added, changed) = match self {
            Self::Added(added) => (added.as_slice(), None),
            Self::Changed(_, text) => (&[][..], Some(text)),
            Self::Removed(_) => (&[][..], None),
        };
        added.iter().map(|(_, text)| text).chain(changed)
    }
}
