//! Rendering a bundle's own template of the page, which is Jinja2, with what such templates use: blocks, includes,
//! `static`, `webpack_entry`, translated texts, and some methods of Python.

use super::page_variant::{Assets, PageVariant, Placeholder, Window};
use minijinja::value::{Kwargs, Value, ValueKind, from_args};
use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior, context};
use std::sync::Arc;

/// Steps that rendering may take; a page takes about a thousand.
const FUEL: u64 = 1_000_000;
const BASE_NAME: &str = "zerver/base.html";
const INDEX_NAME: &str = "zerver/app/index.html";

/// The texts of a bundle's templates.
#[derive(Clone, Debug)]
pub struct Templates {
    pub index: String,
    pub base: String,
}

/// Renders the page with marks in place of what a request fills in. The reason if that is not possible.
pub fn render(templates: &Templates, variant: PageVariant, assets: &Assets) -> Result<String, String> {
    let mut environment = Environment::new();
    environment.set_fuel(Some(FUEL));
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    let (index, base) =
        (without_translation_tags(&templates.index), without_translation_tags(&templates.base));
    environment.set_loader(move |name| {
        Ok(Some(match name {
            INDEX_NAME => index.clone(),
            BASE_NAME => base.clone(),
            // Such as the metadata for search engines.
            _ => String::new(),
        }))
    });
    add_functions(&mut environment, assets);
    let page = environment.get_template(INDEX_NAME).and_then(|template| template.render(values(variant)));
    page.map_err(|error| error.to_string())
}

fn values(variant: PageVariant) -> Value {
    let name = Placeholder::Title.mark();
    context! {
        LANGUAGE_CODE => Placeholder::Language.mark(),
        user_profile => context! { realm => context! { name } },
        realm_name => name,
        csp_nonce => Placeholder::Nonce.mark(),
        csrf_input => Placeholder::Csrf.mark(),
        color_scheme => variant.colors.number(),
        embedded => variant.window == Window::Conversation,
        default_page_params => context! {},
        page_params => context! {},
    }
}

fn add_functions(environment: &mut Environment<'_>, assets: &Assets) {
    let (files, names) = (Arc::new(assets.app.clone()), Arc::new(assets.names.clone()));
    // Names are plain; without this mark, slashes would be escaped.
    let url = |text: &String| Value::from_safe_string(text.clone());
    environment.add_function("webpack_entry", move |_entry: &str| files.iter().map(url).collect::<Value>());
    environment.add_function("static", move |path: &str| {
        let name = names.get(path).map_or(path, String::as_str);
        let is_plain = !name.contains(['"', '\'', '<', '>', '&']);
        Value::from_safe_string(format!("/static/{}", if is_plain { name } else { "" }))
    });
    for translate in ["_", "gettext"] {
        environment.add_function(translate, |text: &str| text.to_owned());
    }
    environment
        .add_filter("tojson", |_: Value| Value::from_safe_string(Placeholder::Params.mark().to_owned()));
    environment.set_unknown_method_callback(python_method);
}

/// The methods of Python's texts and dictionaries that the templates use.
fn python_method(_: &mut State, value: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    let unknown = || Error::from(ErrorKind::UnknownMethod);
    if value.kind() == ValueKind::Map {
        return match method {
            "copy" => Ok(value.clone()),
            "update" => Ok(Value::from(())),
            _ => Err(unknown()),
        };
    }
    let text = value.as_str().ok_or_else(unknown)?;
    match method {
        "endswith" => from_args(args).map(|(end,): (&str,)| text.ends_with(end).into()),
        "startswith" => from_args(args).map(|(start,): (&str,)| text.starts_with(start).into()),
        "format" => {
            let (named,): (Kwargs,) = from_args(args)?;
            let mut out = text.to_owned();
            for name in named.args() {
                let given: Value = named.get(name)?;
                out = out.replace(&format!("{{{name}}}"), &given.to_string());
            }
            Ok(out.into())
        }
        _ => Err(unknown()),
    }
}

/// Removes the tags around translated texts, which the library does not know; of a text with a plural the singular
/// stays.
fn without_translation_tags(template: &str) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    let mut in_plural = false;
    while let Some((before, tag, after)) = next_tag(rest) {
        if !in_plural {
            out.push_str(before);
        }
        let words = tag.trim_matches(['{', '}', '%', '-', '+']);
        match words.split_whitespace().next() {
            Some("trans") => {}
            Some("pluralize") => in_plural = true,
            Some("endtrans") => in_plural = false,
            _ if in_plural => {}
            _ => out.push_str(tag),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The text before the first tag, the tag, and the text after it.
fn next_tag(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find("{%")?;
    let end = start + text.get(start..)?.find("%}")? + "%}".len();
    Some((text.get(..start)?, text.get(start..end)?, text.get(end..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translation_tags_are_removed() {
        let cases = [
            ("a{% trans %}b <a>{{ c }}</a>{% endtrans %}d", "ab <a>{{ c }}</a>d"),
            ("{%- trans n=1 -%}one{% pluralize %}many {% if x %}{% endtrans %}!", "one!"),
            ("{% block x %}{% endblock %}", "{% block x %}{% endblock %}"),
            ("{% trans", "{% trans"),
        ];
        for (template, expected) in cases {
            assert_eq!(without_translation_tags(template), expected);
        }
    }
}
