import json
import re
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from purse.campaign.api.results import ALARM_KINDS
from tests.support.deployment import DEPLOY, instruction, read_yaml
from tests.support.service import PROMPTS, operations_of, service

PROMETHEUS: dict[str, Any] = read_yaml("prometheus.yml")
SERVICES: dict[str, Any] = read_yaml("compose.yaml")["services"]
(GROUP,) = read_yaml("alerts.yml")["groups"]
RULES: list[dict[str, Any]] = GROUP["rules"]
(JOB,) = PROMETHEUS["scrape_configs"]
# of Prometheus itself, for each target
OF_TARGETS = {"up": {"job", "instance"}}
SELECTOR = re.compile(r"\b([a-z]\w*)\s*\{([^}]*)\}")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The samples that a service with a campaign, an account and a receiver exports, and the labels
    of each.
    """
    file = tmp_path_factory.mktemp("webhooks") / "webhooks.toml"
    file.write_text("[ops]\nformat = 'slack'\naddress_env = 'OPS'\ncampaigns = ['*']\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPS", "https://hooks.example.com/")
        client = service(webhooks=file)
    assert client.post("/campaigns", json=PROMPTS).status_code == 201
    client.post("/accounts", json={"name": "team-a", "budget": 1})
    found: dict[str, set[str]] = {name: set(labels) for name, labels in OF_TARGETS.items()}
    for family in text_string_to_metric_families(
        client.get(JOB["metrics_path"], params=JOB["params"]).text
    ):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


def mounted(service: str, target: str) -> Path:
    """The file that a container sees at a path."""
    for mount in SERVICES[service]["volumes"]:
        source, there, *_ = mount.split(":")
        if there == target:
            return (DEPLOY / source).resolve()
    raise AssertionError(f"nothing is mounted at {target}")


def dashboard() -> dict[str, Any]:
    """The dashboard that Grafana is provisioned with."""
    (provider,) = read_yaml("grafana/dashboards.yml")["providers"]
    assert provider["type"] == "file"
    file = mounted("grafana", f"{provider['options']['path']}/purse.json")
    found: dict[str, Any] = json.loads(file.read_text())
    return found


EXPRESSIONS = [
    *(rule["expr"] for rule in RULES),
    *(target["expr"] for panel in dashboard()["panels"] for target in panel.get("targets", ())),
]


def metrics_in(expression: str) -> set[str]:
    """The names of metrics, without functions, labels and words of the language."""
    bare = re.sub(r'"[^"]*"|\[[^]]*\]|\b(by|on|without)\s*\([^)]*\)', "", expression)
    names = re.sub(r"\{[^}]*\}", "", bare)
    return {
        word for word in re.findall(r"\b[a-z]\w*\b(?!\s*\()", names) if word not in ("and", "or")
    } - {"unless", "e"}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions_ask_for_numbers_and_labels_that_there_are(
    expression: str, exported: dict[str, set[str]]
) -> None:
    bare = re.sub(r'"[^"]*"', "", expression)
    assert all(bare.count(opens) == bare.count(closes) for opens, closes in ("()", "[]", "{}"))
    assert metrics_in(expression)
    assert metrics_in(expression) <= set(exported)
    for name, matchers in SELECTOR.findall(expression):
        labels = re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers)
        assert set(labels) <= exported[name] | {"job", "instance"}


def test_every_kind_of_alarm_has_one_alert() -> None:
    named = [
        kind
        for rule in RULES
        for words in re.findall(r'purse_alarm\{kind=~?"([^"]*)"\} == 1', rule["expr"])
        for kind in words.split("|")
    ]
    assert sorted(named) == sorted(ALARM_KINDS)


def test_alerts_have_a_name_a_severity_and_a_text_with_labels_that_there_are(
    exported: dict[str, set[str]],
) -> None:
    assert len({rule["alert"] for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        labels = {"job", "instance"}.union(*(exported[name] for name in metrics_in(rule["expr"])))
        said = re.findall(r"\{\{ \$labels\.(\w+) \}\}", rule["annotations"]["summary"])
        assert set(said) <= labels, rule["alert"]


def test_prometheus_scrapes_the_service_at_its_port_and_route() -> None:
    ((target,),) = (each["targets"] for each in JOB["static_configs"])
    host, port = target.split(":")
    assert host in SERVICES
    assert port == instruction("EXPOSE")
    assert operations_of(service().app)["GET", JOB["metrics_path"]] == "read"  # which the token has
    assert any(f'job="{JOB["job_name"]}"' in rule["expr"] for rule in RULES)


def test_prometheus_reads_the_rules_and_the_token_that_are_mounted() -> None:
    folder = "/etc/prometheus"
    assert mounted("prometheus", f"{folder}/prometheus.yml") == DEPLOY / "prometheus.yml"
    for name in PROMETHEUS["rule_files"]:
        assert mounted("prometheus", f"{folder}/{name}") == DEPLOY / name
    (secret,) = SERVICES["prometheus"]["secrets"]
    assert JOB["authorization"] == {"type": "Bearer", "credentials_file": f"/run/secrets/{secret}"}


def test_grafana_asks_the_prometheus_of_the_compose_file() -> None:
    (source,) = read_yaml("grafana/datasources.yml")["datasources"]
    assert source["type"] == "prometheus"
    assert source["isDefault"] is True
    host, port = source["url"].removeprefix("http://").split(":")
    assert SERVICES[host]["ports"][0].endswith(f":{port}")
    for name in ("datasources", "dashboards"):
        file = mounted("grafana", f"/etc/grafana/provisioning/{name}/purse.yml")
        assert file == DEPLOY / "grafana" / f"{name}.yml"


def test_the_dashboard_is_the_one_that_the_command_prints() -> None:
    from click.testing import CliRunner

    from purse.cli.serve import serve

    assert json.loads(CliRunner().invoke(serve, ["--grafana"]).stdout) == dashboard()
