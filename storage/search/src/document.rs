//! A message as the library gets it: its id, and its terms in one text, each with a space after it.

use crate::schema::Fields;
use model::MessageId;
use tantivy::schema::document::Document;
use tantivy::schema::{Field, OwnedValue};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// What each term has after it.
pub(crate) const END: char = ' ';

/// The id and the terms. It has fewer allocations than the library's own documents.
pub(crate) struct MessageDocument([(Field, OwnedValue); 2]);

impl MessageDocument {
    /// A message with terms that each end with `END`.
    pub fn new(fields: Fields, id: MessageId, terms: &str) -> Self {
        let terms = OwnedValue::Str(terms.to_owned());
        Self([(fields.id, OwnedValue::U64(id.0.into())), (fields.text, terms)])
    }
}

impl Document for MessageDocument {
    type Value<'a> = &'a OwnedValue;
    type FieldsValuesIter<'a> = std::iter::Map<
        std::slice::Iter<'a, (Field, OwnedValue)>,
        fn(&'a (Field, OwnedValue)) -> (Field, &'a OwnedValue),
    >;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        self.0.iter().map(|(field, value)| (*field, value))
    }
}

/// Divides the terms of a message again.
#[derive(Clone, Default)]
pub(crate) struct TermTokenizer(Token);

/// The terms that were not given yet.
pub(crate) struct Terms<'t> {
    rest: &'t str,
    token: &'t mut Token,
}

impl Tokenizer for TermTokenizer {
    type TokenStream<'t> = Terms<'t>;

    fn token_stream<'t>(&'t mut self, text: &'t str) -> Terms<'t> {
        self.0.reset();
        Terms { rest: text, token: &mut self.0 }
    }
}

impl TokenStream for Terms<'_> {
    fn advance(&mut self) -> bool {
        // Terms are short, so a search with wide registers takes longer.
        let Some(end) = self.rest.bytes().position(|byte| byte == END as u8) else { return false };
        self.token.text.clear();
        self.token.text.push_str(&self.rest[..end]);
        self.token.position = self.token.position.wrapping_add(1);
        self.rest = &self.rest[end + END.len_utf8()..];
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}
