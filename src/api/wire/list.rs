//! Lists and objects of many values, written one after the other without collecting them first.

use super::json::{push_text, push_value};
use serde::Serialize;

/// Writes `[a,b,…]`.
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

/// Writes `{"name":value,…}`. Names must differ.
pub fn push_object<T: Serialize>(out: &mut Vec<u8>, members: impl IntoIterator<Item = (String, T)>) {
    out.push(b'{');
    for (index, (name, value)) in members.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        push_text(out, &name);
        out.push(b':');
        push_value(out, &value);
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_objects() {
        let mut out = Vec::new();
        push_list(&mut out, [1, 2, 3]);
        push_list(&mut out, [0; 0]);
        push_object(&mut out, [("a\"".to_owned(), true), ("b".to_owned(), false)]);
        push_object(&mut out, Vec::<(String, u8)>::new());
        assert_eq!(String::from_utf8(out).unwrap(), r#"[1,2,3][]{"a\"":true,"b":false}{}"#);
    }
}
