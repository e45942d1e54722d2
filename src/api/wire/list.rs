//! Lists and objects of many values, serialized from iterators without collecting them first.

use super::json::push_value;
use crate::http::{Envelope, HandlerResult};
use serde::{Serialize, Serializer};

/// Writes a list of values: `[a,b,…]`.
pub fn push_list<T: Serialize>(out: &mut Vec<u8>, items: impl IntoIterator<Item = T>) {
    out.push(b'[');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        push_value(out, &item);
    }
    out.push(b']');
}

/// Responds with one list.
pub fn reply_list<T: Serialize>(name: &str, items: impl IntoIterator<Item = T>) -> HandlerResult {
    let mut envelope = Envelope::with_capacity(1024);
    push_list(envelope.open_field(name), items);
    envelope.reply()
}

/// An object from an iterator of names and values, in their order. Names must differ.
#[derive(Clone, Debug)]
pub struct Object<I>(pub I);

impl<N: Serialize, V: Serialize, I: Clone + IntoIterator<Item = (N, V)>> Serialize for Object<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_objects() {
        let mut out = Vec::new();
        push_list(&mut out, [1, 2, 3]);
        push_list(&mut out, [0; 0]);
        push_value(&mut out, &Object([("a\"", true), ("b", false)]));
        push_value(&mut out, &Object([("", 0); 0]));
        assert_eq!(String::from_utf8(out).unwrap(), r#"[1,2,3][]{"a\"":true,"b":false}{}"#);
    }
}
