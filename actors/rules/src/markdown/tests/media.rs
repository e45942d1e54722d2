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
fn animated_images() {
    assert_eq!(
        shown("[](/user_uploads/1/ab/x.gif)").html,
        "<div class=\"message_inline_image\"><a href=\"/user_uploads/1/ab/x.gif\">\
         <img data-animated=\"true\" data-original-content-type=\"image/png\" data-original-dimensions=\"800x600\" \
         src=\"/user_uploads/thumbnail/1/ab/x.gif/840x560-anim.webp\"></a></div>"
    );
}

#[test]
fn several_uploads_follow_their_paragraph() {
    let html = shown(
        "[one](/user_uploads/1/ab/x.png) [](/user_uploads/1/ab/x.mp4) and [one](/user_uploads/1/ab/x.png)",
    )
    .html;
    let (paragraph, previews) = html.split_once("</p>\n").unwrap();
    assert_eq!(paragraph.matches("<a ").count(), 3);
    assert_eq!(
        previews,
        format!(
            "{}<div class=\"message_inline_image message_inline_video\"><a href=\"/user_uploads/1/ab/x.mp4\">\
             <video preload=\"metadata\" src=\"/user_uploads/1/ab/x.mp4\"></video></a></div>",
            IMAGE.replacen(".png\">", ".png\" title=\"one\">", 1)
        )
    );
}

#[test]
fn previews_can_be_disabled() {
    let link = "<a href=\"/user_uploads/1/ab/x.png\">/user_uploads/1/ab/x.png</a>";
    let hidden = render_in(&Realm::new(), "[](/user_uploads/1/ab/x.png)");
    assert_eq!(hidden.html, format!("<p>{link}</p>"));
    assert!(!hidden.has_image && hidden.has_link);
    assert_eq!(hidden.upload_paths, ["1/ab/x.png"]);
}

#[test]
fn sounds_have_a_player() {
    let player = |title: &str| {
        format!(
            "<audio controls preload=\"metadata\" src=\"/user_uploads/1/ab/x.mp3\" title=\"{title}\"></audio>"
        )
    };
    let rows = [
        ("![a.mp3](/user_uploads/1/ab/x.mp3)", format!("<p>{}</p>", player("a.mp3"))),
        ("![](/user_uploads/1/ab/x.mp3)", format!("<p>{}</p>", player("x.mp3"))),
        (
            "hear ![<b> \"x\"](/user_uploads/1/ab/x.mp3) now",
            format!("<p>hear {} now</p>", player("&lt;b&gt; &quot;x&quot;")),
        ),
        ("![x](https://chat.example.com/user_uploads/1/ab/x.mp3)", format!("<p>{}</p>", player("x"))),
        ("- ![x](/user_uploads/1/ab/x.mp3)", format!("<ul>\n<li>{}</li>\n</ul>", player("x"))),
        ("> ![x](/user_uploads/1/ab/x.mp3)", format!("<blockquote>\n<p>{}</p>\n</blockquote>", player("x"))),
        // Other files of this form are text at this feature level.
        ("![x](/user_uploads/1/ab/x.png)", "<p>![x](/user_uploads/1/ab/x.png)</p>".to_owned()),
        ("![x](/user_uploads/1/ab/x.ogg)", "<p>![x](/user_uploads/1/ab/x.ogg)</p>".to_owned()),
        ("![x](/help/x.mp3)", "<p>![x](/help/x.mp3)</p>".to_owned()),
        ("![x(/user_uploads/1/ab/x.mp3)", "<p>![x(/user_uploads/1/ab/x.mp3)</p>".to_owned()),
        // A link to a sound is a link.
        ("[x](/user_uploads/1/ab/x.mp3)", "<p><a href=\"/user_uploads/1/ab/x.mp3\">x</a></p>".to_owned()),
        ("`![x](/user_uploads/1/ab/x.mp3)`", "<p><code>![x](/user_uploads/1/ab/x.mp3)</code></p>".to_owned()),
    ];
    for (text, expected) in rows {
        assert_eq!(shown(text).html, expected, "for {text:?}");
    }
    let rendered = shown("![a.mp3](/user_uploads/1/ab/x.mp3)");
    assert!(!rendered.has_image && !rendered.has_link);
    assert_eq!(rendered.upload_paths, ["1/ab/x.mp3"]);
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
