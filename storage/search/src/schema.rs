//! The schema of the index: a column of ids, and the terms of each message without positions.

use tantivy::schema::{Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions};

/// The fields of a message in the index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    pub id: Field,
    pub text: Field,
}

/// The name of the column of ids.
pub(crate) const ID: &str = "id";
const TEXT: &str = "text";

/// The tokenizer's name is stored in the index. `TermTokenizer` takes the place of the library's, which finds the same terms.
pub(crate) const TOKENIZER: &str = "whitespace";

/// The schema with its fields.
pub(crate) fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let id = schema.add_u64_field(ID, NumericOptions::default().set_fast());
    let terms = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_index_option(IndexRecordOption::Basic)
        .set_fieldnorms(false);
    let text = schema.add_text_field(TEXT, TextOptions::default().set_indexing_options(terms));
    (schema.build(), Fields { id, text })
}
