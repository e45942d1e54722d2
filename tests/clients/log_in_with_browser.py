"""A user logs in with a real browser that runs no scripts, uses the API below /json, and logs out.

    python log_in_with_browser.py PATH_TO_MILLSTREAM PATH_TO_CHROMIUM PATH_TO_CHROMEDRIVER [FOLDER]

With FOLDER, pictures of the pages are put there. Prints `N passed, N failed`. Exit status 0 only if nothing failed.
"""

import json
import os
import sys
import traceback
import urllib.error
import urllib.parse
import urllib.request

from join_in_browser import PATIENCE_SECS, Server, Visit, open_browser
from selenium.webdriver.common.by import By

EMAIL = "hamlet@zulip.com"


class Login(Visit):
    """The steps, each in the browser as the one before left it."""

    def open(self, path):
        self.browser.get(self.server.url + path)

    def shown_json(self, path):
        self.open(path)
        return json.loads(self.browser.find_element(By.TAG_NAME, "pre").text)

    def post(self, path, params, token):
        """A request with the cookies of the browser; the response, whatever its status."""
        cookies = "; ".join(f"{one['name']}={one['value']}" for one in self.browser.get_cookies())
        data = urllib.parse.urlencode(params).encode()
        headers = {"Cookie": cookies, "X-CSRFToken": token, "Origin": self.server.url}
        request = urllib.request.Request(self.server.url + path, data=data, headers=headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return json.load(error)

    def token(self):
        return self.browser.find_element(By.NAME, "csrfmiddlewaretoken").get_attribute("value")

    def the_server_says_what_it_is(self):
        self.open("/")
        assert "Millstream server" in self.text() and self.server.url in self.text(), self.text()
        self.picture("home")
        self.open("/plans/")
        assert "This page does not exist" in self.text(), self.text()
        self.open("/devlogin/")
        assert "King Hamlet" in self.text(), self.text()
        self.picture("devlogin")

    def a_wrong_password_is_refused(self):
        self.open("/login/")
        self.picture("login")
        self.fill_in("Email address", EMAIL)
        self.fill_in("Password", "wrong")
        self.send()
        assert "password is wrong" in self.text(), self.text()
        self.picture("login-problem")
        assert self.shown_json("/json/users/me")["code"] == "UNAUTHORIZED"

    def the_form_logs_in(self):
        self.open("/login/?next=/%3Ffrom%3Dlogin")
        self.fill_in("Email address", EMAIL)
        self.fill_in("Password", EMAIL)
        self.send()
        assert self.browser.current_url == self.server.url + "/?from=login", self.browser.current_url
        assert "You are logged in as King Hamlet" in self.text(), self.text()
        self.picture("home-logged-in")
        cookies = {one["name"]: one for one in self.browser.get_cookies()}
        assert sorted(cookies) == ["csrftoken", "sessionid"], cookies
        assert all(one["httpOnly"] and one["sameSite"] == "Lax" for one in cookies.values()), cookies

    def the_api_knows_who_it_is(self):
        assert self.shown_json("/json/users/me")["full_name"] == "King Hamlet"
        self.open("/")
        token = self.token()
        params = {"type": "stream", "to": "Verona", "topic": "t", "content": "from a browser"}
        assert self.post("/json/messages", params, token)["result"] == "success"
        assert self.post("/json/messages", params, "x" * 43)["code"] == "CSRF_FAILED"
        narrow = "anchor=newest&num_before=1&num_after=0"
        newest = self.shown_json(f"/json/messages?{narrow}")["messages"][-1]
        assert newest["client"] == "website" and newest["flags"] == ["read"], newest

    def the_button_logs_out(self):
        self.open("/")
        self.send()
        assert self.browser.current_url == self.server.url + "/login/", self.browser.current_url
        assert self.shown_json("/json/users/me")["code"] == "UNAUTHORIZED"


def main():
    binary, chromium, chromedriver = sys.argv[1:4]
    pictures = sys.argv[4] if len(sys.argv) > 4 else None
    if pictures:
        os.makedirs(pictures, exist_ok=True)
    server = Server(binary)
    browser, passed, failed = None, 0, 0
    try:
        browser = open_browser(chromium, chromedriver, server.folder)
        visit = Login(server, browser, pictures)
        for step in [
            visit.the_server_says_what_it_is,
            visit.a_wrong_password_is_refused,
            visit.the_form_logs_in,
            visit.the_api_knows_who_it_is,
            visit.the_button_logs_out,
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
