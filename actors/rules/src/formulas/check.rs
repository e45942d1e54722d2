//! A check of KaTeX's output, so that an error in it cannot become one of every client: only elements and attributes of
//! formulas, well-formed, and of a size that stays within the message.

/// The elements of formulas.
const ELEMENTS: [&str; 35] = [
    "annotation",
    "line",
    "math",
    "menclose",
    "merror",
    "mfrac",
    "mi",
    "mlabeledtr",
    "mn",
    "mo",
    "mover",
    "mpadded",
    "mphantom",
    "mroot",
    "mrow",
    "mspace",
    "msqrt",
    "mstyle",
    "msub",
    "msubsup",
    "msup",
    "mtable",
    "mtd",
    "mtext",
    "mtr",
    "munder",
    "munderover",
    "path",
    "semantics",
    "span",
    "svg",
    "ms",
    "mglyph",
    "mmultiscripts",
    "mprescripts",
];

/// The largest size in em, of either sign; a matrix with 200 rows is smaller.
const SIZE_EM_MAX: f64 = 300.0;

/// Whether the HTML has only what formulas have.
pub(super) fn is_safe(html: &str) -> bool {
    let mut open = Vec::new();
    let mut rest = html;
    while let Some((text, after)) = rest.split_once('<') {
        let Some((tag, after)) = after.split_once('>') else { return false };
        if text.contains('>') || text.contains(is_control) {
            return false;
        }
        rest = after;
        let is_fine = match tag.strip_prefix('/') {
            Some(name) => open.pop() == Some(name),
            None => is_safe_tag(tag, &mut open),
        };
        if !is_fine {
            return false;
        }
    }
    open.is_empty() && rest.is_empty()
}

/// A control character, which no client shows; the renderer uses some for itself.
fn is_control(point: char) -> bool {
    point.is_control() && point != '\n'
}

fn is_safe_tag<'t>(tag: &'t str, open: &mut Vec<&'t str>) -> bool {
    let (tag, is_closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
    let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
    if !is_closed {
        open.push(name);
    }
    ELEMENTS.contains(&name) && are_safe_attributes(attributes)
}

/// Whether attributes, each as `name="value"`, are none that run, load or link something.
fn are_safe_attributes(attributes: &str) -> bool {
    let mut rest = attributes;
    while let Some((name, after)) = rest.split_once("=\"") {
        let Some((value, after)) = after.split_once('"') else { return false };
        let name = name.trim();
        let is_refused = name.starts_with("on")
            || name.starts_with("data-")
            || name.contains("href")
            || matches!(name, "src" | "id" | "action" | "formaction" | "background");
        if is_refused || (name == "style" && !is_safe_style(value)) || value.contains(is_control) {
            return false;
        }
        rest = after;
    }
    rest.trim().is_empty()
}

/// Whether a style loads nothing and has no size beyond the bound.
fn is_safe_style(style: &str) -> bool {
    !style.contains("url(") && style.split(':').filter_map(size_in_em).all(|size| size.abs() <= SIZE_EM_MAX)
}

/// The size that a value of a style begins with.
fn size_in_em(value: &str) -> Option<f64> {
    value.split_once("em")?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_formulas_are_safe() {
        for html in [
            r#"<span class="katex" style="top:-3.063em;"><math xmlns="x"><mi>a &lt; b</mi></math></span>"#,
            r#"<svg width="1em"><path d="M1"/></svg>"#,
        ] {
            assert!(is_safe(html), "{html}");
        }
        for html in [
            "<span>",
            "</span>",
            "<span></svg>",
            "text",
            "<b></b>",
            "<span>a > b</span>",
            r#"<span onclick="x"></span>"#,
            r#"<span id="x"></span>"#,
            r#"<svg xlink:href="x"></svg>"#,
            r#"<span style="background:url(x)"></span>"#,
            r#"<span style="top:-3000em;"></span>"#,
            r#"<span style="a:1em;height:1000em;"></span>"#,
            "<span>\u{2}1\u{3}</span>",
            "<span",
        ] {
            assert!(!is_safe(html), "{html}");
        }
    }
}
