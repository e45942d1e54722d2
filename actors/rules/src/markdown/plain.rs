//! The fast path for one line without any markup, as most messages are: nothing in it is special to any rule.

use super::MarkdownContext;
use super::linkifier::LinkifierBudget;
use super::urls::has_link;
use memchr::memchr_iter;

/// Which bytes are text after the first one of a line, unless they are those of a link or, between colons, of an emoji.
const IS_TEXT: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let others = b" ,!?'\"();%-./:";
    let mut at = 0;
    while at < others.len() {
        table[others[at] as usize] = true;
        at += 1;
    }
    table
};

/// The HTML of a text without markup; none if there may be some.
pub(super) fn html(text: &str, context: &dyn MarkdownContext) -> Option<String> {
    let bytes = text.as_bytes();
    // Lists, quotes, headers and code begin with other characters.
    if !bytes.first()?.is_ascii_alphabetic() || *bytes.last()? == b' ' || context.translate_emoticons() {
        return None;
    }
    // Without a branch for each byte: most texts are scanned to the end.
    if !bytes.iter().fold(true, |all, byte| all & IS_TEXT[usize::from(*byte)]) {
        return None;
    }
    // An emoji is between two colons.
    if memchr_iter(b':', bytes).nth(1).is_some() || has_link(text) {
        return None;
    }
    let mut budget = LinkifierBudget::of_text();
    let has_match =
        context.linkifiers().iter().any(|linkifier| !linkifier.matches(text, &mut budget).is_empty());
    if has_match || budget.is_spent() {
        return None;
    }
    Some(["<p>", text, "</p>"].concat())
}
