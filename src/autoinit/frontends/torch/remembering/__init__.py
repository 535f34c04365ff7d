"""Models without memory: built on the meta device, with a log of what their constructors wrote.

`log` records the ops, `story` works out from them what a tensor would hold, `built` knows the stories of a model's
parameters and buffers: from the log if the model was built under `autoinit.meta()`, else from its modules' own
``reset_parameters``.
"""
