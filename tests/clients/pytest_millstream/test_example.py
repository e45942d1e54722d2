"""What a project that tests a client or bot writes with the fixtures."""

import socket

import pytest
from pytest_millstream import MillstreamError

SEED = """
name = "Acme"
email_domain = "acme.example"
creator = "olga@acme.example"
users = [{ email = "olga@acme.example", full_name = "Olga", role = "owner" }]
channels = [{ name = "plans", subscribers = "everyone" }]
"""


def test_message_is_received(realm):
    hamlet, iago = realm.user("hamlet"), realm.user("iago")
    sent = hamlet.send("Verona", "lunch", "Who is **hungry**?")
    received = iago.messages([["channel", "Verona"], ["topic", "lunch"]])
    assert [message["id"] for message in received] == [sent]


@pytest.mark.parametrize("round", range(3))
def test_organizations_are_separate(realm, round):
    assert not realm.user("hamlet").messages([["channel", "Verona"], ["topic", "round"]])
    realm.user("hamlet").send("Verona", "round", str(round))


def test_reset(realm):
    hamlet = realm.user("hamlet")
    before = len(hamlet.messages([["channel", "Verona"]], limit=1000))
    hamlet.send("Verona", "lunch", "Me!")
    realm.reset()
    assert len(hamlet.messages([["channel", "Verona"]], limit=1000)) == before


def test_faults_and_queues(realm):
    hamlet = realm.user("hamlet")
    realm.fault("*/users/me", "rate_limit", retry_after=3)
    with pytest.raises(MillstreamError) as refused:
        hamlet.call("GET", "/users/me")
    assert (refused.value.status, refused.value.answer["code"]) == (429, "RATE_LIMIT_HIT")
    hamlet.call("GET", "/users/me")
    queue = hamlet.call("POST", "/register", event_types=["message"])["queue_id"]
    assert realm.expire_queues() == 1
    with pytest.raises(MillstreamError) as ended:
        hamlet.call("GET", "/events", queue_id=queue, last_event_id=-1)
    assert ended.value.answer["code"] == "BAD_EVENT_QUEUE_ID"
    assert [call["path"] for call in realm.requests()][0] == "/api/v1/users/me"


def test_mail(millstream, realm):
    realm.user("iago").call("POST", "/invites", invitee_emails="new@zulip.com", stream_ids=[])
    assert "/join/" in realm.wait_for_mail("new@zulip.com")["text"]
    assert not millstream.new_realm().mails()
    realm.reset()
    assert not realm.mails()


def test_page_of_a_proxy(realm):
    realm.fault("*/users/me", "error", status=502)
    with pytest.raises(MillstreamError) as refused:
        realm.user("hamlet").call("GET", "/users/me")
    assert refused.value.status == 502
    assert refused.value.answer["msg"].startswith("<html>") and "code" not in refused.value.answer


def test_own_seed(millstream):
    acme = millstream.new_realm(SEED)
    assert list(acme.users) == ["olga@acme.example"]
    assert acme.user("olga").send("plans", "launch", "Soon") == 1
    assert acme.user("olga").zuliprc().startswith("[api]\nemail=olga@acme.example\n")


def test_client_of_the_zulip_package(realm, monkeypatch):
    def no_names(host, *rest, **more):
        assert not str(host).endswith("localhost"), f"{host} is looked up"
        return look_up(host, *rest, **more)

    look_up = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", no_names)
    client = realm.user("hamlet").client()
    assert client.get_profile()["email"] == "hamlet@zulip.com"
    queue = client.register(event_types=["message"])
    realm.user("iago").send_direct([realm.user("hamlet")], "To be?")
    events = client.get_events(queue_id=queue["queue_id"], last_event_id=queue["last_event_id"])["events"]
    assert [event["message"]["content"] for event in events] == ["To be?"]


def test_clock(millstream):
    before = millstream.call("GET", "/dev/clock")["time"]
    assert millstream.advance_clock(3600) >= before + 3600
    assert 1_600_000_000 <= millstream.set_clock(1_600_000_000) < before
    assert millstream.restore_clock() >= before
