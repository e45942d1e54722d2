//! The messages of the sample organization: topics with their first messages, direct conversations, and small talk to
//! fill both.

use super::changes::CHANGES;
use super::people::EMAIL_DOMAIN;
use actors::{SeedChange, SeedThread};

/// A topic: its channel and name, who writes in it (in turns), its first messages, and how many more follow.
#[derive(Clone, Copy, Debug)]
pub struct Topic {
    pub channel: &'static str,
    pub name: &'static str,
    pub writers: &'static [&'static str],
    pub texts: &'static [&'static str],
    /// How many messages follow from [`SMALL_TALK`].
    pub more: usize,
}

/// A direct conversation.
#[derive(Clone, Copy, Debug)]
pub struct Conversation {
    /// Local parts of the e-mail addresses of its users, in the order in which they write.
    pub writers: &'static [&'static str],
    pub texts: &'static [&'static str],
    /// How many messages follow from [`SMALL_TALK`].
    pub more: usize,
}

pub const TOPICS: &[Topic] = &[
    Topic {
        channel: "Denmark",
        name: "castle repairs",
        writers: &["hamlet", "cordelia", "othello"],
        texts: &[
            "The **north tower** is leaking again. I counted *seven* buckets: \
             [buckets.png](/user_uploads/{realm}/sa/mpleorganizationfile0001/buckets.png)",
            "Here is what we need:\n\n1. slates\n2. a long ladder\n3. someone who is not afraid of ghosts",
            "@**King Hamlet** I can bring the ladder on Thursday, the rest is ~~easy~~ impossible.",
            "> someone who is not afraid of ghosts\n\nThat rules out the whole night watch :ghost:",
            "See #**Scotland>building stone** for the price of slates.",
        ],
        more: 17,
    },
    Topic {
        channel: "Denmark",
        name: "night watch",
        writers: &["AARON", "hamlet", "polonius", "iago"],
        texts: &[
            "Who's there?",
            "Nay, answer me: stand, and unfold yourself.",
            "| hour | on the wall | in the hall |\n|---|---|---|\n| ten | aaron | Iago |\n| midnight | *no one* | Polonius |",
            "/me holds the torch a little higher",
            "@*hamletcharacters* please swap your watches here, not in the corridor.",
        ],
        more: 15,
    },
    Topic {
        channel: "Denmark",
        name: "players are coming",
        writers: &["polonius", "ZOE", "hamlet"],
        texts: &[
            "The best actors in the world, either for tragedy, comedy, history, pastoral or all of them at once.",
            "The script, so far:\n\n```\nKING    sleeps in the orchard\nLUCIAN  enters with a vial\nALL     look very surprised\n```",
            "The play's the thing :performing_arts:",
        ],
        more: 12,
    },
    Topic {
        channel: "Rome",
        name: "ides of march",
        writers: &["cordelia", "prospero", "iago", "desdemona"],
        texts: &[
            "Is anybody free on the 15th? I was told to beware of it, but not why.",
            "* morning: senate\n* noon: lunch, **no salad**\n* afternoon: nothing planned",
            "I would move it to <time:2027-03-16T10:00:00+01:00>, to be on the safe side.",
            "Et tu, @**Iago**?",
        ],
        more: 16,
    },
    Topic {
        channel: "Rome",
        name: "aqueduct",
        writers: &["othello", "shiva"],
        texts: &[
            "Flow is down by a third since Tuesday. The formula says $$v = \\sqrt{2gh}$$, the bath says cold.",
            "```python\ndef flow(height):\n    return (2 * 9.81 * height) ** 0.5\n```",
            "Found it: a goat. No further questions :goat:",
        ],
        more: 14,
    },
    Topic {
        channel: "Scotland",
        name: "weather",
        writers: &["ZOE", "hamlet", "shiva"],
        texts: &[
            "When shall we three meet again? In thunder, lightning, or in rain?",
            "All of them, by the look of it: :cloud: :sunshowers: :umbrella:",
            "Forecast: https://weather.example.com/scotland?days=3",
        ],
        more: 18,
    },
    Topic {
        channel: "Scotland",
        name: "building stone",
        writers: &["prospero", "cordelia"],
        texts: &[
            "Slates are `4 groats` a dozen, delivered. [The price list](https://quarry.example.com/prices) is new.",
            "Take two dozen. The receipt goes to #**core team**, they pay.",
        ],
        more: 12,
    },
    Topic {
        channel: "Scotland",
        name: "moving forest",
        writers: &["iago", "desdemona", "AARON"],
        texts: &[
            "As I did stand my watch upon the hill, I looked toward Birnam, and anon, methought, the wood began to move.",
            "```spoiler How it ends\nIt was people with branches.\n```",
            "@**all** please close the gates in the evening.",
        ],
        more: 13,
    },
    Topic {
        channel: "Venice",
        name: "missing handkerchief",
        writers: &["desdemona", "iago", "othello"],
        texts: &[
            "Has anybody seen a handkerchief? White, *spotted with strawberries*.",
            "No.",
            "I only ask because @_**Iago** was in the room.",
            "Found it in the laundry. Sorry for the noise!",
        ],
        more: 10,
    },
    Topic {
        channel: "Venice",
        name: "three ships",
        writers: &["cordelia", "ZOE", "prospero"],
        texts: &[
            "My ventures are not in one bottom trusted, nor to one place.",
            "Positions this morning:\n\n- *Andrew*: off Tripoli\n- *Rialto*: harbour\n    - unloading until noon\n- *Quicksand*: unknown :disappointed:",
            "The map is at https://ships.example.com/map, ask me for the password.",
        ],
        more: 16,
    },
    Topic {
        channel: "Verona",
        name: "ball on saturday",
        writers: &["hamlet", "ZOE", "cordelia", "AARON", "polonius"],
        texts: &[
            "Masks are **required**, swords stay at the door. Questions?",
            "May I bring someone from the *other* house?",
            "> May I bring someone from the *other* house?\n\nNo.\n\n~~Maybe.~~ No.",
            "I bite my thumb :thumbs_down:",
            "Do you bite your thumb at us, sir?",
        ],
        more: 19,
    },
    Topic {
        channel: "Verona",
        name: "messenger delayed",
        writers: &["prospero", "shiva", "desdemona"],
        texts: &[
            "The letter to Mantua came back: *address unknown, house sealed*.",
            "Was it marked urgent? See #**Verona>ball on saturday** for what depends on it.",
            "Someone should ride. @**Shiva|15** can you?",
        ],
        more: 14,
    },
    Topic {
        channel: "Verona",
        name: "",
        writers: &["othello", "hamlet"],
        texts: &["Good morning, everybody :sunrise:", "Is it? It was the nightingale, and not the lark."],
        more: 4,
    },
    Topic {
        channel: "core team",
        name: "budget",
        writers: &["desdemona", "iago", "shiva"],
        texts: &[
            "What we spent this quarter:\n\n| what | groats |\n|:--|--:|\n| slates | 8 |\n| masks | 31 |\n| poison | 0 |",
            "Thirty-one for masks? Who signed that?",
            "Let us talk about it here, not in #**Verona>ball on saturday**.",
        ],
        more: 8,
    },
    Topic {
        channel: "general",
        name: "welcome",
        writers: &["desdemona", "iago", "hamlet"],
        texts: &[
            "Welcome! This organization is a sample: write what you like, nothing of it is real.",
            "A few things to try:\n\n* send a message to #**sandbox**\n* mention someone: @_**King Hamlet**\n* react with :tada:",
            "Words, words, words.",
        ],
        more: 6,
    },
    Topic {
        channel: "sandbox",
        name: "experiments",
        writers: &["shiva", "cordelia"],
        texts: &[
            "`inline code`, **bold**, *italic*, ***both***, ~~gone~~ and a link: https://example.com",
            "```javascript\nconst words = [\"words\", \"words\", \"words\"];\nconsole.log(words.join(\", \"));\n```",
            "---\n\n```quote\nTo be, or not to be: that is the question.\n```",
        ],
        more: 4,
    },
    Topic {
        channel: "Denmark",
        name: "torches",
        writers: &["AARON", "hamlet"],
        texts: &["We need torches by Friday.", "Lanterns too, the wind is strong up there."],
        more: 2,
    },
    Topic {
        channel: "town square",
        name: "notices",
        writers: &["desdemona", "ZOE", "prospero"],
        texts: &[
            "Everyone can read this channel, with or without an account. :green_tick:",
            "The fountain is broken, see TICKET-1204. Nobody go near it before Monday.",
        ],
        more: 3,
    },
    Topic {
        channel: "stage crew",
        name: "props",
        writers: &["hamlet", "cordelia", "AARON"],
        texts: &["The skull is missing again.", "It was on the shelf this morning :skull:"],
        more: 4,
    },
];

pub const CONVERSATIONS: &[Conversation] = &[
    Conversation {
        writers: &["hamlet", "cordelia"],
        texts: &[
            "Do you have the key to the **armoury**?",
            "No, ask @**Iago**. No one should, in my opinion.",
        ],
        more: 9,
    },
    Conversation {
        writers: &["iago", "othello"],
        texts: &["I like not that.", "What dost thou say?", "Nothing, my lord; or if --- I know not what."],
        more: 10,
    },
    Conversation {
        writers: &["desdemona", "othello"],
        texts: &["Will you come home for dinner? :pizza:"],
        more: 8,
    },
    Conversation {
        writers: &["hamlet", "polonius"],
        texts: &[
            "Do you see yonder cloud that's almost in shape of a camel? :camel:",
            "Very like a whale :whale:",
        ],
        more: 3,
    },
    Conversation {
        writers: &["iago", "hamlet"],
        texts: &["The travel papers are ready, sign on page 3."],
        more: 6,
    },
    Conversation {
        writers: &["ZOE", "AARON", "cordelia"],
        texts: &["Lunch at noon?", "- fish\n- bread\n- *not* porridge again", "Fish."],
        more: 9,
    },
    Conversation {
        writers: &["desdemona", "iago", "shiva"],
        texts: &["Minutes of the meeting are in #**core team>budget**."],
        more: 5,
    },
    Conversation {
        writers: &["hamlet"],
        texts: &["Note to self: `tables`, meet it is I set it down."],
        more: 1,
    },
];

/// Messages that fill topics and conversations.
const SMALL_TALK: &[&str] = &[
    "That it should come to this!",
    "I will think about it.",
    "Agreed :+1:",
    "Brevity is the soul of wit.",
    "Could someone write that down?",
    "There are more things in heaven and earth than are dreamt of in your philosophy.",
    "Thanks, that helps.",
    "What's done is done.",
    "I would rather wait until *tomorrow*, and tomorrow, and tomorrow.",
    "Who told you?",
    "The lady doth protest too much, methinks.",
    "Nothing will come of nothing.",
    "I have it in writing, see `scroll 12`.",
    "All that glisters is not gold.",
    "Let me ask around and come back to you in an hour or two.",
    "Some rise by sin, and some by virtue fall.",
    "It was Greek to me.",
    "Then it is **decided**.",
    "Not so fast!",
    "Good night, good night! Parting is such sweet sorrow.",
    "Lord, what fools these mortals be! :laughing:",
    "My kingdom for a horse :horse:",
    "I can be there in ten minutes, if the bridge is open.",
    "Cowards die many times before their deaths; the valiant never taste of death but once.",
    "Though this be madness, yet there is method in it.",
    "Please read the [instructions](https://example.com/instructions) first.",
    "Is this still true?",
    "We few, we happy few.",
    "The rest is silence.",
];

/// All topics and direct conversations of the seed.
pub fn threads() -> Vec<SeedThread<'static>> {
    let topics = TOPICS.iter().map(|it| (Some((it.channel, it.name)), it.writers, it.texts, it.more));
    let direct = CONVERSATIONS.iter().map(|it| (None, it.writers, it.texts, it.more));
    let threads = topics.chain(direct).enumerate().map(|(offset, (topic, writers, texts, more))| {
        // A step that has no divisor in common with the table walks through all of it.
        let small_talk = (0..more).map(|index| SMALL_TALK[(offset * 5 + index * 8) % SMALL_TALK.len()]);
        SeedThread {
            topic,
            writers: writers.iter().map(|name| format!("{name}@{EMAIL_DOMAIN}")).collect(),
            senders: Vec::new(),
            texts: texts.iter().copied().chain(small_talk).collect(),
            changes: topic.map(changes_of).unwrap_or_default(),
        }
    });
    threads.collect()
}

fn changes_of((channel, topic): (&str, &str)) -> Vec<SeedChange<'static>> {
    let changes = CHANGES.iter().filter(|(known, name, _)| (*known, *name) == (channel, topic));
    changes.flat_map(|(_, _, changes)| changes.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_a_few_hundred_messages() {
        let topics: usize = TOPICS.iter().map(|topic| topic.texts.len() + topic.more).sum();
        let directs: usize = CONVERSATIONS.iter().map(|direct| direct.texts.len() + direct.more).sum();
        assert!((250..=350).contains(&(topics + directs)), "{topics} and {directs}");
    }
}
