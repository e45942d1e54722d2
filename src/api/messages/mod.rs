//! Messages: sending, reading, flags, rendering, typing.
