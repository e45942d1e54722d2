//! Previews of pictures and videos.

use super::*;

fn shown(text: &str) -> Rendered {
    render_in(&Realm { previews: true, ..Realm::new() }, text)
}

const IMAGE: &str = "<div class=\"message_inline_image\"><a href=\"/user_uploads/1/ab/x.png\">\
    <img data-original-content-type=\"image/png\" data-original-dimensions=\"800x600\" \
    src=\"/user_uploads/thumbnail/1/ab/x.png/840x560.webp\"></a></div>";

#[test]
fn uploaded_images() {
    let link = "<a href=\"/user_uploads/1/ab/x.png\">";
    let named = IMAGE.replacen(".png\">", ".png\" title=\"cat\">", 1);
    let rows = [
        ("[](/user_uploads/1/ab/x.png)", IMAGE.to_owned()),
        ("[cat](/user_uploads/1/ab/x.png)", format!("<p>{link}cat</a></p>\n{named}")),
        (
            "see [](/user_uploads/1/ab/x.png)",
            format!("<p>see {link}/user_uploads/1/ab/x.png</a></p>\n{IMAGE}"),
        ),
        (
            "> [](/user_uploads/1/ab/x.png)",
            format!("<blockquote>\n<p>{link}/user_uploads/1/ab/x.png</a></p>\n</blockquote>"),
        ),
        // A label with code is not used as a title.
        ("see [`cat`](/user_uploads/1/ab/x.png)", format!("<p>see {link}<code>cat</code></a></p>\n{IMAGE}")),
    ];
    for (text, expected) in rows {
        assert_eq!(shown(text).html, expected, "for {text:?}");
    }
    assert!(shown("[](/user_uploads/1/ab/x.png)").has_image);
    assert!(!shown("> [](/user_uploads/1/ab/x.png)").has_image);
}

#[test]
fn the_states_of_an_uploaded_image() {
    let pending = shown("[](/user_uploads/1/ab/new.png)").html;
    assert!(
        pending.contains("<img class=\"image-loading-placeholder\" data-original-content-type="),
        "{pending}"
    );
    assert!(pending.contains("src=\"/static/images/loading/loader-black.svg\""), "{pending}");
    let animated = shown("[](/user_uploads/1/ab/x.gif)").html;
    assert!(animated.contains("<img data-animated=\"true\" data-original-content-type="), "{animated}");
    assert!(animated.contains("x.gif/840x560-anim.webp"), "{animated}");
    let transcoded = shown("[](/user_uploads/1/ab/x.tiff)").html;
    assert!(transcoded.contains("data-transcoded-image=\"1920x1080.webp\" src="), "{transcoded}");
}

#[test]
fn videos() {
    let film = |address: &str, title: &str| {
        format!(
            "<div class=\"message_inline_image message_inline_video\"><a href=\"{address}\"{title}>\
             <video preload=\"metadata\" src=\"{address}\"></video></a></div>"
        )
    };
    let address = "https://a.example/x.webm";
    assert_eq!(shown("[](/user_uploads/1/ab/x.mp4)").html, film("/user_uploads/1/ab/x.mp4", ""));
    assert_eq!(shown(address).html, film(address, ""));
    assert_eq!(
        shown("[clip](https://a.example/x.webm)").html,
        format!("<p><a href=\"{address}\">clip</a></p>\n{}", film(address, " title=\"clip\""))
    );
    assert!(shown("https://a.example/X.MP4?t=1").has_image);
    assert!(!shown("https://a.example/x.avi").has_image);
}

/// The page of a video is not the video itself, so the preview does not replace the link.
#[test]
fn a_lone_link_to_youtube_stays_in_its_paragraph() {
    let address = "https://youtu.be/abcdefghijk";
    assert_eq!(
        shown(address).html,
        format!(
            "<p><a href=\"{address}\">{address}</a></p>\n<div class=\"youtube-video message_inline_image\">\
             <a data-id=\"abcdefghijk\" href=\"{address}\">\
             <img src=\"https://i.ytimg.com/vi/abcdefghijk/mqdefault.jpg\"></a></div>"
        )
    );
}

fn image(name: &str) -> String {
    let url = format!("https://a.example/{name}.png");
    format!("<div class=\"message_inline_image\"><a href=\"{url}\"><img src=\"{url}\"></a></div>")
}

fn link(name: &str) -> String {
    format!("<a href=\"https://a.example/{name}.png\">https://a.example/{name}.png</a>")
}

#[test]
fn external_images_follow_their_block() {
    let (a, b) = (link("a"), link("b"));
    assert_eq!(shown("https://a.example/a.png").html, image("a"));
    assert_eq!(
        shown("*x* https://a.example/a.png https://a.example/b.png\n\nend").html,
        format!("<p><em>x</em> {a} {b}</p>\n{}{}<p>end</p>", image("a"), image("b"))
    );
    assert_eq!(
        shown("https://a.example/a.png\n\nhttps://a.example/b.png\n\nend").html,
        format!("{}{}<p>end</p>", image("a"), image("b"))
    );
    assert_eq!(
        shown("```spoiler x\nhttps://a.example/a.png\n```").html,
        format!(
            "<div class=\"spoiler-block\"><div class=\"spoiler-header\">\n<p>x</p>\n</div>\
             <div class=\"spoiler-content\" aria-hidden=\"true\">\n{}</div></div>",
            image("a")
        )
    );
    assert_eq!(shown("https://a.png").html, "<p><a href=\"https://a.png\">https://a.png</a></p>");
    assert_eq!(html("https://a.example/a.png"), format!("<p>{a}</p>"));
}

#[test]
fn images_in_lists_end_their_item() {
    let (a, b) = (link("a"), link("b"));
    let rows = [
        ("- https://a.example/a.png", format!("<ul>\n<li>{}</li>\n</ul>", image("a"))),
        ("- see https://a.example/a.png", format!("<ul>\n<li>see {a}{}</li>\n</ul>", image("a"))),
        ("- https://a.example/a.png!", format!("<ul>\n<li>{a}!{}</li>\n</ul>", image("a"))),
        (
            "- https://a.example/a.png https://a.example/b.png x",
            format!("<ul>\n<li>{a} {b} x{}{}</li>\n</ul>", image("a"), image("b")),
        ),
        (
            "- x https://a.example/a.png\n  - y\n- z",
            format!("<ul>\n<li>x {a}<ul>\n<li>y</li>\n</ul>\n{}</li>\n<li>z</li>\n</ul>", image("a")),
        ),
    ];
    for (text, expected) in rows {
        assert_eq!(shown(text).html, expected, "for {text:?}");
    }
}

#[test]
fn images_in_headers_and_emphasis_end_the_message() {
    let a = link("a");
    assert_eq!(shown("# https://a.example/a.png\nx").html, format!("<h1>{a}</h1>\n<p>x</p>\n{}", image("a")));
    assert_eq!(
        shown("** https://a.example/a.png .**\n\nx").html,
        format!("<p><strong> {a} .</strong></p>\n<p>x</p>\n{}", image("a"))
    );
}

/// The link is relative, so its label differs from its URL and is the title of the preview.
#[test]
fn an_upload_linked_by_its_whole_address_has_a_title() {
    let html = shown("https://chat.example.com/user_uploads/1/ab/x.png").html;
    let title = "title=\"https://chat.example.com/user_uploads/1/ab/x.png\"";
    assert!(html.starts_with("<p>") && html.contains(title), "{html}");
}

#[test]
fn too_many_links_show_nothing() {
    let urls = |count: usize| (0..count).map(|at| format!("https://a.example/{at}.png ")).collect::<String>();
    assert_eq!(shown(&urls(24)).html.matches("<img").count(), 24);
    let many = shown(&urls(25));
    assert_eq!(many.html.matches("<img").count(), 0);
    assert_eq!(many.html.matches("<a ").count(), 25);
    assert!(!many.has_image && many.has_link);
}
