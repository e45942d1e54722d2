"""Compares answers with the OpenAPI document of the reference server at level 263, which is not part of this project. Events
are not compared: the document has no names by which to choose among their forms.

    python check.py URL DOCUMENT [--write]

Every difference must be in `differences.txt`, which says why it is right, and every line of that file must still be a
difference. `--write` prints the differences instead.
"""


import pathlib
import re
import sys
import time

import yaml

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from common import User, run  # noqa: E402

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
TYPES = {
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


class Document:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.root = yaml.load(file, LOADER)

    def resolve(self, schema):
        """A schema without references, its `allOf` merged."""
        while "$ref" in schema:
            found = self.root
            for part in schema["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            schema = found
        if "allOf" not in schema:
            return schema
        merged = {**schema, "properties": dict(schema.get("properties", {}))}
        merged["required"] = list(schema.get("required", []))
        for part in map(self.resolve, schema["allOf"]):
            merged["properties"] = {**part.get("properties", {}), **merged["properties"]}
            merged["required"] += part.get("required", [])
            for key in ("type", "nullable", "oneOf", "additionalProperties"):
                if key in part and key not in merged:
                    merged[key] = part[key]
        return merged

    def answer_schema(self, path, method):
        answer = self.resolve(self.root["paths"][path][method]["responses"]["200"])
        return answer["content"]["application/json"]["schema"]

    def differences_by_name(self, value, schema, place):
        """The differences; those of unknown fields by name alone, because one field is in many answers."""
        found = self.differences(value, schema, place)
        return {re.sub(r".*\.(\w+): unknown$", r"\1: unknown", difference) for difference in found}

    def differences(self, value, schema, place):
        """The places where a value is not as its schema says."""
        schema = self.resolve(schema)
        if value is None:
            nullable = schema.get("nullable") or not schema.get("type")
            return [] if nullable else [f"{place}: null"]
        if "oneOf" in schema:
            found = [self.differences(value, option, place) for option in schema["oneOf"]]
            return min(found, key=len)
        kind = schema.get("type")
        if kind and not TYPES[kind](value):
            return [f"{place}: not of type {kind}"]
        if isinstance(value, list):
            items = schema.get("items", {})
            return [found for item in value for found in self.differences(item, items, f"{place}[]")]
        if isinstance(value, dict):
            return self.object_differences(value, schema, place)
        if "enum" in schema and value not in schema["enum"]:
            return [f"{place}: the value {value!r}"]
        return []

    def object_differences(self, value, schema, place):
        properties, more = schema.get("properties", {}), schema.get("additionalProperties", True)
        found = [f"{place}.{name}: missing" for name in schema.get("required", []) if name not in value]
        for name, part in value.items():
            if name in properties:
                found += self.differences(part, properties[name], f"{place}.{name}")
            elif isinstance(more, dict):
                found += self.differences(part, more, f"{place}.*")
            elif properties:
                found.append(f"{place}.{name}: unknown")
        return found


class Calls:
    """Calls of endpoints, each with an answer that must be a success."""

    def __init__(self, url, document):
        self.document = document
        self.hamlet, self.iago = User(url, "hamlet@zulip.com"), User(url, "iago@zulip.com")
        self.owner = User(url, "desdemona@zulip.com")
        self.called, self.found = set(), set()

    def ok(self, user, method, path, values=(), **params):
        """The answer of an endpoint with `{name}` in its path."""
        real = path
        for name, value in dict(values).items():
            real = real.replace(f"{{{name}}}", str(value))
        answer = user.ok(method, real, **params)
        name = f"{method} {path}"
        self.called.add(name)
        schema = self.document.answer_schema(path, method.lower())
        self.found |= self.document.differences_by_name(answer, schema, name)
        return answer

    def all(self):
        self.of_the_organization()
        self.of_users()
        self.of_channels()
        self.of_messages()
        self.of_oneself()

    def of_the_organization(self):
        ok, hamlet, iago = self.ok, self.hamlet, self.iago
        ok(hamlet, "GET", "/server_settings")
        for path in ["/realm/emoji", "/realm/linkifiers", "/realm/profile_fields", "/realm/presence"]:
            ok(hamlet, "GET", path)
        ok(self.owner, "GET", "/invites")
        made = ok(iago, "POST", "/realm/filters", pattern="#(?P<id>[0-9]+)", url_template="https://e.example/{id}")
        ok(iago, "PATCH", "/realm/filters/{filter_id}", {"filter_id": made["id"]}, pattern="!(?P<id>[0-9]+)",
           url_template="https://e.example/{id}")
        ok(iago, "DELETE", "/realm/filters/{filter_id}", {"filter_id": made["id"]})
        made = ok(iago, "POST", "/realm/playgrounds", name="Try", pygments_language="Python",
                  url_template="https://e.example/{code}")
        ok(iago, "DELETE", "/realm/playgrounds/{playground_id}", {"playground_id": made["id"]})
        ok(iago, "POST", "/realm/profile_fields", field_type=1, name="Motto", hint="")
        ok(iago, "PATCH", "/realm/user_settings_defaults", high_contrast_mode=True)
        registered = ok(hamlet, "POST", "/register", client_capabilities={
            "notification_settings_null": True, "bulk_message_deletion": True, "linkifier_url_template": True,
            "user_avatar_url_field_optional": True, "user_settings_object": True,
            "stream_typing_notifications": True, "user_list_incomplete": True,
        }, include_subscribers=True, slim_presence=True)
        self.queue = registered["queue_id"]

    def of_users(self):
        ok, hamlet = self.ok, self.hamlet
        ok(hamlet, "GET", "/users", include_custom_profile_fields=True)
        ok(hamlet, "GET", "/users/me")
        ok(hamlet, "GET", "/users/{user_id}", {"user_id": 11})
        ok(hamlet, "GET", "/users/{email}", {"email": "iago@zulip.com"})
        ok(hamlet, "GET", "/users/{user_id}/status", {"user_id": 11})
        ok(hamlet, "GET", "/users/{user_id_or_email}/presence", {"user_id_or_email": "iago@zulip.com"})
        ok(hamlet, "GET", "/users/{user_id}/subscriptions/{stream_id}", {"user_id": 11, "stream_id": 3})
        made = ok(self.owner, "POST", "/users", email="new@zulip.com", password="a good password", full_name="New")
        ok(self.owner, "PATCH", "/users/{user_id}", {"user_id": made["user_id"]}, full_name="Newer")
        ok(self.owner, "DELETE", "/users/{user_id}", {"user_id": made["user_id"]})
        ok(self.owner, "POST", "/users/{user_id}/reactivate", {"user_id": made["user_id"]})
        ok(hamlet, "GET", "/user_groups")
        ok(self.iago, "POST", "/user_groups/create", name="players", description="They play", members=[10, 11])
        group = next(g["id"] for g in hamlet.ok("GET", "/user_groups")["user_groups"] if g["name"] == "players")
        ok(hamlet, "GET", "/user_groups/{user_group_id}/members", {"user_group_id": group})
        ok(hamlet, "GET", "/user_groups/{user_group_id}/members/{user_id}", {"user_group_id": group, "user_id": 10})
        ok(hamlet, "GET", "/user_groups/{user_group_id}/subgroups", {"user_group_id": group})
        ok(self.iago, "POST", "/user_groups/{user_group_id}/members", {"user_group_id": group}, add=[12])
        ok(self.iago, "PATCH", "/user_groups/{user_group_id}", {"user_group_id": group}, description="Actors")

    def of_channels(self):
        ok, hamlet, iago = self.ok, self.hamlet, self.iago
        ok(hamlet, "GET", "/streams", include_default=True)
        ok(hamlet, "GET", "/get_stream_id", stream="Verona")
        ok(hamlet, "GET", "/streams/{stream_id}", {"stream_id": 3})
        ok(hamlet, "GET", "/streams/{stream_id}/members", {"stream_id": 3})
        ok(hamlet, "GET", "/users/me/subscriptions", include_subscribers=True)
        ok(hamlet, "GET", "/users/me/{stream_id}/topics", {"stream_id": 3})
        ok(iago, "POST", "/users/me/subscriptions", subscriptions=[{"name": "club"}])
        club = iago.ok("GET", "/get_stream_id", stream="club")["stream_id"]
        ok(iago, "PATCH", "/streams/{stream_id}", {"stream_id": club}, description="Members only")
        ok(iago, "PATCH", "/users/me/subscriptions", subscriptions=["club"], **{"delete": ["Rome"]})
        ok(iago, "POST", "/users/me/subscriptions/properties",
           subscription_data=[{"stream_id": club, "property": "pin_to_top", "value": True}])
        ok(iago, "DELETE", "/users/me/subscriptions", subscriptions=["club"])
        ok(iago, "POST", "/default_streams", stream_id=club)
        ok(iago, "DELETE", "/default_streams", stream_id=club)
        ok(iago, "DELETE", "/streams/{stream_id}", {"stream_id": club})
        hamlet.send("Verona", "to be deleted", "x")
        ok(self.owner, "POST", "/streams/{stream_id}/delete_topic", {"stream_id": 3}, topic_name="to be deleted")
        ok(hamlet, "POST", "/user_topics", stream_id=3, topic="ball on saturday", visibility_policy=3)
        ok(hamlet, "PATCH", "/users/me/subscriptions/muted_topics", stream_id=3, topic="lunch", op="add")

    def of_messages(self):
        ok, hamlet, iago = self.ok, self.hamlet, self.iago
        message = ok(iago, "POST", "/messages", type="stream", to="Verona", topic="openapi", content="hello")["id"]
        ok(iago, "POST", "/messages", type="direct", to=["hamlet@zulip.com"], content="hello")
        one = {"message_id": message}
        ok(iago, "PATCH", "/messages/{message_id}", one, content="hello again")
        ok(hamlet, "POST", "/messages/{message_id}/reactions", one, emoji_name="tada")
        ok(hamlet, "DELETE", "/messages/{message_id}/reactions", one, emoji_name="tada")
        ok(hamlet, "GET", "/messages", anchor="newest", num_before=400, num_after=0)
        ok(hamlet, "GET", "/messages/{message_id}", one)
        ok(hamlet, "GET", "/messages/{message_id}/history", one)
        ok(hamlet, "GET", "/messages/{message_id}/read_receipts", one)
        ok(hamlet, "GET", "/messages/matches_narrow", msg_ids=[message], narrow=[["channel", "Verona"]])
        ok(hamlet, "POST", "/messages/render", content="**bold**")
        ok(hamlet, "POST", "/messages/flags", messages=[message], op="add", flag="starred")
        ok(hamlet, "POST", "/messages/flags/narrow", anchor="newest", num_before=5, num_after=0, narrow=[],
           op="add", flag="read")
        ok(hamlet, "POST", "/mark_stream_as_read", stream_id=3)
        ok(hamlet, "POST", "/mark_topic_as_read", stream_id=3, topic_name="openapi")
        ok(hamlet, "POST", "/mark_all_as_read")
        ok(hamlet, "POST", "/typing", op="start", to=[11])
        ok(hamlet, "DELETE", "/events", queue_id=self.queue)
        ok(iago, "DELETE", "/messages/{message_id}", one)
        later = int(time.time()) + 3600
        made = ok(hamlet, "POST", "/scheduled_messages", type="stream", to=3, topic="later", content="later",
                  scheduled_delivery_timestamp=later)
        ok(hamlet, "GET", "/scheduled_messages")
        mine = {"scheduled_message_id": made["scheduled_message_id"]}
        ok(hamlet, "PATCH", "/scheduled_messages/{scheduled_message_id}", mine, content="even later")
        ok(hamlet, "DELETE", "/scheduled_messages/{scheduled_message_id}", mine)
        draft = {"type": "stream", "to": [3], "topic": "draft", "content": "not yet", "timestamp": later}
        made = ok(hamlet, "POST", "/drafts", drafts=[draft])
        ok(hamlet, "GET", "/drafts")
        ok(hamlet, "PATCH", "/drafts/{draft_id}", {"draft_id": made["ids"][0]}, draft={**draft, "content": "soon"})
        ok(hamlet, "DELETE", "/drafts/{draft_id}", {"draft_id": made["ids"][0]})

    def of_oneself(self):
        ok, hamlet = self.ok, self.hamlet
        ok(hamlet, "GET", "/users/me/alert_words")
        ok(hamlet, "POST", "/users/me/alert_words", alert_words=["ghost"])
        ok(hamlet, "DELETE", "/users/me/alert_words", alert_words=["ghost"])
        ok(hamlet, "POST", "/users/me/status", status_text="brooding")
        ok(hamlet, "POST", "/users/me/presence", status="active")
        ok(hamlet, "POST", "/users/me/muted_users/{muted_user_id}", {"muted_user_id": 11})
        ok(hamlet, "DELETE", "/users/me/muted_users/{muted_user_id}", {"muted_user_id": 11})
        ok(hamlet, "PATCH", "/settings", dense_mode=False)
        ok(User(hamlet.url, "ZOE@zulip.com"), "POST", "/users/me/api_key/regenerate") \
            if "/users/me/api_key/regenerate" in self.document.root["paths"] else None


def reviewed():
    """The lines of the list; what follows `#` is the reason."""
    lines = (HERE / "differences.txt").read_text(encoding="utf-8").splitlines()
    lines = [re.sub(r"\s*# .*", "", line) for line in lines]
    return {line for line in lines if line}


class Checks:
    def __init__(self, calls):
        self.calls = calls

    def test_all_calls_succeed(self):
        self.calls.all()
        print(f"{len(self.calls.called)} endpoints, {len(self.calls.found)} differences")

    def test_all_differences_are_reviewed(self):
        new = sorted(self.calls.found - reviewed())
        assert not new, "\n".join(new)

    def test_all_reviewed_differences_are_still_there(self):
        gone = sorted(reviewed() - self.calls.found)
        assert not gone, "\n".join(gone)


if __name__ == "__main__":
    made = Calls(sys.argv[1], Document(sys.argv[2]))
    if "--write" in sys.argv:
        made.all()
        print("\n".join(sorted(made.found)))
        sys.exit()
    run(Checks(made))
