"""Zulip's own web app, unmodified, in a real browser: what people do on a day.

    python web_app_walk.py PATH_TO_MILLSTREAM PATH_TO_ARCHIVE PATH_TO_CHROMIUM PATH_TO_CHROMEDRIVER [FOLDER]

The archive is a release of Zulip Server 11.x. With FOLDER, a picture after each step is put there. Prints
`N passed, N failed`. Exit status 0 only if nothing failed.
"""

import os
import sys
import traceback

from join_in_browser import open_browser
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from web_app_server import WebAppServer, wait_for

TOPIC = "walk"
# Pages of the settings, each with an element that it has.
SETTINGS = ["profile", "account-and-privacy", "preferences", "notifications", "your-bots", "alert-words", "uploaded-files"]
ORGANIZATION = ["organization-profile", "organization-settings", "organization-permissions", "emoji-settings", "users"]


class Visit:
    """One browser, as one user."""

    def __init__(self, server, browser, name):
        self.server, self.browser, self.name = server, browser, name

    def script(self, code, *arguments):
        return self.browser.execute_script(code, *arguments)

    def path(self):
        return self.browser.current_url.removeprefix(self.server.url)

    def visible(self, selector):
        """The first visible element of a selector; none if there is none yet."""
        try:
            found = self.browser.find_elements(By.CSS_SELECTOR, selector)
            return next((element for element in found if element.is_displayed()), None)
        except WebDriverException:
            return None

    def wait(self, selector):
        return wait_for(f"{self.name} sees {selector}", lambda: self.visible(selector))

    def wait_for_text(self, text, selector=".message_row"):
        code = "return [...document.querySelectorAll(arguments[0])].some((one) => one.innerText.includes(arguments[1]))"
        wait_for(f"{self.name} sees {text!r} in {selector}", lambda: self.script(code, selector, text))

    def keys(self, *keys):
        ActionChains(self.browser).send_keys(*keys).perform()

    def go(self, fragment):
        self.script("location.hash = arguments[0]", fragment)

    def log_in(self):
        email = f"{self.name}@zulip.com"
        self.browser.get(self.server.url + "/login/")
        for name in ["username", "password"]:
            field = self.browser.find_element(By.NAME, name)
            field.clear()
            field.send_keys(email)
        self.browser.find_element(By.NAME, "password").send_keys(Keys.ENTER)
        self.wait("#left-sidebar-container #stream_filters, #left-sidebar-container .left-sidebar")
        wait_for("the loading picture is gone", lambda: not self.visible("#app-loading"))

    def open_topic(self, channel, topic):
        self.go(f"narrow/channel/{channel}/topic/{topic}")
        self.wait("#message_feed_container")

    def select(self, text):
        """Selects the last message with a text: keys then apply to it."""
        self.wait_for_text(text)
        code = (
            "const rows = [...document.querySelectorAll('.message_row')];"
            "return rows.filter((row) => row.innerText.includes(arguments[0])).at(-1)"
        )
        row = self.script(code, text)
        body = row.find_elements(By.CSS_SELECTOR, ".message_content")[0]
        ActionChains(self.browser).move_to_element(body).click().perform()
        return row

    def send(self, text):
        self.keys(Keys.ESCAPE)
        self.keys("r")
        box = self.wait("textarea#compose-textarea")
        box.send_keys(text)
        self.wait("#compose-send-button").click()


class Walk:
    """What two users do."""

    def __init__(self, server, first, second):
        self.server, self.one, self.two = server, first, second
        self.login = server.login("iago@zulip.com")
        streams = server.call("GET", "/api/v1/streams", login=self.login)["streams"]
        self.channel = next(one for one in streams if one["name"] == "Verona")["stream_id"]
        fields = {"type": "stream", "to": "Verona", "topic": TOPIC, "content": "the first"}
        assert server.call("POST", "/api/v1/messages", fields, self.login)["result"] == "success"

    def start(self):
        self.one.log_in()
        self.two.log_in()

    def inbox(self):
        self.one.go("inbox")
        self.one.wait("#inbox-view, #inbox-pane")
        self.one.wait_for_text(TOPIC, "#inbox-view")
        self.one.go("recent")
        self.one.wait("#recent_view")
        self.one.wait_for_text(TOPIC, "#recent_view")

    def send(self):
        for visit in [self.one, self.two]:
            visit.open_topic(self.channel, TOPIC)
            visit.wait_for_text("the first")
        self.one.send("hello from the walk")
        self.one.wait_for_text("hello from the walk")
        self.two.wait_for_text("hello from the walk")

    def react(self):
        self.one.select("hello from the walk")
        self.one.keys("+")
        self.one.wait(".message_reactions .message_reaction")
        self.two.wait(".message_reactions .message_reaction")

    def edit(self):
        self.one.select("hello from the walk")
        self.one.keys("e")
        box = self.one.wait("textarea.message_edit_content")
        box.send_keys(" and back")
        self.one.wait(".message_edit_save").click()
        self.two.wait_for_text("hello from the walk and back")

    def move(self):
        self.one.select("hello from the walk and back")
        self.one.keys("m")
        topic = self.one.wait("#move-topic-new-topic-name, #move_topic_form .move_messages_edit_topic")
        topic.send_keys(Keys.CONTROL, "a")
        topic.send_keys("moved walk")
        self.one.wait("#move_topic_modal .dialog_submit_button, .modal--open .dialog_submit_button").click()
        self.one.open_topic(self.channel, "moved.20walk")
        self.one.wait_for_text("hello from the walk and back")
        self.two.open_topic(self.channel, "moved.20walk")
        self.two.wait_for_text("hello from the walk and back")

    def upload(self):
        file = os.path.join(self.server.folder, "notes.txt")
        with open(file, "w", encoding="utf-8") as out:
            out.write("notes of the walk\n")
        self.one.keys(Keys.ESCAPE)
        self.one.keys("r")
        box = self.one.wait("textarea#compose-textarea")
        [field] = self.one.browser.find_elements(By.CSS_SELECTOR, "#compose input.file_input[type=file]")[:1]
        field.send_keys(file)
        wait_for("the file is uploaded", lambda: "/user_uploads/" in box.get_attribute("value"))
        self.one.wait("#compose-send-button").click()
        self.two.wait_for_text("notes.txt")

    def search(self):
        self.one.keys(Keys.ESCAPE)
        self.one.keys("/")
        self.one.wait("#search_query")
        self.one.keys("hello", Keys.ENTER)
        wait_for("the search is narrowed to", lambda: "search/hello" in self.one.path())
        self.one.wait(".message_row .highlight")

    def settings(self):
        for page in SETTINGS:
            self.one.go(f"settings/{page}")
            self.one.wait(f"#settings_overlay_container [data-section='{page}'], #settings_overlay_container.show")
        for page in ORGANIZATION:
            self.one.go(f"organization/{page}")
            self.one.wait(f"#settings_overlay_container [data-section='{page}'], #settings_overlay_container.show")
        self.one.go("inbox")

    def second_browser_sees_it_live(self):
        self.two.open_topic(self.channel, "moved.20walk")
        self.one.open_topic(self.channel, "moved.20walk")
        self.one.send("seen at once")
        self.two.wait_for_text("seen at once")

    def page_survives_kill(self):
        self.server.kill()
        self.server.start_again()
        fields = {"type": "stream", "to": "Verona", "topic": "moved walk", "content": "after the kill"}
        assert self.server.call("POST", "/api/v1/messages", fields, self.login)["result"] == "success"
        self.two.wait_for_text("after the kill")

    def nothing_was_blocked(self):
        for visit in [self.one, self.two]:
            lines = [line["message"] for line in visit.browser.get_log("browser")]
            bad = [line for line in lines if "Content Security Policy" in line or "ZodError" in line]
            assert bad == [], bad

    def log_out(self):
        self.one.script("document.querySelector('#logout_form').submit()")
        wait_for("the page for logging in is there", lambda: self.one.path().endswith("/login/"))


def main():
    binary, archive, chromium, chromedriver = sys.argv[1:5]
    pictures = sys.argv[5] if len(sys.argv) > 5 else None
    server = WebAppServer(binary, archive)
    print(server.installed)
    browsers, passed, failed = [], 0, 0
    try:
        visits = []
        for name in ["iago", "hamlet"]:
            browsers.append(open_browser(chromium, chromedriver, server.folder, scripts=True, name=name))
            browsers[-1].set_window_size(1400, 1000)
            visits.append(Visit(server, browsers[-1], name))
        walk = Walk(server, *visits)
        for step in [
            walk.start,
            walk.inbox,
            walk.send,
            walk.react,
            walk.edit,
            walk.move,
            walk.upload,
            walk.search,
            walk.settings,
            walk.second_browser_sees_it_live,
            walk.page_survives_kill,
            walk.nothing_was_blocked,
            walk.log_out,
        ]:
            try:
                step()
                passed += 1
            except Exception:
                failed += 1
                print(f"FAILED {step.__name__}\n{traceback.format_exc()}")
                for visit in visits:
                    lines = [line["message"] for line in visit.browser.get_log("browser")]
                    print(f"{visit.name} at {visit.path()}: {lines[-5:]}")
            if pictures:
                visits[0].browser.save_screenshot(os.path.join(pictures, step.__name__ + ".png"))
    finally:
        for browser in browsers:
            browser.quit()
        server.end()
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
