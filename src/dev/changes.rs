//! What happened to messages of the sample organization after they were sent.

use actors::SeedChange::{self, Edited, Moved, Reacted, Starred};

const AARON: &str = "AARON@zulip.com";
const CORDELIA: &str = "cordelia@zulip.com";
const DESDEMONA: &str = "desdemona@zulip.com";
const HAMLET: &str = "hamlet@zulip.com";
const IAGO: &str = "iago@zulip.com";
const POLONIUS: &str = "polonius@zulip.com";

/// Changes by channel and topic, in which they have this order. Resolved topics are moved ones.
pub const CHANGES: &[(&str, &str, &[SeedChange<'static>])] = &[
    (
        "Denmark",
        "castle repairs",
        &[
            Edited { message: 5, text: "Brevity is the soul of *wit*." },
            Reacted { message: 3, by: CORDELIA, emoji: "ghost" },
            Reacted { message: 3, by: AARON, emoji: "ghost" },
            Reacted { message: 3, by: POLONIUS, emoji: "+1" },
            Starred { message: 1, by: HAMLET },
        ],
    ),
    (
        "Denmark",
        "torches",
        &[
            Edited { message: 0, text: "We need ten torches by Friday." },
            Edited { message: 0, text: "We need **twenty** torches by Friday." },
            Moved { by: IAGO, topic: "torches and lanterns" },
        ],
    ),
    (
        "Venice",
        "missing handkerchief",
        &[
            Reacted { message: 3, by: IAGO, emoji: "green_tick" },
            Moved { by: DESDEMONA, topic: "✔ missing handkerchief" },
        ],
    ),
    (
        "Verona",
        "ball on saturday",
        &[
            Reacted { message: 1, by: HAMLET, emoji: "zulip" },
            Starred { message: 0, by: HAMLET },
            Starred { message: 0, by: IAGO },
        ],
    ),
];
