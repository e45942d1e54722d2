//! Previews of pictures and films.

use super::*;

fn shown(text: &str) -> Rendered {
    render_in(&Realm { previews: true, ..Realm::new() }, text)
}

const IMAGE: &str = "<div class=\"message_inline_image\"><a href=\"/user_uploads/1/ab/x.png\" title=\"x.png\">\
    <img data-original-content-type=\"image/png\" data-original-dimensions=\"800x600\" \
    src=\"/user_uploads/thumbnail/1/ab/x.png/840x560.webp\"></a></div>";

#[test]
fn uploaded_images() {
    let link = "<a href=\"/user_uploads/1/ab/x.png\">";
    let rows = [
        ("[](/user_uploads/1/ab/x.png)", IMAGE.to_owned()),
        (
            "[cat](/user_uploads/1/ab/x.png)",
            format!("<p>{link}cat</a></p>\n{}", IMAGE.replace("title=\"x.png\"", "title=\"cat\"")),
        ),
        (
            "see [](/user_uploads/1/ab/x.png)",
            format!("<p>see {link}/user_uploads/1/ab/x.png</a></p>\n{IMAGE}"),
        ),
        (
            "> [](/user_uploads/1/ab/x.png)",
            format!("<blockquote>\n<p>{link}/user_uploads/1/ab/x.png</a></p>\n</blockquote>"),
        ),
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
fn films() {
    assert_eq!(
        shown("[](/user_uploads/1/ab/x.mp4)").html,
        "<div class=\"message_inline_image message_inline_video\"><a href=\"/user_uploads/1/ab/x.mp4\" \
         title=\"x.mp4\"><video preload=\"metadata\" src=\"/user_uploads/1/ab/x.mp4\"></video></a></div>"
    );
    assert_eq!(
        shown("https://youtu.be/abcdefghijk").html,
        "<div class=\"youtube-video message_inline_image\"><a data-id=\"abcdefghijk\" \
         href=\"https://youtu.be/abcdefghijk\"><img src=\"https://i.ytimg.com/vi/abcdefghijk/mqdefault.jpg\"></a></div>"
    );
}

#[test]
fn external_images_follow_their_block() {
    let image = |name: &str| {
        let url = format!("https://a.example/{name}.png");
        format!(
            "<div class=\"message_inline_image\"><a href=\"{url}\" title=\"{url}\"><img src=\"{url}\"></a></div>"
        )
    };
    let link =
        |name: &str| format!("<a href=\"https://a.example/{name}.png\">https://a.example/{name}.png</a>");
    assert_eq!(shown("https://a.example/a.png").html, image("a"));
    assert_eq!(
        shown("*x* https://a.example/a.png https://a.example/b.png\n\nend").html,
        format!("<p><em>x</em> {} {}</p>\n{}\n{}\n<p>end</p>", link("a"), link("b"), image("a"), image("b"))
    );
    assert_eq!(
        shown("- https://a.example/a.png").html,
        format!("<ul>\n<li>{}{}\n</li>\n</ul>", link("a"), image("a"))
    );
    assert_eq!(shown("https://a.png").html, "<p><a href=\"https://a.png\">https://a.png</a></p>");
    assert_eq!(html("https://a.example/a.png"), format!("<p>{}</p>", link("a")));
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
