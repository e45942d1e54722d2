//! Code playgrounds: validation (docs/api/organization.md#code-playgrounds).

use crate::error::{OrganizationError, RuleError};
use crate::linkifiers::check_text;
use crate::markdown::template_variables;
use model::{Listed, Playground};

/// Maximum number of playgrounds of an organization.
const PLAYGROUNDS_MAX: usize = 500;
/// Longest name, in characters.
const NAME_CHARS_MAX: usize = 200;
/// Longest name of a language, in characters.
const LANGUAGE_CHARS_MAX: usize = 40;
/// Longest template, in characters.
const TEMPLATE_CHARS_MAX: usize = 1000;
/// The variable of the template for the code.
const VARIABLE: &str = "code";

/// A new playground from parameters as sent; the caller fills in its id. `FieldInvalid`, `TooMany`.
pub fn check_new_playground(
    all: &Listed<Playground>,
    name: &str,
    language: &str,
    url_template: &str,
) -> Result<Playground, RuleError> {
    let (name, language, url_template) = (name.trim(), language.trim(), url_template.trim());
    check_text("name", name, NAME_CHARS_MAX)?;
    check_text("pygments_language", language, LANGUAGE_CHARS_MAX)?;
    let is_fit = |c: char| c.is_ascii_alphanumeric() || " _+,-./#".contains(c);
    if !language.chars().all(is_fit) {
        let why = "Invalid characters in pygments language";
        return Err(OrganizationError::field("pygments_language", why).into());
    }
    check_text("url_template", url_template, TEMPLATE_CHARS_MAX)?;
    check_template(url_template)?;
    if all.items.iter().any(|known| known.name == name && known.language == language) {
        let why = "Realm playground with this Realm, Pygments language and Name already exists.";
        return Err(OrganizationError::field("__all__", why).into());
    }
    if all.items.len() >= PLAYGROUNDS_MAX {
        return Err(OrganizationError::TooMany { what: "playgrounds", limit: PLAYGROUNDS_MAX }.into());
    }
    let text = str::to_owned;
    Ok(Playground { id: 0, name: text(name), language: text(language), url_template: text(url_template) })
}

fn check_template(url_template: &str) -> Result<(), OrganizationError> {
    let variables = template_variables(url_template)
        .map_err(|_| OrganizationError::field("url_template", "Invalid URL template."))?;
    if !variables.iter().any(|name| name == VARIABLE) {
        let why = "Missing the required variable \"code\" in the URL template";
        return Err(OrganizationError::field("__all__", why));
    }
    if variables.iter().any(|name| name != VARIABLE) {
        let why = "\"code\" should be the only variable present in the URL template";
        return Err(OrganizationError::field("__all__", why));
    }
    Ok(())
}

/// The playground with an id as sent: `PlaygroundMissing`.
pub fn find_playground(all: &Listed<Playground>, id: i64) -> Result<&Playground, OrganizationError> {
    let mut items = all.items.iter();
    items.find(|known| i64::from(known.id) == id).ok_or(OrganizationError::PlaygroundMissing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_playgrounds_are_validated() {
        let url = "https://py.example/?c={code}";
        let known = check_new_playground(&Listed::default(), " Py ", " Python ", url).unwrap();
        assert_eq!((known.name.as_str(), known.language.as_str()), ("Py", "Python"));
        let all = Listed { items: vec![Playground { id: 4, ..known }], last_id: 4 };
        assert!(check_new_playground(&all, "Py", "Python 3.8+", url).is_ok());
        let long = "x".repeat(41);
        for (name, language, url, why) in [
            ("", "Python", url, "This field cannot be blank."),
            ("Py", "", url, "This field cannot be blank."),
            ("Py", "Pyth(on", url, "Invalid characters in pygments language"),
            ("Py", &long, url, "Ensure this value has at most 40 characters (it has 41)."),
            ("Py", "C", "", "This field cannot be blank."),
            ("Py", "C", "https://x.example/{code", "Invalid URL template."),
            ("Py", "C", "https://x.example/", "Missing the required variable \"code\" in the URL template"),
            (
                "Py",
                "C",
                "https://x.example/{code}{other}",
                "\"code\" should be the only variable present in the URL template",
            ),
            (
                "Py",
                "Python",
                url,
                "Realm playground with this Realm, Pygments language and Name already exists.",
            ),
        ] {
            let refusal = check_new_playground(&all, name, language, url).map_err(|error| error.to_string());
            assert_eq!(refusal, Err(why.to_owned()), "{name} {language} {url}");
        }
        assert_eq!(find_playground(&all, 4).map(|known| known.id), Ok(4));
        assert_eq!(find_playground(&all, 1), Err(OrganizationError::PlaygroundMissing));
    }
}
