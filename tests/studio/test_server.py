"""The server: loopback, token, limits."""

import http.client
import json
import signal
import subprocess
import sys
import time
from urllib.parse import urlsplit

import pytest

from goodprior.studio.server import MOST_BYTES
from tests.studio.serving import serving
from tests.studio.tables import BAD, HOSTILE, patients


@pytest.fixture(scope="module")
def csv(tmp_path_factory):
    path = tmp_path_factory.mktemp("server") / "patients.csv"
    patients().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def server(csv):
    with serving(csv) as made:
        yield made


def ask(server, method, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    kind = {} if body is None else {"Content-Type": "application/json"}
    connection.request(method, path, body, {**kind, **headers})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer, content


def post(server, name, request, **headers):
    body = request if isinstance(request, str | bytes) else json.dumps(request)
    answer, content = ask(server, "POST", f"/{server.token}/api/{name}", body, **headers)
    return answer.status, json.loads(content)


def test_the_page_is_served_with_its_token_and_may_load_nothing_else(server):
    assert server.server_address[0] == "127.0.0.1"
    answer, content = ask(server, "GET", f"/{server.token}/")
    assert answer.status == 200
    assert b"goodprior studio" in content
    assert b"http" not in content.replace(b"http-equiv", b"")
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'; script-src 'self'" in policy
    for name in server.pages:
        assert ask(server, "GET", f"/{server.token}/{name}")[0].status == 200


@pytest.mark.parametrize(
    "path", ["/", "/index.html", "/api/space", "/x/", "/{near}/", "/{near}/api/space"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_requests_without_the_token_are_refused(server, method, path):
    near = server.token[:-1] + ("a" if server.token[-1] != "a" else "b")
    answer, content = ask(
        server, method, path.format(near=near), "{}" if method == "POST" else None
    )
    assert answer.status == 403
    assert b"token" in content
    assert server.token.encode() not in content


@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}]
)
def test_other_sites_are_refused_even_with_the_token(server, headers):
    answer, _ = ask(server, "POST", f"/{server.token}/api/space", "{}", **headers)
    assert answer.status == 403


def test_paths_lead_nowhere_else(server):
    for path in ("../server.py", "..%2fserver.py", "/etc/passwd", "page/index.html"):
        assert ask(server, "GET", f"/{server.token}/{path}")[0].status == 404


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("no json", "no JSON"),
        ("[]", "must be a JSON object"),
        ("[" * 100_000, "no JSON"),
        ('{"space": 99}', "reload the page"),
    ],
)
def test_a_broken_request_gets_a_message(server, body, words):
    status, answer = post(server, "draws", body)
    assert status == 400
    assert words in answer["error"]


def test_requests_are_limited(server):
    path = f"/{server.token}/api/draws"
    answer, content = ask(server, "POST", path, "{}", **{"Content-Length": str(MOST_BYTES + 1)})
    assert (answer.status, b"bytes at most" in content) == (400, True)
    answer, content = ask(server, "POST", path, "{}", **{"Content-Type": "text/plain"})
    assert (answer.status, b"must be JSON" in content) == (400, True)
    status, answer = post(server, "__init__", {})
    assert (status, answer["error"]) == (400, "there is no such endpoint")


def test_a_request_of_the_wrong_shape_does_not_stop_the_server(server, capfd):
    status, info = post(server, "space", {})
    assert status == 200
    about = {"space": info["space"], "column": "age", "settings": info["settings"]}
    for wrong in ({"settings": []}, {"row": "x"}, {"seed": {}}, {"column": ["a"]}):
        status, answer = post(server, "draws", {**about, **wrong})
        assert status == 400
        assert answer["error"]
    assert post(server, "draws", about)[0] == 200
    capfd.readouterr()


def test_a_hostile_belief_file_gets_a_clear_error(server):
    _, info = post(server, "space", {})
    status, answer = post(server, "load", {"space": info["space"], "text": "[" * 50_000})
    assert (status, answer["error"]) == (400, "its brackets are nested more than 8 deep")


def test_a_table_that_cannot_be_read_is_a_message_in_the_page(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(BAD["identifiers and scripts"][0])
    with serving(path) as made:
        status, answer = post(made, "space", {})
    assert status == 400
    assert HOSTILE in answer["error"]  # as text: the page never reads it as HTML


def test_the_command_prints_the_address_and_ends_with_ctrl_c_while_it_computes(csv):
    command = [sys.executable, "-m", "goodprior", "studio", str(csv), "--no-browser"]
    process = subprocess.Popen(command, stdout=-1, stderr=-1, text=True)
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    address = urlsplit(line.removeprefix("studio: "))
    assert (address.hostname, len(address.path)) == ("127.0.0.1", 34)
    connection = http.client.HTTPConnection(address.netloc, timeout=60)
    kind = {"Content-Type": "application/json"}
    connection.request("POST", f"{address.path}api/space", "{}", kind)
    info = json.loads(connection.getresponse().read())
    request = {"space": info["space"], "settings": info["settings"], "column": "age"}
    body = json.dumps({**request, "network": "mlp"})
    connection.request("POST", f"{address.path}api/network", body, kind)
    time.sleep(1.5)  # it is matching now
    process.send_signal(signal.SIGINT)
    try:
        rest, errors = process.communicate(timeout=30)
    finally:
        process.kill()
        connection.close()
    assert process.returncode == 0
    assert "stopped" in rest
    assert errors == ""
