"""A miniature web app in a real browser: log in, start, send, receive, survive `kill -9`, log out.

    python web_app_in_browser.py PATH_TO_MILLSTREAM PATH_TO_ARCHIVE PATH_TO_CHROMIUM PATH_TO_CHROMEDRIVER

The archive is made by the tests; its scripts are in tests/web_app/mini. Prints `N passed, N failed`. Exit status 0 only
if nothing failed.
"""

import sys
import traceback

from join_in_browser import open_browser
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from web_app_server import WebAppServer, wait_for

HAMLET = "hamlet@zulip.com"


class Visit:
    """Drives the browser as a user would."""

    def __init__(self, server, browser):
        self.server, self.browser = server, browser

    def script(self, expression):
        return self.browser.execute_script(f"return {expression}")

    def path(self):
        return self.browser.current_url.removeprefix(self.server.url)

    def texts(self):
        return [line.text for line in self.browser.find_elements(By.CSS_SELECTOR, "#message-lists-container .message")]

    def wait_for_text(self, text):
        wait_for(f"{text!r} arrives", lambda: text in self.texts() or text in str(self.script("mini.texts")))

    def log_in(self):
        self.browser.get(self.server.url + "/login/")
        for name, value in [("username", HAMLET), ("password", HAMLET)]:
            field = self.browser.find_element(By.NAME, name)
            field.clear()
            field.send_keys(value)
        self.browser.find_element(By.NAME, "password").send_keys(Keys.ENTER)
        wait_for("the app is there", lambda: self.path() == "/" and self.script("window.mini?.ready"))

    def visitor_reads_web_public_channels(self):
        self.browser.get(self.server.url + "/")
        wait_for("the app is there", lambda: self.script("window.mini?.ready"))
        assert self.script("mini.params.is_spectator") is True
        assert self.browser.find_element(By.ID, "left-sidebar-container").text == "town square"
        assert self.browser.find_element(By.ID, "header-container").text == "Zulip Dev"
        assert self.script("mini.state.queue_id") is None

    def app_starts(self):
        self.log_in()
        assert not self.browser.find_elements(By.ID, "app-loading")
        assert self.browser.find_element(By.ID, "left-sidebar-container").text == "King Hamlet"
        assert self.browser.find_element(By.ID, "header-container").text == "Zulip Dev"
        assert self.script("getComputedStyle(document.body).backgroundColor") == "rgb(1, 2, 3)", "the style sheet"
        params = self.script("mini.params")
        assert params["page_type"] == "home" and params["is_spectator"] is False
        assert params["state_data"]["zulip_feature_level"] == 421
        assert len(params["state_data"]["realm_users"]) > 5

    def message_is_sent_and_received(self):
        self.browser.find_element(By.ID, "compose-text").send_keys("from the **browser**", Keys.ENTER)
        self.wait_for_text("<p>from the <strong>browser</strong></p>")
        wait_for("the answer is there", lambda: self.script("window.mini.sent"))
        assert self.script("mini.sent.status") == 200, self.script("mini.sent")
        # A message of one's own is read at once, because a browser is the client `website`.
        fields = "{anchor: 'newest', num_before: 1, num_after: 0}"
        answer = self.browser.execute_async_script(
            f"mini.call('GET', '/json/messages', {fields}).then(arguments[arguments.length - 1])"
        )
        [message] = answer["body"]["messages"]
        assert message["client"] == "website" and "read" in message["flags"], message

    def call_without_token_is_refused(self):
        answer = self.browser.execute_async_script(
            "const done = arguments[arguments.length - 1];"
            "fetch('/json/messages', {method: 'POST', body: new URLSearchParams({type: 'direct'})})"
            ".then(async (answer) => done([answer.status, (await answer.json()).code]))"
        )
        assert answer == [403, "CSRF_FAILED"], answer

    def page_survives_kill(self):
        queue = self.script("mini.params.state_data.queue_id")
        self.server.kill()
        self.server.start_again()
        login = self.server.login("iago@zulip.com")
        fields = {"type": "stream", "to": "Verona", "topic": "mini", "content": "after the kill"}
        answer = self.server.call("POST", "/api/v1/messages", fields, login)
        assert answer["result"] == "success", answer
        self.wait_for_text("<p>after the kill</p>")
        assert self.script("mini.params.state_data.queue_id") == queue, "the page was not reloaded"
        assert self.browser.title.endswith(" Zulip Dev") and self.browser.title.startswith("("), self.browser.title
        field = self.browser.find_element(By.ID, "compose-text")
        field.clear()
        field.send_keys("still logged in", Keys.ENTER)
        self.wait_for_text("<p>still logged in</p>")
        self.browser.refresh()
        wait_for("the app is there", lambda: self.script("window.mini?.ready"))
        assert self.script("mini.params.state_data.queue_id") != queue

    def links_to_conversations_open_the_app(self):
        self.browser.get(self.server.url + "/#narrow/channel/1-Verona/topic/mini")
        self.browser.refresh()
        wait_for("the app is there", lambda: self.script("window.mini?.ready"))
        assert self.path().startswith("/#narrow/"), self.path()

    def nothing_was_blocked(self):
        assert self.script("mini.violations") == [], self.script("mini.violations")
        bad = [line for line in self.browser.get_log("browser") if "Content Security Policy" in line["message"]]
        assert bad == [], bad

    def log_out(self):
        self.browser.execute_script("document.querySelector('#logout_form').submit()")
        wait_for("the page for logging in is there", lambda: self.path() == "/login/")
        self.browser.get(self.server.url + "/json/users/me")
        assert "Not logged in" in self.browser.page_source, self.browser.page_source
        self.log_in()
        self.message_is_sent_and_received()


def main():
    binary, archive, chromium, chromedriver = sys.argv[1:5]
    server = WebAppServer(binary, archive)
    browser, passed, failed = None, 0, 0
    try:
        browser = open_browser(chromium, chromedriver, server.folder, scripts=True)
        visit = Visit(server, browser)
        for step in [
            visit.visitor_reads_web_public_channels,
            visit.app_starts,
            visit.message_is_sent_and_received,
            visit.call_without_token_is_refused,
            visit.page_survives_kill,
            visit.links_to_conversations_open_the_app,
            visit.nothing_was_blocked,
            visit.log_out,
        ]:
            try:
                step()
                passed += 1
            except Exception:
                failed += 1
                print(f"FAILED {step.__name__}\n{traceback.format_exc()}")
    finally:
        if browser:
            browser.quit()
        server.end()
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
