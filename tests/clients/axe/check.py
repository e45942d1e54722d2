"""Every page in a real browser, in light, dark and narrow: axe finds nothing, nothing overflows, nothing leaves the server.

    python axe/check.py PATH_TO_MILLSTREAM PATH_TO_CHROMIUM PATH_TO_CHROMEDRIVER PATH_TO_AXE [FOLDER]

With FOLDER, pictures of the pages are put there. Prints `N passed, N failed`. Exit status 0 only if nothing failed.
"""

import os
import re
import sys
import time
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

from join_in_browser import PATIENCE_SECS, Server, click_through, open_browser  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402

OWNER = "desdemona@zulip.com"
LOOKS = [("light", "light", 900), ("dark", "dark", 900), ("narrow", "light", 320), ("narrow-dark", "dark", 320)]
SUBMIT = "main button[type=submit]"
RUN_AXE = "const done = arguments[arguments.length - 1]; axe.run(document).then((found) => done(found.violations))"
OVERFLOW = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
LOADED = "return performance.getEntriesByType('resource').map((entry) => entry.name)"


class Pages:
    """The pages, each with a name for its pictures."""

    def __init__(self, server, browser, axe, folder):
        self.server, self.browser, self.axe, self.folder = server, browser, axe, folder

    def form(self, path, button=None, **fields):
        """Sends the form of a page."""
        self.browser.get(self.server.url + path)
        for name, value in fields.items():
            self.browser.find_element(By.NAME, name).send_keys(value)
        click_through(self.browser, button or SUBMIT)

    def link_in_mail(self, address, part):
        deadline = time.monotonic() + PATIENCE_SECS
        while time.monotonic() < deadline:
            for mail in self.server.call("GET", "/emails.json")["emails"]:
                found = re.search(r"http://\S+" + part + r"\S+", mail["text"])
                if mail["to"] == address and found:
                    return found.group(0).removeprefix(self.server.url)
            time.sleep(0.1)
        raise AssertionError(f"no mail to {address}")

    def look_at(self, name, path=None):
        """Checks a page, or the one that is shown, in each look."""
        if path is not None:
            self.browser.get("about:blank")
            self.browser.get(self.server.url + path)
        problems = []
        for look, scheme, width in LOOKS:
            media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
            self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            self.browser.execute_cdp_cmd("Runtime.evaluate", {"expression": self.axe})
            for found in self.browser.execute_async_script(RUN_AXE):
                nodes = [node["html"] for node in found["nodes"]]
                problems.append(f"{look}: {found['id']}: {found['help']}: {nodes}")
            overflow = self.browser.execute_script(OVERFLOW)
            if overflow > 0:
                problems.append(f"{look}: {overflow} pixels too wide")
            if self.folder:
                self.browser.save_screenshot(f"{self.folder}/{name}-{look}.png")
        loaded = self.browser.execute_script(LOADED)
        problems += [f"loads {one}" for one in loaded if not one.startswith(self.server.url)]
        blocked = [line["message"] for line in self.browser.get_log("browser") if "Content Security" in line["message"]]
        assert not problems and not blocked, f"{name}: {problems} {blocked}"

    def pages_without_a_login(self):
        for name, path in [
            ("home", "/"),
            ("about", "/about"),
            ("login", "/login/"),
            ("login-next", "/accounts/login/?next=/x"),
            ("devlogin", "/devlogin/"),
            ("emails-empty", "/emails"),
            ("reset", "/accounts/password/reset/"),
            ("reset-done", "/accounts/password/reset/done/"),
            ("reset-invalid", "/accounts/password/reset/x"),
            ("find", "/accounts/find/"),
            ("find-done", "/accounts/find/done/"),
            ("go", "/accounts/go/"),
            ("register", "/register/"),
            ("register-sent", "/accounts/send_confirm/"),
            ("register-invalid", "/accounts/do_confirm/x"),
            ("join-invalid", "/join/x/"),
            ("confirm-invalid", "/confirm_email/x"),
            ("unsubscribe-invalid", "/accounts/unsubscribe/x"),
            ("integrations", "/integrations/"),
            ("integration", "/integrations/github"),
            ("api", "/api"),
            ("api-operation", "/api/send-message"),
            ("api-long", "/api/register-queue"),
            ("api-file", "/api/upload-file"),
            ("not-found", "/plans/"),
        ]:
            self.look_at(name, path)

    def conversation_of_a_link_is_named(self):
        for link, name in [
            ("/#narrow/channel/1-general/topic/plans.20.26.20lunch/near/5", "#general › plans & lunch"),
            ("/#narrow/stream/12-town-square", "#town-square"),
            ("/#narrow/channel/12/near/3", "a channel"),
            ("/#narrow/dm/10,8-dm", "a direct conversation"),
            ("/#narrow/dm/10-King-Hamlet/near/7", "direct messages with King Hamlet"),
            ("/#narrow/is/starred", "messages that are starred"),
            ("/#narrow/-is/muted/search/foo.20bar", "messages in topics that are not muted and with “foo bar”"),
            ("/#narrow/channel/1-general/search/foo", "messages with “foo” in #general"),
            ("/#narrow/has/link/sender/10-King-Hamlet", "messages with links and by King Hamlet"),
            ("/#narrow/near/7", "message 7"),
            ("/#narrow/is/unknown", "messages"),
        ]:
            self.browser.get("about:blank")
            self.browser.get(self.server.url + link)
            shown = self.browser.find_element(By.ID, "conversation-name").text
            assert shown == name, shown
            app = self.browser.find_element(By.ID, "open-app").get_attribute("href")
            host = self.server.url.removeprefix("http://")
            assert app == "zulip://" + host + link, app
        self.look_at("conversation", "/#narrow/channel/1-general/topic/lunch")
        for link, name in [
            ("/#settings/notifications", "your settings"),
            ("/#inbox", "the inbox"),
            ("/#channels/3/x", "the settings of a channel"),
            ("/#user/10", "the profile of a user"),
        ]:
            self.browser.get("about:blank")
            self.browser.get(self.server.url + link)
            shown = self.browser.find_element(By.ID, "conversation-name").text
            assert shown == name, shown
            assert not self.browser.find_element(By.ID, "open-app").is_displayed(), link
            assert self.browser.find_element(By.ID, "conversation-view").is_displayed(), link
        self.look_at("view", "/#settings/notifications")
        self.browser.get(self.server.url + "/about")
        assert not self.browser.find_element(By.ID, "conversation").is_displayed()
        own_title = self.browser.title
        for link, title in [("#narrow/is/starred", "messages that are starred"), ("#unknown", own_title)]:
            # The page's own listener is older, so it has run before the timer.
            shown = self.browser.execute_async_script(
                "location.hash = arguments[0];"
                " addEventListener('hashchange', () => setTimeout(() => arguments[1](document.title)), {once: true});",
                link,
            )
            assert shown == title, shown

    def call_is_made_from_the_reference(self):
        self.browser.get(self.server.url + "/api/send-message")
        for name, value in {"type": "direct", "to": "[8]", "content": "from the\nreference"}.items():
            self.browser.find_element(By.ID, "try-" + name).send_keys(value)
        self.browser.find_element(By.CSS_SELECTOR, "#try button").click()
        deadline = time.monotonic() + PATIENCE_SECS
        answer = ""
        while '"result"' not in answer and time.monotonic() < deadline:
            time.sleep(0.1)
            answer = self.browser.find_element(By.ID, "tried-answer").text
        assert answer.startswith("200") and '"result": "success"' in answer, answer
        request = self.browser.find_element(By.ID, "tried-request").text
        assert "curl -X POST" in request and "from the\nreference" in request, request
        self.look_at("api-tried")

    def pages_with_problems(self):
        self.form("/login/", username=OWNER, password="wrong")
        self.look_at("login-problem")
        self.form("/register/", email="a@mailinator.com")
        self.look_at("register-problem")
        self.form("/accounts/go/", subdomain="nowhere")
        self.look_at("go-problem")

    def an_account_is_made(self):
        self.form("/register/", email="new@example.com")
        link = self.link_in_mail("new@example.com", "/accounts/do_confirm/")
        self.look_at("sign-up", link)
        self.form(link, full_name="New", password="password")
        self.look_at("sign-up-problem")
        self.form(link, full_name="New", password="correct horse battery staple")
        self.look_at("joined")
        self.look_at("sign-up-used", link)

    def a_password_is_reset(self):
        self.form("/accounts/password/reset/", email="hamlet@zulip.com")
        link = self.link_in_mail("hamlet@zulip.com", "/accounts/password/reset/")
        self.look_at("reset-form", link)
        self.look_at("emails", "/emails")

    def an_invitation_is_followed(self):
        owner = self.server.login(OWNER)
        params = {"invitee_emails": "guest@example.com", "stream_ids": "[]", "invite_expires_in_minutes": "60"}
        answer = self.server.call("POST", "/api/v1/invites", params, owner)
        assert answer["result"] == "success", answer
        self.look_at("join", self.link_in_mail("guest@example.com", "/join/"))

    def link_is_named(self, link, expected):
        self.browser.get("about:blank")
        self.browser.get(self.server.url + link)
        deadline = time.monotonic() + PATIENCE_SECS
        name = ""
        while name != expected and time.monotonic() < deadline:
            time.sleep(0.1)
            name = self.browser.find_element(By.ID, "conversation-name").text
        assert name == expected, name

    def owner_sees_the_state(self):
        # The link of a mail is opened after the login, and after a wrong password before it.
        link = self.server.url + "/#narrow/channel/1-general/topic/lunch"
        self.browser.get("about:blank")
        self.browser.get(link)
        click_through(self.browser, "a.to-login")
        for password in ["wrong", OWNER]:
            for name, value in {"username": OWNER, "password": password}.items():
                field = self.browser.find_element(By.NAME, name)
                field.clear()
                field.send_keys(value)
            click_through(self.browser, SUBMIT)
        assert self.browser.current_url == link, self.browser.current_url
        assert self.browser.find_element(By.ID, "conversation").is_displayed()
        self.look_at("owner")
        # Who may see a channel or a person reads the real name.
        self.link_is_named("/#narrow/channel/1-something-else", "#general")
        name, owner = "Othello, the Moor of Venice", self.server.login(OWNER)
        members = self.server.call("GET", "/api/v1/users", {}, owner)["members"]
        other = next(member["user_id"] for member in members if member["full_name"] == name)
        own = self.server.call("GET", "/api/v1/users/me", {}, owner)["user_id"]
        self.link_is_named(f"/#narrow/dm/{own},{other}-Othello--the-Moor-of-Venice", "direct messages with " + name)
        text = self.browser.find_element(By.ID, "state").text
        assert "Millstream" in text and "Event queues" in text, text
        assert len(self.browser.find_elements(By.CSS_SELECTOR, ".chart rect")) == 14


def main():
    binary, chromium, chromedriver, axe = sys.argv[1:5]
    folder = sys.argv[5] if len(sys.argv) > 5 else None
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(axe, encoding="utf-8") as file:
        script = file.read()
    server = Server(binary)
    browser, passed, failed = None, 0, 0
    try:
        browser = open_browser(chromium, chromedriver, server.folder, scripts=True)
        pages = Pages(server, browser, script, folder)
        for step in [
            pages.pages_without_a_login,
            pages.conversation_of_a_link_is_named,
            pages.call_is_made_from_the_reference,
            pages.pages_with_problems,
            pages.an_account_is_made,
            pages.a_password_is_reset,
            pages.an_invitation_is_followed,
            pages.owner_sees_the_state,
        ]:
            try:
                step()
                passed += 1
            except Exception as error:
                failed += 1
                # Addresses in the driver, which would hide the message.
                error.stacktrace = None
                print(f"FAILED {step.__name__}\n{traceback.format_exc()}")
    finally:
        if browser:
            browser.quit()
        server.end()
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
