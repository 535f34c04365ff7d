"""Keras JSON from strangers (row 11): one line per case, and what must happen: loaded, or a word of the error."""

import json
import sys

import keras
import pytest
from keras import layers
from keras.src.backend.common import global_state

import autoinit
import autoinit.keras
from autoinit.errors import ModelError
from autoinit.keras.allowed import CLASSES


def part(name, module="keras.layers", registered=None, /, **config):
    return {"class_name": name, "module": module, "registered_name": registered, "config": config}


def model(*parts, **more):
    """A Sequential model with these layers behind its input."""
    first = {"class_name": "InputLayer", "module": "keras.layers", "config": {"batch_shape": [None, 8]},
             "registered_name": None}  # fmt: skip
    return {"class_name": "Sequential", "module": "keras", "registered_name": None,
            "config": {"name": "s", "layers": [first, *parts]}, **more}  # fmt: skip


def dense(**config):
    return part("Dense", **{"units": 4, **config})


def function(name, module="builtins", registered="function"):
    return {"class_name": "function", "module": module, "config": name, "registered_name": registered}


def deep(levels):
    item = dense()
    for _ in range(levels):
        item = {"class_name": "TimeDistributed", "module": "keras.layers", "config": {"layer": item}}
    return model(item)


def text_deep(levels):
    return '{"class_name": ' + "[" * levels + "]" * levels + "}"


CODE = {"class_name": "__lambda__", "config": {"value": "4wEAAAAA", "defaults": None, "closure": None}}
RUN = {"module": {"class_name": "__bytes__", "config": {"value": "gASV"}}}

REFUSED = {
    "lambda": (model(part("Lambda", function=CODE)), "Python code"),
    "lambda, legacy code": (model(part("Lambda", function=["4wEAAAAA", None, None], function_type="lambda")), "code"),
    "lambda, function of os": (model(part("Lambda", function=function("system", "os"))), "Python code"),
    "lambda, function by text": (model(part("Lambda", function="system", function_type="function")), "Python code"),
    "lambda without module": (model({"class_name": "Lambda", "config": {"function": CODE}}), "Python code"),
    "lambda in output_shape": (model(part("Lambda", function=function("relu", "keras.activations"), output_shape=CODE)),
                               "Python code"),
    "lambda in mask": (model(part("Lambda", function="relu", mask=CODE)), "Python code"),
    "lambda as activation": (model(dense(activation=CODE)), "Python code"),
    "lambda as initializer": (model(dense(kernel_initializer=CODE)), "Python code"),
    "lambda as regularizer": (model(dense(kernel_regularizer=CODE)), "Python code"),
    "lambda in a list": (model(dense(extra=[1, [CODE]])), "Python code"),
    "lambda under a wrong module": (model(part("Lambda", "keras", function=CODE)), "Python code"),
    "lambda under another name": (model(part("Dense", "keras.layers", "Lambda", units=2, function=CODE)), ""),
    "torch module": (model(part("TorchModuleWrapper", **RUN)), "not on the list"),
    "torch module, inner module": (model(part("TorchModuleWrapper", "keras.src.utils.torch_utils", **RUN)), "list"),
    "torch module, no module": (model({"class_name": "TorchModuleWrapper", "config": RUN}), "not on the list"),
    "torch module by registered name": (model(part("Dense", "keras.layers", "TorchModuleWrapper", units=4)), "list"),
    "flax": (model(part("FlaxLayer", module=function("run", "os"))), ""),
    "jax": (model(part("JaxLayer", call_fn=function("run", "os"))), ""),
    "saved model": (model(part("TFSMLayer", filepath="/tmp/evil")), "not on the list"),
    "saved model, inner module": (model(part("TFSMLayer", "keras.src.export.tfsm_layer", filepath="x")), "list"),
    "feature space": (model(part("FeatureSpace", "keras.utils", features={})), "not on the list"),
    "wrapper": (model(part("Wrapper", layer=dense())), "not on the list"),
    "TensorFlow op": (model(part("TFOpLambda", function="io.write_file")), "not on the list"),
    "os.system": (model(part("system", "os")), "module 'os'"),
    "subprocess": (model(part("Popen", "subprocess", args=["touch", "x"])), "module 'subprocess'"),
    "builtins": (model(part("eval", "builtins")), "module 'builtins'"),
    "import of a module": (model(part("Dense", "antigravity", units=4)), "module 'antigravity'"),
    "a module beside Keras": (model(part("Dense", "keras_evil.layers", units=4)), "module 'keras_evil.layers'"),
    "get_file": (model(part("get_file", "keras.utils", origin="http://example.org")), "module 'keras.utils'"),
    "load_model": (model(part("load_model", "keras.saving", filepath="x.keras")), "module 'keras.saving'"),
    "inner function of Keras": (model(part("func_load", "keras.src.utils.python_utils")), "python_utils"),
    "operation from elsewhere": (model(part("os", "keras.src.ops.numpy")), "not on the list"),
    "no operation": (model(part("Operation", "keras.src.ops.numpy")), "not on the list"),
    "model by a wrong path": (model(part("Functional", "keras.src.models.evil")), "not on the list"),
    "callback": (model(part("LambdaCallback", "keras.callbacks")), "not on the list"),
    "function of os as activation": (model(dense(activation=function("system", "os"))), "module 'os'"),
    "builtin as activation": (model(dense(activation=function("eval"))), "module 'builtins'"),
    "function of Keras that is none": (model(dense(activation=function("get_file", "keras.utils"))), "keras.utils"),
    "activations.get": (model(dense(activation=function("get", "keras.activations"))), "not on the list"),
    "function by another name": (model(dense(activation=function("relu", "keras.activations", "os>system"))), "list"),
    "type spec": (model(dense(extra={"class_name": "__typespec__", "spec_name": "x", "module": "os", "config": []})),
                  "not on the list"),
    "unknown description": (model(dense(extra={"class_name": "__pickle__", "config": "gASV"})), "not on the list"),
    "array of objects": (model(dense(x={"class_name": "__numpy__", "config": {"value": [1], "dtype": "O"}})), "dtype"),
    "loss by module": (model(dense(), compile_config={"loss": function("system", "os")}), "module 'os'"),
    "optimizer by module": (model(dense(), compile_config={"optimizer": part("Adam", "evil")}), "module 'evil'"),
    "class name in build_config": (model({**dense(), "build_config": part("system", "os")}), "module 'os'"),
    "class name in inbound nodes": (model({**dense(), "inbound_nodes": [[part("system", "os")]]}), "module 'os'"),
    "class name is a list": (model({"class_name": ["os"], "config": {}}), "has to be a text"),
    "module is a list": (model({"class_name": "Dense", "module": ["keras.layers"], "config": {}}), "has to be a text"),
    "registered name is a dict": (model(part("Dense", "keras.layers", {}, units=4)), "has to be a text"),
    "vocabulary from a file": (model(part("StringLookup", vocabulary="/etc/passwd")), "read a file"),
    "integers from a file": (model(part("IntegerLookup", vocabulary="gs://x/y")), "read a file"),
    "texts from a file": (model(part("TextVectorization", vocabulary="/etc/passwd")), "read a file"),
    "weights from a file": (model(part("StringLookup", vocabulary=["a"], idf_weights="/etc/passwd")), "read a file"),
    "unknown layer": (model(part("Evil")), "custom_objects"),
    "unknown layer, legacy": (model({"class_name": "Evil", "config": {}}), "custom_objects"),
    "Keras 1, list of layers": ({"class_name": "Sequential", "config": [{"class_name": "Evil", "config": {}}]}, "list"),
    "Keras 1, Merge": ({"class_name": "Sequential", "config": [{"class_name": "Merge", "config": {}}]}, "list"),
    "config without class": ({"layers": [part("system", "os")]}, "module 'os'"),
    "terminal codes in names": (model(part("\x1b[2J\u202eevil")), r"\\x1b\[2J\\u202eevil"),
    "10**12 units": (model(dense(units=10**12)), "too large"),
    "-10**12 units": (model(dense(units=-(10**12))), "too large"),
    "4,000 digits": (model(dense(units=10**4000)), "about 4000 digits"),
    "5,000 digits": ('{"class_name": "Sequential", "config": ' + "9" * 5000 + "}", "not JSON"),
    "input of 10**15": ({"layers": [part("InputLayer", batch_shape=[1, 10**15])]}, "too large"),
    "50,000 brackets": (text_deep(50_000), "deep"),
    "600 models in each other": (deep(300), "levels deep"),
    "a config that holds itself": (None, "levels deep"),
    "10**6 layers": (model(*[dense()] * 400_000), "too many"),
    "70 million characters": ('{"class_name": "' + "x" * 70_000_000 + '"}', "too long"),
    "a key that is no text": (model(dense(extra={1: 2})), "keys"),
    "half a text": ('{"class_name": "Sequential", "config"', "not JSON"),
    "no UTF-8": (b'{"class_name": "\xff\xfe"}', "not JSON|not a model"),
    "not a model": (part("Zeros", "keras.initializers"), "not a model"),
}  # fmt: skip
CIRCLE = model(dense())
CIRCLE["config"]["layers"].append(CIRCLE)
REFUSED["a config that holds itself"] = (CIRCLE, "levels deep")

TAKEN = {
    "dense": model(dense()),
    "legacy names": {"class_name": "Sequential", "config": {"name": "s", "layers": [
        {"class_name": "InputLayer", "config": {"batch_input_shape": [None, 8], "dtype": "float32", "name": "i"}},
        {"class_name": "Dense", "config": {"units": 4, "activation": "relu", "name": "d"}}]}},
    "activation by name": model(dense(activation="gelu")),
    "activation by module": model(dense(activation=function("relu", "keras.activations", "relu"))),
    "initializers and regularizers": model(dense(kernel_initializer=part("HeNormal", "keras.initializers"),
                                                 kernel_regularizer=part("L2", "keras.regularizers", l2=0.1),
                                                 kernel_constraint=part("NonNeg", "keras.constraints"))),
    "policy": model(dense(dtype=part("DTypePolicy", "keras", name="mixed_bfloat16"))),
    "inner module of Keras": model(part("Dense", "keras.src.layers.core.dense", units=4)),
    "our own": model(dense(kernel_initializer=part("Initializer", "autoinit.keras.initializer",
                                                   "autoinit>Initializer", variance=2.0))),
    "a large seed": model(dense(kernel_initializer=part("HeNormal", "keras.initializers", seed=2**30))),
}  # fmt: skip


@pytest.mark.one_backend
@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "globally unsafe"])
@pytest.mark.parametrize("case", sorted(REFUSED))
def test_refused(case, unsafe):
    config, word = REFUSED[case]
    before, modules = global_state.get_global_attribute("safe_mode_saving"), set(sys.modules)
    if unsafe:
        keras.config.enable_unsafe_deserialization()
    try:
        for entry in (autoinit.plan, autoinit.keras.load):
            with pytest.raises(ModelError, match=word) as error:
                entry(config)
            assert error.value.where and error.value.received and error.value.fix
            assert "\x1b" not in str(error.value) and "\u202e" not in str(error.value)
            assert len(str(error.value)) < 2000
    finally:
        global_state.set_global_attribute("safe_mode_saving", before)
    assert not {"antigravity", "keras_evil"} & (set(sys.modules) - modules)


@pytest.mark.parametrize("case", sorted(TAKEN))
def test_taken(case):
    text = json.dumps(TAKEN[case])
    assert autoinit.plan(text).weight_layers
    assert autoinit.keras.load(text).weights
    assert autoinit.keras.load(TAKEN[case]).weights and json.dumps(TAKEN[case]) == text


def test_weights_that_do_not_fit_are_not_made():
    """2 * 10**15 bytes: a plan needs none of them."""
    config = model(dense(units=10**8), part("Dense", units=5 * 10**6))
    assert autoinit.plan(config).weight_layers
    with pytest.raises(ModelError, match="GiB"):
        autoinit.keras.load(config)


def test_a_given_class_does_not_import_the_module_that_the_config_names():
    class Given(layers.Layer):
        def call(self, x):
            return x

    config = model(part("Given", "antigravity", "something else"))
    made = autoinit.keras.load(config, custom_objects={"Given": Given})
    assert isinstance(made.layers[0], Given) and "antigravity" not in sys.modules


def test_a_lambda_may_name_a_function_that_the_user_gave():
    config = model(part("Lambda", function=function("double"), output_shape=[8]), dense())
    with pytest.raises(ModelError, match="Python code"):
        autoinit.keras.load(config)
    made = autoinit.keras.load(config, custom_objects={"double": lambda x: 2 * x})
    assert autoinit.plan(made).weight_layers


def test_the_list_names_what_keras_has():
    """A name on the list that no version has would be a slip of the pen; one that is missing here is newer or older."""
    missing = {f"{m}.{n}" for m, names in CLASSES.items() if m != "keras.mixed_precision" for n in names
               if not hasattr(__import__(m, fromlist=["x"]), n)}  # fmt: skip
    known = {"keras.models.Functional", "keras.Functional", "keras.dtype_policies.Policy",
             "keras.layers.GroupedQueryAttention"}  # fmt: skip
    assert missing <= known or keras.__version__ != "3.15.1"


@pytest.mark.parametrize("name", ["Lambda", "TorchModuleWrapper", "FlaxLayer", "JaxLayer", "TFSMLayer", "Wrapper"])
def test_layers_that_hold_code_are_not_on_the_list(name):
    assert not any(name in names for names in CLASSES.values())
