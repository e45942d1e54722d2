"""A user is invited, and joins with a real browser that runs no scripts.

    python join_in_browser.py PATH_TO_MILLSTREAM PATH_TO_CHROMIUM PATH_TO_CHROMEDRIVER [FOLDER]

Starts `millstream dev` on a folder of its own, reads the mail at /emails.json, and fills in the page behind its link.
With FOLDER, pictures of the pages are put there. Prints `N passed, N failed`. Exit status 0 only if nothing failed.
"""

import base64
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

PATIENCE_SECS = 60
# A script that looks at every element of a long page, on a machine with other work to do; the driver may take 120.
SCRIPT_SECS = 110
PASSWORD = "correct horse battery staple"


class Server:
    """A `millstream dev` process, and API calls to it."""

    def __init__(self, binary):
        self.folder = tempfile.mkdtemp(prefix="millstream-browser-test-")
        command = [binary, "dev", "--listen", "127.0.0.1:0", "--data", self.folder + "/data"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        for line in self.process.stdout:
            found = re.search(r"http://[0-9.]+:[0-9]+", line)
            if found:
                self.url = found.group(0)
                break
        else:
            raise AssertionError("the server does not say where it listens")
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(PATIENCE_SECS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder)

    def call(self, method, path, params=None, login=None):
        """The response, whatever its status."""
        data = urllib.parse.urlencode(params or {}).encode() if method != "GET" else None
        request = urllib.request.Request(self.url + path, data=data, method=method)
        if login:
            request.add_header("Authorization", "Basic " + base64.b64encode(":".join(login).encode()).decode())
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return json.load(error)

    def login(self, email, password=None):
        path = "/api/v1/fetch_api_key" if password else "/api/v1/dev_fetch_api_key"
        params = {"username": email} | ({"password": password} if password else {})
        answer = self.call("POST", path, params)
        assert answer["result"] == "success", answer
        return (email, answer["api_key"])

    def link_mailed_to(self, address):
        deadline = time.monotonic() + PATIENCE_SECS
        while time.monotonic() < deadline:
            mails = self.call("GET", "/emails.json")
            mails = mails["emails"] if isinstance(mails, dict) else mails
            for mail in mails:
                found = re.search(r"http://\S+/join/\S+", mail["text"])
                if mail["to"] == address and found:
                    return found.group(0)
            time.sleep(0.1)
        raise AssertionError(f"no mail to {address}")


def open_browser(chromium, chromedriver, folder, scripts=False, name="browser"):
    options = Options()
    options.binary_location = chromium
    for argument in [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-proxy-server",
        "--window-size=900,900",
        f"--user-data-dir={folder}/{name}",
    ]:
        options.add_argument(argument)
    if not scripts:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(executable_path=chromedriver))
    browser.set_script_timeout(SCRIPT_SECS)
    return browser


def click_through(browser, selector):
    """Clicks on a link, or the button of a form, and waits until another page has replaced this one."""
    before = browser.find_element(By.TAG_NAME, "html")
    browser.find_element(By.CSS_SELECTOR, selector).click()
    deadline = time.monotonic() + PATIENCE_SECS
    while time.monotonic() < deadline:
        try:
            before.tag_name
        except Exception:  # the previous page was replaced
            return
        time.sleep(0.05)
    raise AssertionError("no other page was opened")


class Visit:
    """Drives the browser as a user would."""

    def __init__(self, server, browser, pictures):
        self.server, self.browser, self.pictures = server, browser, pictures

    def picture(self, name):
        if self.pictures:
            self.browser.save_screenshot(os.path.join(self.pictures, name + ".png"))

    def text(self):
        return self.browser.find_element(By.TAG_NAME, "main").text

    def fill_in(self, label, value):
        """Fills in the field with this label."""
        labels = self.browser.find_elements(By.TAG_NAME, "label")
        [name] = [one.get_attribute("for") for one in labels if one.text == label]
        field = self.browser.find_element(By.ID, name)
        field.clear()
        field.send_keys(value)

    def send(self):
        click_through(self.browser, "button[type=submit]")

    def scripts_are_off(self):
        self.browser.get("data:text/html,<p id=p>plain</p><script>p.textContent='scripted'</script>")
        assert self.browser.find_element(By.ID, "p").text == "plain"

    def a_mail_leads_to_an_account(self):
        iago = self.server.login("iago@zulip.com")
        params = {"invitee_emails": "Ada Lovelace <ada@example.com>", "stream_ids": "[]"}
        params["include_realm_default_subscriptions"] = "true"
        answer = self.server.call("POST", "/api/v1/invites", params, iago)
        assert answer["result"] == "success", answer
        link = self.server.link_mailed_to("ada@example.com")
        self.browser.get(link)
        assert "Join Zulip Dev" in self.text() and "Iago invites you" in self.text(), self.text()
        assert self.browser.find_element(By.ID, "email").get_attribute("value") == "ada@example.com"
        self.picture("form")
        self.fill_in("Full name", "Ada Lovelace")
        self.fill_in("Password", "qwerty")
        self.send()
        assert "This password is too easy to guess." in self.text(), self.text()
        assert self.browser.find_element(By.ID, "full_name").get_attribute("value") == "Ada Lovelace"
        self.picture("problem")
        self.fill_in("Password", PASSWORD)
        self.send()
        assert "Welcome, Ada Lovelace!" in self.text(), self.text()
        assert self.server.url in self.text() and "ada@example.com" in self.text(), self.text()
        self.picture("joined")
        ada = self.server.login("ada@example.com", PASSWORD)
        me = self.server.call("GET", "/api/v1/users/me", login=ada)
        assert me["full_name"] == "Ada Lovelace" and me["role"] == 400, me
        subscriptions = self.server.call("GET", "/api/v1/users/me/subscriptions", login=ada)
        assert subscriptions["subscriptions"], subscriptions
        self.browser.get(link)
        assert "This invitation has already been used" in self.text(), self.text()
        self.picture("used")

    def a_link_is_for_all_who_have_it(self):
        iago = self.server.login("iago@zulip.com")
        answer = self.server.call("POST", "/api/v1/invites/multiuse", {"invite_as": "600"}, iago)
        for email, name in [("bob@example.com", "Bob <b>"), ("eve@example.com", "Eve")]:
            self.browser.get(answer["invite_link"])
            self.fill_in("Email address", email)
            self.fill_in("Full name", name)
            self.fill_in("Password", PASSWORD)
            self.send()
            if name != "Eve":
                assert "A name cannot have these characters" in self.text(), self.text()
                self.fill_in("Full name", "Bob")
                self.fill_in("Password", PASSWORD)
                self.send()
            assert "Welcome, " in self.text(), self.text()
            me = self.server.call("GET", "/api/v1/users/me", login=self.server.login(email, PASSWORD))
            assert me["role"] == 600, me


def main():
    binary, chromium, chromedriver = sys.argv[1:4]
    pictures = sys.argv[4] if len(sys.argv) > 4 else None
    server = Server(binary)
    browser, passed, failed = None, 0, 0
    try:
        browser = open_browser(chromium, chromedriver, server.folder)
        visit = Visit(server, browser, pictures)
        for step in [visit.scripts_are_off, visit.a_mail_leads_to_an_account, visit.a_link_is_for_all_who_have_it]:
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
