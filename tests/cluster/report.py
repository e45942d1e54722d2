"""What a run measured, against its targets: a table for people, and JSON."""

import json
import os
import platform
from dataclasses import dataclass


@dataclass
class Row:
    """A figure. Without a target it is information; `value` None was not measured, and misses its target."""

    fault: str
    what: str
    value: float
    target: float = None
    unit: str = ""
    at_least: bool = False

    def passed(self):
        if self.target is None:
            return True
        if self.value is None:
            return False
        return self.value >= self.target if self.at_least else self.value <= self.target

    def relax(self, patience):
        """Longer time limits. What must not happen at all still must not."""
        if self.target and self.unit in ("s", "ms"):
            self.target *= patience

    def texts(self):
        value = "not measured" if self.value is None else shown(self.value, self.unit)
        sign = "≥" if self.at_least else "≤"
        target = "" if self.target is None else f"{sign} {shown(self.target, self.unit)}"
        verdict = "" if self.target is None else "pass" if self.passed() else "FAIL"
        return [self.fault, self.what, target, value, verdict]


def shown(value, unit):
    text = f"{value:,.0f}" if value == int(value) or value >= 1000 else f"{value:.3f}" if value < 1 else f"{value:.1f}"
    return f"{text} {unit}".strip()


def machine():
    """What a figure depends on."""
    model = "unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    loads = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    return f"{os.cpu_count()} cores of {model}, Linux {platform.release()}, load average {loads}"


def print_table(rows):
    table = [["fault", "what", "target", "measured", ""], *(row.texts() for row in rows)]
    widths = [max(len(line[column]) for line in table) for column in range(5)]
    for line in table:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())


def write_json(path, rows, violations, facts):
    found = {
        **facts,
        "machine": machine(),
        "passed": all(row.passed() for row in rows),
        "rows": [{**row.__dict__, "passed": row.passed()} for row in rows],
        "violations": {rule: lines[:100] for rule, lines in violations.items()},
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)
        file.write("\n")
