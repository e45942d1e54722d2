//! Templates of the shape of a release's, for the unit tests of this module.

/// As `templates/zerver/base.html`: blocks, the files of the entry, and the parameters.
pub const BASE_TEMPLATE: &str = r#"<!DOCTYPE html>
<html lang="{{ LANGUAGE_CODE }}" {%- if color_scheme == 1 %} class="color-scheme-automatic" {%- elif color_scheme == 2 %} class="dark-theme" {%- endif %}>
{# A comment. #}
<head>
{% block title %}
{% if user_profile and user_profile.realm.name %}<title>{{ user_profile.realm.name }} - Zulip</title>
{% elif PAGE_TITLE %}<title>{{ PAGE_TITLE }}</title>{% endif %}
{% endblock %}
{% if not user_profile %}{% include 'zerver/meta_tags.html' %}{% endif %}
{% block webpack %}
{% for filename in webpack_entry(entrypoint) -%}
{% if filename.endswith(".css") -%}
<link rel="stylesheet" href="{{ filename }}" {% if csp_nonce %}nonce="{{ csp_nonce }}"{% endif %} />
{% elif filename.endswith(".js") -%}
<script defer crossorigin="anonymous" {% if csp_nonce %}nonce="{{ csp_nonce }}"{% endif %} src="{{ filename }}"></script>
{% endif -%}
{% endfor %}
{% endblock %}
{% block customhead %}{% endblock %}
</head>
<body>
{% block content %}{% endblock %}
{% set all_page_params = default_page_params.copy() %}
{% set _ = all_page_params.update(page_params|default({})) %}
<div hidden id="page-params" data-params='{{ all_page_params|tojson }}'></div>
</body>
</html>
"#;

/// As `templates/zerver/app/index.html`.
pub const INDEX_TEMPLATE: &str = r#"{% extends "zerver/base.html" %}
{% set entrypoint = "app" %}
{% set PAGE_TITLE = _("Public view of {org_name} | Zulip team chat").format(org_name=realm_name) %}
{% block customhead %}
<link href="{{ static('images/logo/apple.png') }}" rel="apple-touch-icon" />
<style nonce="{{ csp_nonce }}">#app-loading { color: red; }</style>
{% endblock %}
{% block content %}
<div id="app-loading"><p>{% trans %}If this does not go away, try <a href="">reloading</a> the page.{% endtrans %}</p></div>
<table><tbody data-empty="{{ _('Nothing here.') }}"></tbody></table>
<div id="compose" {% if embedded %}data-embedded{% endif %}></div>
<div class="hidden"><form id="logout_form" action="/accounts/logout/" method="POST">{{ csrf_input }}</form></div>
{% endblock %}
"#;
