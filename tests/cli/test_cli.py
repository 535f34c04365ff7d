"""The command `autoinit`, run as users run it."""

import json
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file
from torch import nn
from typer.testing import CliRunner

import autoinit
from autoinit.cli.app import app

FACTORY = """
import torch
from torch import nn

def small():
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))

def vanishing():
    torch.manual_seed(0)
    return nn.Sequential(*(part for _ in range(8) for part in (nn.Linear(16, 16), nn.Tanh())))

class Takes(nn.Module):
    def __init__(self, size):
        super().__init__()

class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(50, 16), nn.Linear(16, 4)

    def forward(self, ids, weight):
        return self.out(self.table(ids) * weight[..., None])

ready = small()
number = 3
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "my_models.py").write_text(FACTORY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my_models", raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, [str(w) for w in words])


@pytest.mark.parametrize("reference", ["my_models:small", "my_models.py:small", "my_models:ready"])
def test_plan_prints_the_table(here, reference):
    found = run("plan", reference, "--input", "16")
    assert found.exit_code == 0, found.output
    assert "2 weight layers, 4 of 4 parameters set" in found.stdout
    assert "0.2500" in found.stdout  # 1/sqrt(16)


def test_plan_as_json(here):
    found = run("plan", "my_models:small", "-i", "16", "--json", "-", "--variance", "4", "--distribution", "uniform",
                "--plot", "beside.png")  # fmt: skip
    data = json.loads(found.stdout)
    assert "figure written to beside.png" in found.stderr
    assert data["variance"] == 4.0 and data["distribution"] == "uniform"
    assert run("plan", "my_models:small", "-i", "16", "--json", "plan.json").exit_code == 0
    assert autoinit.Plan.load(here / "plan.json")["0.weight"].parts[0].std == pytest.approx(0.25)


def test_plan_options(here):
    found = run("plan", "my_models:small", "-i", "16", "--skip", "2.*", "--center", "bias", "--eval", "--batch", "8")
    assert found.exit_code == 0 and "8×32" in found.stdout
    assert "2 of 4 parameters set" in found.stdout


def test_inputs_with_names_and_properties(here):
    found = run("plan", "my_models:Two", "-i", "ids=12:vocabulary=50", "-i", "weight=12:mean=3,variance=0.5")
    assert found.exit_code == 0, found.output
    assert run("plan", "my_models:Two", "-i", "12:vocabulary=50", "-i", "12:mean=3").exit_code == 0


@pytest.mark.parametrize(
    ("words", "code"),
    [(["-i", "axb"], 2), (["-i", "16:colour=3"], 2), (["-i", "16:mean=x"], 2), (["-i", "a=16", "-i", "3"], 2),
     (["-i", "17"], 3), ([], 2)],
    ids=["shape", "property", "number", "some names", "wrong size", "none"],
)  # fmt: skip
def test_bad_inputs(here, words, code):
    """A description that is none is wrong use; one with which the model fails is the model's failure."""
    found = run("plan", "my_models:small", *words)
    assert found.exit_code == code and "to fix" in found.stderr
    assert code == 3 or "autoinit: --input" in found.stderr


@pytest.mark.parametrize(
    "reference",
    ["nothing", "no_such_module:f", "my_models:absent", "my_models:number", "my_models:Takes", "absent.py:f",
     "absent.json", "keras:NoNet", "hf:absent.json"],
)  # fmt: skip
def test_bad_references(here, reference):
    found = run("plan", reference, "-i", "16")
    assert found.exit_code == (2 if reference == "nothing" else 3), found.output
    assert "to fix" in found.stderr


def test_check_fails_pipelines_on_bad_signals(here):
    assert run("check", "my_models:vanishing", "-i", "16").exit_code == 0
    found = run("check", "my_models:vanishing", "-i", "16", "--fail-on", "bad")
    assert found.exit_code == 1
    assert "first problem" in found.stdout and "vanishing" in found.stderr
    assert run("plan", "my_models:vanishing", "-i", "16", "--fail-on", "warn").exit_code == 0


def test_measure(here):
    found = run("measure", "my_models:vanishing", "-i", "16", "--repeats", "2", "--fail-on", "bad")
    assert found.exit_code == 1 and "measured" in found.stdout


def test_init_writes_safetensors(here):
    found = run("init", "my_models:small", "-i", "16", "-o", "weights.safetensors", "--seed", "5")
    assert found.exit_code == 0, found.output
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    model.load_state_dict(load_file(here / "weights.safetensors"))
    wanted = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    autoinit.initialize(wanted, (64, 16), seed=5)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), wanted.parameters(), strict=True))


@pytest.mark.parametrize("name", ["weights.bin", "no/such/folder/w.safetensors"])
def test_init_refuses_before_it_works(here, name):
    found = run("init", "my_models:small", "-i", "16", "-o", name)
    assert found.exit_code == 2 and "to fix" in found.stderr


def test_figures(here):
    assert run("plan", "my_models:small", "-i", "16", "--plot", "signal.png").exit_code == 0
    assert (here / "signal.png").stat().st_size > 5000
    assert run("check", "my_models:small", "-i", "16", "--plot", "now.svg", "--html", "now.html").exit_code == 0
    assert run("measure", "my_models:small", "-i", "16", "--plot", "m.png", "--html", "m.html").exit_code == 0
    assert run("plan", "my_models:small", "-i", "16", "--html", "page.html").exit_code == 0
    for name in ("now.svg", "now.html", "m.png", "m.html"):
        assert (here / name).stat().st_size > 5000
    assert "vanishing" in (here / "page.html").read_text()[-200_000:]  # beside the plan: the weights it has now


def test_timm(here):
    found = run("check", "timm:resnet18", "--batch", "2", "--fail-on", "bad")
    assert found.exit_code == 1, found.output
    found = run("plan", "timm:no_such_resnet18")
    assert found.exit_code == 3 and "to fix" in found.stderr


def test_transformers_config(here):
    config = {"model_type": "bert", "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
              "intermediate_size": 64, "vocab_size": 99}  # fmt: skip
    (here / "config.json").write_text(json.dumps(config))
    found = run("plan", "hf:config.json", "--batch", "4")
    assert found.exit_code == 0, found.output
    (here / "evil.json").write_text(json.dumps({**config, "auto_map": {"AutoModel": "code.Evil"}}))
    found = run("plan", "hf:evil.json")
    assert found.exit_code == 3 and "never run" in found.stderr


def test_a_json_file_runs_no_code(here):
    config = {"class_name": "Sequential", "config": {"name": "s", "layers": [
        {"class_name": "Lambda", "config": {"name": "l", "function": {"class_name": "__lambda__", "config": {}}}},
    ]}}  # fmt: skip
    (here / "model.json").write_text(json.dumps(config))
    found = run("plan", "model.json")
    assert found.exit_code == 3 and "Python code" in found.stderr


def test_wrong_usage_is_two(here):
    assert run("plan").exit_code == 2
    assert run("plan", "my_models:small", "--no-such-option").exit_code == 2


def test_as_a_program(here):
    """In a process of its own, with an exit code and nothing on standard error."""
    found = subprocess.run(
        [sys.executable, "-m", "autoinit", "check", "my_models:vanishing", "-i", "16", "--fail-on", "bad"],
        capture_output=True, text=True, cwd=here, check=False,
    )  # fmt: skip
    assert found.returncode == 1, found.stderr
    version = subprocess.run(
        [sys.executable, "-m", "autoinit", "--version"], capture_output=True, text=True, check=True
    )
    assert version.stdout.strip() == f"autoinit {autoinit.__version__}"


def test_demo():
    found = run("demo")
    assert found.exit_code == 0 and "AutoInit" in found.stdout
    last = next(line.split() for line in found.stdout.splitlines() if line.strip().startswith("30 "))
    assert float(last[1]) < 1e-3 and 0.05 < float(last[2]) < 20


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("line", "there", "absent"),
    [("autoinit me", "measure", "check"), ("autoinit check --fail", "--fail-on", "--json"),
     ("autoinit check --fail-on b", "bad", "warn"), ("autoinit diff --res", "--residual", "--recipe")],
    ids=["command", "option", "value", "option of diff"],
)  # fmt: skip
def test_completion(shell, line, there, absent):
    words = line.split()
    asked = {"_AUTOINIT_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": line, "COMP_WORDS": line,
             "COMP_CWORD": str(len(words) - 1), "_TYPER_COMPLETE_FISH_ACTION": "get-args"}  # fmt: skip
    found = CliRunner().invoke(app, [], env=asked, prog_name="autoinit")
    assert there in found.stdout and absent not in found.stdout


def test_completion_is_installed_by_an_option():
    assert "--install-completion" in run("--help").stdout
    script = CliRunner().invoke(app, [], env={"_AUTOINIT_COMPLETE": "source_bash"}, prog_name="autoinit").stdout
    assert "complete" in script and "autoinit" in script
