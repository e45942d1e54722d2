"""Finding one's organizations: the page of any node knows the accounts on all of them."""

import http.client
import json
import re
import time
import urllib.parse

from report import Row

FAULT = "find your organizations"
MAIL_SECS = 60
PAGE, ACCOUNTS = "/accounts/find/", "/cluster/accounts"


def ask(node, method, path, headers, body=None):
    connection = http.client.HTTPConnection(*node.address, timeout=30)
    try:
        connection.request(method, path, body, {"Host": "localhost:9991", **headers})
        answer = connection.getresponse()
        return answer.status, answer.getheader("Set-Cookie") or "", answer.read().decode()
    finally:
        connection.close()


def mails_to(node, realms, address):
    answers = [json.loads(ask(node, "GET", "/emails.json", {"Host": realm.host})[2]) for realm in realms]
    return [mail for answer in answers for mail in answer.get("emails", []) if mail["to"] == address]


def find(nodes, realms):
    """The rows of the table: an address that has an account everywhere gets one mail with all organizations."""
    node, address = nodes[0], realms[0].accounts[0][0]
    _, cookie, page = ask(node, "GET", PAGE, {})
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[1]
    fields = urllib.parse.urlencode({"emails": address, "csrfmiddlewaretoken": token})
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": cookie.split(";")[0]}
    status, _, _ = ask(node, "POST", PAGE, headers, fields)
    deadline, mails = time.monotonic() + MAIL_SECS, []
    while not mails and time.monotonic() < deadline:
        time.sleep(0.2)
        mails = mails_to(node, realms, address)
    text = mails[0]["text"] if mails else ""
    named = sum(f"//{realm.host.split(':')[0]}" in text for realm in realms)
    question = json.dumps({"address": address, "send": None})
    # Each organization is that of one node: the others pass the request on, with the key of nodes.
    headers = [{"Content-Type": "application/json", "X-Millstream-Hops": "1", "Host": realm.host} for realm in realms]
    paths = [ACCOUNTS, f"/x/..{ACCOUNTS}", f"/x/%2e%2e{ACCOUNTS}"]
    strangers = [ask(node, "POST", path, known, question)[0] for node in nodes for known in headers for path in paths]
    yield Row(FAULT, "status of the form", status)
    yield Row(FAULT, "organizations in the mail", named, len(realms), at_least=True)
    yield Row(FAULT, "further mails", len(mails) - 1, 0)
    yield Row(FAULT, "nodes that answer a stranger's question about an address", sum(status != 404 for status in strangers), 0)
