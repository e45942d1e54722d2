//! The page that starts the app, as text with placeholders: it is rendered once when a bundle is loaded, and a request only
//! fills in the placeholders.
//!
//! The bundle's own template has the right elements for its scripts, so it is rendered if possible; otherwise
//! `skeleton.html` has the elements of all known levels.

use super::page_variant::{Assets, ColorScheme, MARK, PageVariant, Placeholder, Window};
use super::problem::WebAppError;
use super::template::{Templates, render};
use bytes::Bytes;
use std::collections::HashMap;

/// Our own page, for bundles whose template cannot be used.
const OWN: &str = include_str!("skeleton.html");

#[derive(Clone, Debug)]
enum Part {
    Text(Bytes),
    Placeholder(Placeholder),
}

/// A page with placeholders.
#[derive(Clone, Debug)]
pub struct Skeleton {
    parts: Vec<Part>,
}

/// The values for the placeholders of a page. Texts are escaped here; the parameters are escaped already.
#[derive(Debug)]
pub struct Values<'v> {
    pub language: &'v str,
    pub title: &'v str,
    pub nonce: &'v str,
    pub csrf_token: &'v str,
    pub params: Vec<Bytes>,
}

impl Skeleton {
    /// Splits a rendered page at its marks. The reason why it cannot be the page of the app otherwise.
    fn parse(html: &str, assets: &Assets) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = html;
        while let Some(at) = rest.find(MARK) {
            let (before, from) = rest.split_at(at);
            let placeholder =
                Placeholder::ALL.into_iter().find(|placeholder| from.starts_with(placeholder.mark()));
            let placeholder = placeholder.ok_or("it contains the beginning of a mark")?;
            if placeholder == Placeholder::Params && !before.ends_with('\'') {
                return Err("the parameters are not in single quotes".to_owned());
            }
            parts.push(Part::Text(Bytes::copy_from_slice(before.as_bytes())));
            parts.push(Part::Placeholder(placeholder));
            rest = from.strip_prefix(placeholder.mark()).unwrap_or_default();
        }
        parts.push(Part::Text(Bytes::copy_from_slice(rest.as_bytes())));
        for wanted in [Placeholder::Csrf, Placeholder::Params] {
            let count = parts
                .iter()
                .filter(|part| matches!(part, Part::Placeholder(placeholder) if *placeholder == wanted))
                .count();
            if count != 1 {
                return Err(format!("it has {count} places for {wanted:?}, not one"));
            }
        }
        if !html.contains("id=\"logout_form\"") || !html.contains("id=\"page-params\"") {
            return Err("it lacks the form for logging out or the element of the parameters".to_owned());
        }
        match assets.app.iter().find(|url| !html.contains(url.as_str())) {
            Some(url) => Err(format!("it does not load {url}")),
            None => Ok(Self { parts }),
        }
    }

    /// The page, in parts that share what is the same in all pages.
    pub fn fill(&self, values: Values<'_>) -> Vec<Bytes> {
        let csrf = format!(
            "<input type=\"hidden\" name=\"csrfmiddlewaretoken\" value=\"{}\">",
            escaped(values.csrf_token)
        );
        let mut params = values.params;
        let mut page = Vec::with_capacity(self.parts.len() + params.len());
        for part in &self.parts {
            match part {
                Part::Text(text) => page.push(text.clone()),
                Part::Placeholder(Placeholder::Language) => page.push(escaped(values.language).into()),
                Part::Placeholder(Placeholder::Title) => page.push(escaped(values.title).into()),
                Part::Placeholder(Placeholder::Nonce) => page.push(escaped(values.nonce).into()),
                Part::Placeholder(Placeholder::Csrf) => page.push(csrf.clone().into()),
                Part::Placeholder(Placeholder::Params) => page.append(&mut params),
            }
        }
        page
    }
}

/// A text for HTML, inside and outside of quoted attributes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// The skeleton of each variant.
#[derive(Debug)]
pub struct Skeletons {
    any: Skeleton,
    by_variant: HashMap<PageVariant, Skeleton>,
    template_problem: Option<String>,
}

impl Skeletons {
    /// Renders the skeletons from a bundle's templates, or from our own page if that is not possible.
    pub fn new(templates: Option<Templates>, assets: &Assets) -> Result<Self, WebAppError> {
        let rendered = match &templates {
            Some(templates) => all(templates, assets),
            None => Err("the release has no templates/zerver/app/index.html and base.html".to_owned()),
        };
        let (by_variant, template_problem) = match rendered {
            Ok(by_variant) => (by_variant, None),
            Err(problem) => {
                let own = Templates { index: OWN.to_owned(), base: String::new() };
                (all(&own, assets).map_err(WebAppError::Incomplete)?, Some(problem))
            }
        };
        let usual = PageVariant { colors: ColorScheme::Automatic, window: Window::Whole };
        let any = by_variant.get(&usual).cloned();
        let any = any.ok_or_else(|| WebAppError::Incomplete("it has no page".to_owned()))?;
        Ok(Self { any, by_variant, template_problem })
    }

    /// The skeleton of a variant.
    pub fn of(&self, variant: PageVariant) -> &Skeleton {
        self.by_variant.get(&variant).unwrap_or(&self.any)
    }

    /// Why our own page is used instead of the bundle's template.
    pub fn template_problem(&self) -> Option<&str> {
        self.template_problem.as_deref()
    }
}

fn all(templates: &Templates, assets: &Assets) -> Result<HashMap<PageVariant, Skeleton>, String> {
    let one = |variant| {
        let html = render(templates, variant, assets)?;
        Ok((variant, Skeleton::parse(&html, assets)?))
    };
    PageVariant::all().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{BASE_TEMPLATE, INDEX_TEMPLATE};
    use super::*;

    fn assets() -> Assets {
        let app = ["/static/webpack-bundles/a.js", "/static/webpack-bundles/a.css"].map(str::to_owned);
        let names = [("images/logo/apple.png".to_owned(), "images/logo/apple.0123456789ab.png".to_owned())];
        Assets { app: app.to_vec(), names: names.into() }
    }

    fn page(skeletons: &Skeletons, colors: ColorScheme, window: Window) -> String {
        let values = Values {
            language: "de",
            title: "A & <B>",
            nonce: "n0nce",
            csrf_token: "t0ken",
            params: vec![Bytes::from_static(b"{\"a\":"), Bytes::from_static(b"1}")],
        };
        let parts = skeletons.of(PageVariant { colors, window }).fill(values);
        String::from_utf8(parts.concat()).unwrap()
    }

    fn templates(index: &str) -> Option<Templates> {
        Some(Templates { index: index.to_owned(), base: BASE_TEMPLATE.to_owned() })
    }

    #[test]
    fn template_of_the_bundle_is_rendered() {
        let skeletons = Skeletons::new(templates(INDEX_TEMPLATE), &assets()).unwrap();
        assert_eq!(skeletons.template_problem(), None);
        let html = page(&skeletons, ColorScheme::Dark, Window::Whole);
        for expected in [
            "<html lang=\"de\" class=\"dark-theme\">",
            "<title>A &amp; &lt;B&gt; - Zulip</title>",
            "<script defer crossorigin=\"anonymous\" nonce=\"n0nce\" src=\"/static/webpack-bundles/a.js\">",
            "<link rel=\"stylesheet\" href=\"/static/webpack-bundles/a.css\"",
            "href=\"/static/images/logo/apple.0123456789ab.png\"",
            "try <a href=\"\">reloading</a> the page",
            "<input type=\"hidden\" name=\"csrfmiddlewaretoken\" value=\"t0ken\">",
            "data-params='{\"a\":1}'",
            "data-empty=\"Nothing here.\"",
        ] {
            assert!(html.contains(expected), "{expected}: {html}");
        }
        assert!(!html.contains("data-embedded") && !html.contains("trans"), "{html}");
        assert!(page(&skeletons, ColorScheme::Light, Window::Conversation).contains("data-embedded"));
    }

    #[test]
    fn own_page_is_used_when_the_template_cannot_be() {
        let broken = [
            "{% extends 'zerver/base.html' %}{% frobnicate %}",
            "{% extends 'zerver/base.html' %}{% block content %}nothing{% endblock %}",
            "millholex",
        ];
        for index in broken {
            let skeletons = Skeletons::new(templates(index), &assets()).unwrap();
            assert!(skeletons.template_problem().is_some(), "{index}");
            let html = page(&skeletons, ColorScheme::Dark, Window::Whole);
            assert!(html.contains("class=\"dark-theme\"") && html.contains("a.js"), "{html}");
            assert!(html.contains("data-params='{\"a\":1}'"), "{html}");
        }
    }

    /// The elements that the app looks for at the levels around 421.
    const ELEMENTS: &str = "feedback_container app-loading app-loading-middle-content app-loading-bottom-content \
        app-loading-error tooltip-templates-container channels_overlay_container groups_overlay_container drafts_table \
        scheduled_messages_overlay_container reminders-overlay-container settings_overlay_container \
        message-edit-history-overlay-container user-profile-modal-holder about-zulip-modal-container \
        read-receipts-modal-container user-notification-sound-audio realm-default-notification-sound-audio \
        alert-popup-container popup_banners_wrapper home-error request-progress-status-banner connection-error \
        reloading-application zephyr-mirror-error navbar-fixed-container navbar_alerts_wrapper header-container \
        left-sidebar-container right-sidebar-container recent_view recent_view_table recent-view-content-table \
        recent-view-content-tbody recent_view_bottom_whitespace recent_view_loading_messages_indicator inbox-view \
        inbox-pane message_feed_container main_div loading_older_messages_indicator page_loading_indicator \
        message_feed_errors_container message-lists-container scheduled_message_indicator \
        mark_read_on_scroll_state_banner typing_notifications mark_read_on_scroll_state_banner_place_holder \
        bottom_whitespace compose compose-container logout_form page-params favicon";
    const CLASSES: &str = "informational-overlays overlay overlay-content overlay-container overlay-tabs exit overlay-body \
        notification-sound-source-ogg notification-sound-source-mp3 alert-box alert-zulip-logo loading-indicator \
        success-indicator alert-content restart_get_events_button blueslip-error-container banner-wrapper app app-main \
        column-left column-middle column-middle-inner column-right recent_view_container bottom-messages-logo \
        recent-view-load-more-container main-view-banner info notvisible last-fetched-message banner_content \
        fetch-messages-button main-view-banner-action-button right_edge button-label inbox-container message-feed \
        top-messages-logo";

    #[test]
    fn own_page_has_every_element_once() {
        let skeletons = Skeletons::new(None, &assets()).unwrap();
        let html = page(&skeletons, ColorScheme::Automatic, Window::Whole);
        for id in ELEMENTS.split_whitespace() {
            assert_eq!(html.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
        }
        let classes: Vec<&str> =
            html.split("class=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let classes: Vec<&str> = classes.iter().flat_map(|all| all.split_whitespace()).collect();
        for class in CLASSES.split_whitespace() {
            assert!(classes.contains(&class), "{class}");
        }
    }
}
