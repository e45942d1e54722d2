//! Parses JSON to terms and refuses malformed input; `resolve` validates operators and operands.

use crate::error::RuleError;
use crate::narrow::term::{Operand, Operator, Term};
use serde_json::Value;

/// Maximum number of terms; far more than interactive clients send.
pub const NARROW_TERMS_MAX: usize = 100;

/// A narrow as sent: a list of `{operator, operand, negated?}` objects and pairs of strings; null is none. Equal terms are one.
/// `NarrowNotList`, `NarrowTooLong`, `NarrowTerm`, `NarrowPart`, `NarrowOperandBlank`.
pub fn parse_narrow(narrow: &Value) -> Result<Vec<Term>, RuleError> {
    let elements = match narrow {
        Value::Null => return Ok(Vec::new()),
        Value::Array(elements) => elements,
        _ => return Err(RuleError::NarrowNotList),
    };
    if elements.len() > NARROW_TERMS_MAX {
        return Err(RuleError::NarrowTooLong { limit: NARROW_TERMS_MAX });
    }
    let mut terms: Vec<Term> = Vec::with_capacity(elements.len());
    for (index, element) in elements.iter().enumerate() {
        let term = parse_term(index, element)?;
        if !is_merged(&term.operator) || !terms.contains(&term) {
            terms.push(term);
        }
    }
    Ok(terms)
}

/// Whether equal terms with an operator select what one of them does, which costs a set of messages each.
fn is_merged(operator: &Operator) -> bool {
    // There may be one `with`, and all `search` terms are one text.
    !matches!(operator, Operator::With | Operator::Search)
}

fn parse_term(index: usize, element: &Value) -> Result<Term, RuleError> {
    let refused = |detail| RuleError::NarrowTerm { index, detail };
    match element {
        Value::Array(pair) => match pair.as_slice() {
            [Value::String(operator), operand @ Value::String(_)] => build(operator, operand, false),
            _ => Err(refused("element is not a string pair")),
        },
        Value::Object(fields) => {
            let present = |name| fields.get(name).filter(|value| !value.is_null());
            let operand = present("operand").ok_or_else(|| refused("operand is missing"))?;
            let operator = present("operator").ok_or_else(|| refused("operator is missing"))?;
            let Value::String(operator) = operator else {
                return Err(RuleError::NarrowPart { part: "operator", wanted: "a string" });
            };
            let negated = match present("negated") {
                None => false,
                Some(Value::Bool(negated)) => *negated,
                Some(_) => return Err(RuleError::NarrowPart { part: "negated", wanted: "a boolean" }),
            };
            build(operator, operand, negated)
        }
        _ => Err(refused("dict or list required")),
    }
}

fn build(word: &str, operand: &Value, negated: bool) -> Result<Term, RuleError> {
    let operator = Operator::from_name(word);
    let wrong = |wanted| RuleError::NarrowPart { part: "operand", wanted };
    let operand = match (&operator, operand) {
        (Operator::Direct, Value::Array(ids)) => {
            let ids: Option<Vec<i64>> = ids.iter().map(Value::as_i64).collect();
            Operand::Ids(ids.ok_or_else(|| wrong("a string or an integer list"))?)
        }
        (Operator::Direct, Value::String(emails)) => Operand::Text(emails.clone()),
        (Operator::Direct, _) => return Err(wrong("a string or an integer list")),
        (operator, Value::Number(number)) if takes_id(operator) => {
            Operand::Id(number.as_i64().ok_or_else(|| wrong("a string or integer"))?)
        }
        (_, Value::String(text)) => Operand::Text(text.clone()),
        (operator, _) if takes_id(operator) => return Err(wrong("a string or integer")),
        _ => return Err(wrong("a string")),
    };
    if operator == Operator::Search && crate::text::strip(&operand.shown()).is_empty() {
        return Err(RuleError::NarrowOperandBlank);
    }
    Ok(Term { operator, operand, negated })
}

fn takes_id(operator: &Operator) -> bool {
    matches!(
        operator,
        Operator::Channel
            | Operator::Id
            | Operator::Sender
            | Operator::GroupDirectWith
            | Operator::DirectIncluding
            | Operator::With
            // Has no effect; a number is as good as a text.
            | Operator::Near
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn term(operator: Operator, operand: Operand, negated: bool) -> Term {
        Term { operator, operand, negated }
    }

    #[test]
    fn both_forms_are_parsed() {
        let text = |text: &str| Operand::Text(text.into());
        let narrow = json!([
            ["stream", "Verona"],
            {"operator": "channel", "operand": 7},
            {"operator": "topic", "operand": "x", "negated": true},
            {"operator": "dm", "operand": [10, 11]},
            {"operator": "pm-with", "operand": "a@b,c@d", "negated": null},
            {"operator": "id", "operand": "313"},
            {"operator": "nonsense", "operand": ""},
            ["is", "private"],
        ]);
        assert_eq!(
            parse_narrow(&narrow).unwrap(),
            [
                term(Operator::Channel, text("Verona"), false),
                term(Operator::Channel, Operand::Id(7), false),
                term(Operator::Topic, text("x"), true),
                term(Operator::Direct, Operand::Ids(vec![10, 11]), false),
                term(Operator::Direct, text("a@b,c@d"), false),
                term(Operator::Id, text("313"), false),
                term(Operator::Other("nonsense".into()), text(""), false),
                term(Operator::Is, text("private"), false),
            ]
        );
        assert_eq!(parse_narrow(&json!(null)), Ok(vec![]));
        assert_eq!(parse_narrow(&json!([])), Ok(vec![]));
    }

    #[test]
    fn equal_terms_are_one() {
        let followed = json!({"operator": "is", "operand": "followed"});
        let mut narrow = vec![followed.clone(); 98];
        narrow.push(json!({"operator": "is", "operand": "followed", "negated": true}));
        narrow.push(json!({"operator": "channel", "operand": 7}));
        let terms = parse_narrow(&narrow.into()).unwrap();
        assert_eq!(terms.len(), 3, "{terms:?}");
        let kept = json!([["search", "lunch"], ["search", "lunch"], ["with", "7"], ["with", "7"]]);
        assert_eq!(parse_narrow(&kept).unwrap().len(), 4, "their number has a meaning");
    }

    #[test]
    fn malformed_narrows_are_refused() {
        for (narrow, text) in [
            (json!("stream"), "narrow is not a list"),
            (json!({"operator": "is"}), "narrow is not a list"),
            (json!(["is"]), "Invalid narrow[0]: Value error, dict or list required"),
            (json!([["is", "dm"], ["is"]]), "Invalid narrow[1]: Value error, element is not a string pair"),
            (json!([["id", 3]]), "Invalid narrow[0]: Value error, element is not a string pair"),
            (json!([{"operator": "is"}]), "Invalid narrow[0]: Value error, operand is missing"),
            (json!([{"operand": "is"}]), "Invalid narrow[0]: Value error, operator is missing"),
            (json!([{"operator": 1, "operand": "is"}]), "operator is not a string"),
            (json!([{"operator": "is", "operand": "dm", "negated": 1}]), "negated is not a boolean"),
            (json!([{"operator": "sender", "operand": [1]}]), "operand is not a string or integer"),
            (json!([{"operator": "channel", "operand": 1.5}]), "operand is not a string or integer"),
            (json!([{"operator": "dm", "operand": 1}]), "operand is not a string or an integer list"),
            (json!([{"operator": "dm", "operand": ["a"]}]), "operand is not a string or an integer list"),
            (json!([{"operator": "is", "operand": 1}]), "operand is not a string"),
            (json!([{"operator": "search", "operand": " "}]), "operand cannot be blank."),
            (json!(vec![["is", "dm"]; 101]), "narrow is too long (limit: 100 terms)"),
        ] {
            assert_eq!(parse_narrow(&narrow).unwrap_err().to_string(), text, "{narrow}");
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let words = prop_oneof![
            Just("operator".to_owned()),
            Just("operand".to_owned()),
            Just("negated".to_owned()),
            Just("dm".to_owned()),
            Just("channel".to_owned()),
            Just("with".to_owned()),
            any::<String>(),
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            words.clone().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(words.clone(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_json_panics(narrow in any_json()) {
            if let Ok(terms) = parse_narrow(&narrow) {
                prop_assert!(terms.len() <= NARROW_TERMS_MAX);
            }
        }
    }
}
