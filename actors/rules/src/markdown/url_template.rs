//! URL templates of RFC 6570, for values that are single strings.

use std::fmt::Write as _;

use thiserror::Error;

/// A malformed template.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("invalid URL template")]
pub struct TemplateError;

/// Names of the variables that a template uses, in order, or an error if it is malformed.
pub fn template_variables(template: &str) -> Result<Vec<String>, TemplateError> {
    Ok(UrlTemplate::parse(template)?.variables().map(str::to_owned).collect())
}

/// A parsed template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UrlTemplate {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Expression(Operator, Vec<Variable>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Variable {
    name: String,
    /// Characters of the value that are used.
    length_max: Option<usize>,
}

/// How an expression joins its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Operator {
    first: &'static str,
    separator: &'static str,
    /// If each value has its name before it: the text after the name of an empty value.
    named: Option<&'static str>,
    /// Whether characters with a meaning in URLs are not encoded.
    keeps_reserved: bool,
}

const fn operator(
    first: &'static str,
    separator: &'static str,
    named: Option<&'static str>,
    keeps_reserved: bool,
) -> Operator {
    Operator { first, separator, named, keeps_reserved }
}

/// The operators, by the character that selects them.
const OPERATORS: [(char, Operator); 7] = [
    ('+', operator("", ",", None, true)),
    ('#', operator("#", ",", None, true)),
    ('.', operator(".", ".", None, false)),
    ('/', operator("/", "/", None, false)),
    (';', operator(";", ";", Some(""), false)),
    ('?', operator("?", "&", Some("="), false)),
    ('&', operator("&", "&", Some("="), false)),
];

const SIMPLE: Operator = operator("", ",", None, false);

impl UrlTemplate {
    pub(super) fn parse(template: &str) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut rest = template;
        while let Some((literal, after)) = rest.split_once('{') {
            let (expression, after) = after.split_once('}').ok_or(TemplateError)?;
            parts.push(Part::literal(literal)?);
            parts.push(Part::expression(expression)?);
            rest = after;
        }
        parts.push(Part::literal(rest)?);
        Ok(Self { parts })
    }

    /// Names of the variables used, in order.
    pub(super) fn variables(&self) -> impl Iterator<Item = &str> {
        let expressions = self.parts.iter().filter_map(|part| match part {
            Part::Literal(_) => None,
            Part::Expression(_, variables) => Some(variables),
        });
        expressions.flatten().map(|variable| variable.name.as_str())
    }

    /// Fills the template; a variable without a value is left out.
    pub(super) fn expand<'v>(&self, value_of: impl Fn(&str) -> Option<&'v str>) -> String {
        let mut url = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(literal) => push_encoded(&mut url, literal, true),
                Part::Expression(operator, variables) => {
                    let mut joint = operator.first;
                    for variable in variables {
                        let Some(value) = value_of(&variable.name) else { continue };
                        url.push_str(joint);
                        joint = operator.separator;
                        operator.push_value(&mut url, variable, value);
                    }
                }
            }
        }
        url
    }
}

impl Part {
    fn literal(text: &str) -> Result<Self, TemplateError> {
        if text.contains('}') { Err(TemplateError) } else { Ok(Self::Literal(text.to_owned())) }
    }

    fn expression(text: &str) -> Result<Self, TemplateError> {
        let known = OPERATORS.iter().find(|(sign, _)| text.starts_with(*sign));
        let (operator, list) = match known {
            Some((_, operator)) => (*operator, &text[1..]),
            None => (SIMPLE, text),
        };
        let variables = list.split(',').map(Variable::parse).collect::<Result<_, _>>()?;
        Ok(Self::Expression(operator, variables))
    }
}

impl Variable {
    fn parse(text: &str) -> Result<Self, TemplateError> {
        // Exploding (`*`) affects only lists, and values here are single strings.
        let text = text.strip_suffix('*').unwrap_or(text);
        let (name, length_max) = match text.split_once(':') {
            Some((name, digits)) => (name, Some(digits.parse().map_err(|_| TemplateError)?)),
            None => (text, None),
        };
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        if name.is_empty() || !name.bytes().all(is_name) {
            return Err(TemplateError);
        }
        Ok(Self { name: name.to_owned(), length_max })
    }
}

impl Operator {
    fn push_value(self, url: &mut String, variable: &Variable, value: &str) {
        if let Some(after_name) = self.named {
            url.push_str(&variable.name);
            url.push_str(if value.is_empty() { after_name } else { "=" });
        }
        let end = variable.length_max.and_then(|length| value.char_indices().nth(length));
        let value = end.map_or(value, |(end, _)| &value[..end]);
        push_encoded(url, value, self.keeps_reserved);
    }
}

fn push_encoded(url: &mut String, text: &str, keeps_reserved: bool) {
    for (at, byte) in text.bytes().enumerate() {
        let is_kept = byte.is_ascii_alphanumeric()
            || b"-._~".contains(&byte)
            || keeps_reserved && (b":/?#[]@!$&'()*+,;=".contains(&byte) || is_escape(&text.as_bytes()[at..]));
        if is_kept {
            url.push(char::from(byte));
        } else {
            write!(url, "%{byte:02X}").expect("writing to a String cannot fail");
        }
    }
}

/// Whether a percent-encoded byte begins here.
fn is_escape(bytes: &[u8]) -> bool {
    matches!(bytes, [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(template: &str) -> String {
        UrlTemplate::parse(template).unwrap().expand(|name| match name {
            "id" => Some("12"),
            "path" => Some("a/b c"),
            "empty" => Some(""),
            _ => None,
        })
    }

    #[test]
    fn each_operator_joins_values() {
        assert_eq!(expand("https://t.example/{id}"), "https://t.example/12");
        assert_eq!(expand("{path},{+path}"), "a%2Fb%20c,a/b%20c");
        assert_eq!(expand("x{#path}"), "x#a/b%20c");
        assert_eq!(expand("x{/id,path}{.id}"), "x/12/a%2Fb%20c.12");
        assert_eq!(expand("x{?id,empty,none}{&path}"), "x?id=12&empty=&path=a%2Fb%20c");
        assert_eq!(expand("x{;id,empty}"), "x;id=12;empty");
        assert_eq!(expand("{path:3}{id*}{none}%20"), "a%2Fb12%20");
    }

    #[test]
    fn malformed_templates_are_refused() {
        for template in ["{", "}", "{}", "{a b}", "{a:x}", "x{a,}"] {
            assert_eq!(UrlTemplate::parse(template), Err(TemplateError), "{template}");
        }
    }
}
