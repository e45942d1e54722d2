"""Loads the plugin, as a project that uses it does."""

pytest_plugins = ["pytest_millstream"]
