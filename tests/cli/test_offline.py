"""`hf:`, `timm:`, `torchvision:` and `keras:` never touch the network; files beside a user's file do no harm."""

import json
import os
import random
import socket

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from autoinit.cli.offline import NetworkRefused, offline
from autoinit.cli.references import resolve
from autoinit.errors import ModelError

SMALL = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, "vocab_size": 32}
BERT = {"model_type": "bert", **SMALL}
DETR = {"model_type": "detr", "d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
        "decoder_attention_heads": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16}  # fmt: skip
RESNET = {"model_type": "resnet", "embedding_size": 8, "hidden_sizes": [8, 8], "depths": [1, 1], "layer_type": "basic",
          "out_features": ["stage2"]}  # fmt: skip

CONFIGS = {
    "bert": (BERT, None),
    "gpt2": ({"model_type": "gpt2", "n_embd": 16, "n_layer": 1, "n_head": 2, "vocab_size": 32}, None),
    "vit": ({"model_type": "vit", **SMALL, "image_size": 32, "patch_size": 8}, None),
    "detr with its own backbone": ({**DETR, "use_timm_backbone": False, "backbone": None,
                                    "backbone_config": RESNET}, None),
    "detr, timm backbone, weights": ({**DETR, "use_timm_backbone": True, "backbone": "resnet18",
                                      "use_pretrained_backbone": True}, None),
    "detr, timm backbone": ({**DETR, "use_timm_backbone": True, "backbone": "resnet18",
                             "use_pretrained_backbone": False}, None),
    "detr, backbone of the hub": ({**DETR, "use_timm_backbone": False, "backbone": "microsoft/resnet-50",
                                   "use_pretrained_backbone": True}, "fetched|cannot make"),
    "dpt, backbone of the hub": ({"model_type": "dpt", **SMALL, "is_hybrid": False, "backbone": "facebook/dinov2-base",
                                  "use_pretrained_backbone": True}, "fetched|cannot make"),
    "upernet, backbone of the hub": ({"model_type": "upernet", "backbone": "microsoft/swin-tiny-patch4-window7-224"},
                                     "fetched|cannot make"),
    "timm wrapper": ({"model_type": "timm_wrapper", "architecture": "resnet18", "pretrained": True}, "any"),
    "timm backbone": ({"model_type": "timm_backbone", "backbone": "resnet18", "use_pretrained_backbone": True}, "any"),
    "auto_map": ({**BERT, "auto_map": {"AutoModel": "evil--modeling.Evil"}}, "auto_map"),
    "auto_map inside": ({**BERT, "text_config": {"auto_map": {"AutoModel": "x.Y"}}}, "auto_map"),
    "remote code": ({**BERT, "trust_remote_code": True}, "trust_remote_code"),
    "a name of the hub": ({**BERT, "_name_or_path": "someone/private"}, None),
    "a tokenizer": ({**BERT, "tokenizer_class": "EvilTokenizer"}, None),
    "unknown type": ({"model_type": "no such model"}, "cannot make"),
    "type is a list": ({"model_type": [1]}, "cannot make"),
    "no type": ({"hidden_size": 3}, "cannot make"),
    "a list": ([1, 2], "not the config"),
    "a text": ("hello", "not the config"),
    "sizes as texts": ({**BERT, "hidden_size": "sixteen"}, "cannot make"),
    "negative sizes": ({**BERT, "hidden_size": -16}, "cannot make"),
    "code as an activation": ({**BERT, "hidden_act": "__import__('os')"}, "cannot make"),
}  # fmt: skip


@pytest.fixture
def reached(monkeypatch):
    """What was asked of the network."""
    asked = []

    def refuse(*args, **kwargs):
        asked.append(args)
        raise OSError("the test has no network")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return asked


@pytest.mark.parametrize("case", sorted(CONFIGS))
def test_a_config(case, tmp_path, reached):
    config, word = CONFIGS[case]
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    before = dict(os.environ)
    if word is None:
        assert any(True for _ in resolve(f"hf:{path}").model.parameters())
    elif word == "any":  # made without weights or refused, as the version of the library has it
        try:
            resolve(f"hf:{path}")
        except ModelError as error:
            assert error.fix
    else:
        with pytest.raises(ModelError, match=word) as error:
            resolve(f"hf:{path}")
        assert error.value.where and error.value.fix
    assert not reached and dict(os.environ) == before


@pytest.mark.parametrize("name", ["resnet18", "vit_tiny_patch16_224", "hf-hub:someone/model", "hf_hub:x/y", "/etc/x"])
def test_timm(name, reached):
    timm = pytest.importorskip("timm")
    if name in timm.list_models():
        assert resolve(f"timm:{name}").model is not None
    else:
        with pytest.raises(ModelError, match="no such model"):
            resolve(f"timm:{name}")
    assert not reached


@pytest.mark.parametrize("name", ["squeezenet1_1", "fcn_resnet50", "no_such_model"])
def test_torchvision(name, reached):
    pytest.importorskip("torchvision")
    if name.startswith("no"):
        with pytest.raises(ModelError, match="no such model"):
            resolve(f"torchvision:{name}")
    else:
        assert resolve(f"torchvision:{name}").model is not None
    assert not reached


def test_connections_are_refused_here_and_nowhere_else():
    import threading

    plain = socket.getaddrinfo
    with offline():
        with pytest.raises(NetworkRefused):
            socket.getaddrinfo("example.org", 80)
        with socket.socket() as one, pytest.raises(NetworkRefused):
            one.connect(("127.0.0.1", 9))
        assert os.environ["HF_HUB_OFFLINE"] == "1"
        found = []
        thread = threading.Thread(target=lambda: found.append(socket.getaddrinfo("127.0.0.1", 80)))
        thread.start()
        thread.join()
        assert found
    assert socket.getaddrinfo is plain


def test_a_file_named_like_a_module_does_no_harm(tmp_path):
    """`random.py` beside the user's model, or as the user's model, takes nobody's place."""
    (tmp_path / "random.py").write_text("raise RuntimeError('this is not the random of Python')\n")
    (tmp_path / "json.py").write_text("import torch\n\ndef make():\n    return torch.nn.Linear(3, 2)\n")
    (tmp_path / "net.py").write_text("import random\nimport torch\n\ndef make():\n    random.random()\n"
                                     "    return torch.nn.Linear(3, 2)\n")  # fmt: skip
    assert resolve(f"{tmp_path / 'net.py'}:make").model.in_features == 3
    assert resolve(f"{tmp_path / 'json.py'}:make").model.in_features == 3
    import json as again
    import sys

    assert again is json and sys.modules["json"] is json and sys.modules["random"] is random
