//! Who reads which channel.
