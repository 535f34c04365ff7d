"""The classes and functions of Keras that a stranger's config may name: a list of our own, whatever Keras has.

Not on it: layers that hold code or run other programs (Lambda, TorchModuleWrapper, FlaxLayer, JaxLayer, TFSMLayer),
everything that reads files or the network, and whatever a later version of Keras may bring.
"""

from __future__ import annotations


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


LAYERS = _names("""
Activation ActivityRegularization AdaptiveAveragePooling1D AdaptiveAveragePooling2D AdaptiveAveragePooling3D
AdaptiveMaxPooling1D AdaptiveMaxPooling2D AdaptiveMaxPooling3D Add AdditiveAttention AlphaDropout Attention AugMix
AutoContrast Average AveragePooling1D AveragePooling2D AveragePooling3D AvgPool1D AvgPool2D AvgPool3D
BatchNormalization Bidirectional CategoryEncoding CenterCrop Concatenate Conv1D Conv1DTranspose Conv2D Conv2DTranspose
Conv3D Conv3DTranspose ConvLSTM1D ConvLSTM2D ConvLSTM3D Convolution1D Convolution1DTranspose Convolution2D
Convolution2DTranspose Convolution3D Convolution3DTranspose Cropping1D Cropping2D Cropping3D CutMix Dense
DepthwiseConv1D DepthwiseConv2D Discretization Dot Dropout ELU EinsumDense Embedding Equalization Flatten GRU GRUCell
GaussianDropout GaussianNoise GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D GlobalAvgPool1D
GlobalAvgPool2D GlobalAvgPool3D GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D GlobalMaxPooling1D GlobalMaxPooling2D
GlobalMaxPooling3D GroupNormalization GroupQueryAttention GroupedQueryAttention HashedCrossing Hashing Identity
InputLayer IntegerLookup LSTM LSTMCell Layer LayerNormalization LeakyReLU Masking MaxNumBoundingBoxes MaxPool1D
MaxPool2D MaxPool3D MaxPooling1D MaxPooling2D MaxPooling3D Maximum MelSpectrogram Minimum MixUp MultiHeadAttention
Multiply Normalization PReLU Permute Pipeline RMSNormalization RNN RandAugment RandomBrightness
RandomColorDegeneration RandomColorJitter RandomContrast RandomCrop RandomElasticTransform RandomErasing RandomFlip
RandomGaussianBlur RandomGrayscale RandomHue RandomInvert RandomPerspective RandomPosterization RandomRotation
RandomSaturation RandomSharpness RandomShear RandomTranslation RandomZoom ReLU RepeatVector Rescaling Reshape Resizing
ReversibleEmbedding STFTSpectrogram SeparableConv1D SeparableConv2D SeparableConvolution1D SeparableConvolution2D
SimpleRNN SimpleRNNCell Softmax Solarization SpatialDropout1D SpatialDropout2D SpatialDropout3D SpectralNormalization
StackedRNNCells StringLookup Subtract TextVectorization TimeDistributed UnitNormalization UpSampling1D UpSampling2D
UpSampling3D ZeroPadding1D ZeroPadding2D ZeroPadding3D
""")

MODELS = frozenset({"Functional", "Model", "Sequential"})

INITIALIZERS = _names("""
Constant GlorotNormal GlorotUniform HeNormal HeUniform Identity IdentityInitializer LecunNormal LecunUniform Ones
Orthogonal OrthogonalInitializer RandomNormal RandomUniform STFT STFTInitializer TruncatedNormal VarianceScaling Zeros
""")

POLICIES = _names("""
DTypePolicy DTypePolicyMap FloatDTypePolicy Policy QuantizedDTypePolicy QuantizedFloat8DTypePolicy Int4DTypePolicy
""")

OPTIMIZERS = _names("""
Adadelta Adafactor Adagrad Adam AdamW Adamax Ftrl Lamb Lion LossScaleOptimizer Muon Nadam RMSprop SGD
""")
SCHEDULES = _names("""
CosineDecay CosineDecayRestarts ExponentialDecay InverseTimeDecay PiecewiseConstantDecay PolynomialDecay
""")

LOSSES = _names("""
BinaryCrossentropy BinaryFocalCrossentropy CTC CategoricalCrossentropy CategoricalFocalCrossentropy CategoricalHinge
Circle CosineSimilarity Dice Hinge Huber KLDivergence LogCosh MeanAbsoluteError MeanAbsolutePercentageError
MeanSquaredError MeanSquaredLogarithmicError Poisson SparseCategoricalCrossentropy SquaredHinge Tversky
""")

METRICS = _names("""
AUC Accuracy BinaryAccuracy BinaryCrossentropy BinaryIoU CategoricalAccuracy CategoricalCrossentropy CategoricalHinge
CosineSimilarity F1Score FBetaScore FalseNegatives FalsePositives Hinge IoU KLDivergence LogCoshError Mean
MeanAbsoluteError MeanAbsolutePercentageError MeanIoU MeanSquaredError MeanSquaredLogarithmicError OneHotIoU
OneHotMeanIoU Poisson Precision PrecisionAtRecall R2Score Recall RecallAtPrecision RootMeanSquaredError
SensitivityAtSpecificity SparseCategoricalAccuracy SparseCategoricalCrossentropy SparseTopKCategoricalAccuracy
SpecificityAtSensitivity SquaredHinge Sum TopKCategoricalAccuracy TrueNegatives TruePositives
""")

ACTIVATIONS = _names("""
celu elu exponential gelu glu hard_shrink hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu linear log_sigmoid
log_softmax mish relu relu6 selu sigmoid silu swish soft_shrink softmax softplus softsign sparse_plus sparse_sigmoid
sparsemax squareplus tanh tanh_shrink threshold
""")

LOSS_FUNCTIONS = _names("""
binary_accuracy binary_crossentropy binary_focal_crossentropy categorical_accuracy categorical_crossentropy
categorical_focal_crossentropy categorical_hinge circle cosine_similarity ctc dice hinge huber kl_divergence log_cosh
mean_absolute_error mean_absolute_percentage_error mean_squared_error mean_squared_logarithmic_error poisson
sparse_categorical_accuracy sparse_categorical_crossentropy sparse_top_k_categorical_accuracy squared_hinge
top_k_categorical_accuracy tversky
""")

CLASSES: dict[str, frozenset[str]] = {
    "keras.layers": LAYERS,
    "keras.models": MODELS,
    "keras.initializers": INITIALIZERS,
    "keras.regularizers": frozenset({"L1", "L1L2", "L2", "OrthogonalRegularizer"}),
    "keras.constraints": frozenset({"MaxNorm", "MinMaxNorm", "NonNeg", "UnitNorm"}),
    "keras.dtype_policies": POLICIES,
    "keras.mixed_precision": POLICIES,
    "keras.quantizers": frozenset({"AbsMaxQuantizer"}),
    "keras.optimizers": OPTIMIZERS,
    "keras.optimizers.schedules": SCHEDULES,
    "keras.losses": LOSSES,
    "keras.metrics": METRICS,
    "keras": MODELS | {"DTypePolicy", "FloatDTypePolicy"},
}
"""Public module -> its classes that a config may name."""

FUNCTIONS: dict[str, frozenset[str]] = {
    "keras.activations": ACTIVATIONS,
    "keras.losses": LOSS_FUNCTIONS,
    "keras.metrics": LOSS_FUNCTIONS,
}

OWN_MODULES: dict[str, tuple[str, frozenset[str]]] = {
    "keras.src.models.": ("keras.models", MODELS),
    "keras.src.layers.": ("keras.layers", LAYERS),
    "keras.src.initializers.": ("keras.initializers", INITIALIZERS),
    "keras.src.dtype_policies.": ("keras.dtype_policies", POLICIES),
    "keras.src.optimizers.": ("keras.optimizers", OPTIMIZERS),
    "keras.src.backend.torch.optimizers.": ("keras.optimizers", OPTIMIZERS),
    "keras.src.losses.": ("keras.losses", LOSSES),
    "keras.src.metrics.": ("keras.metrics", METRICS),
}
"""Where Keras keeps its classes, which some of its versions write instead of the public module."""

OPERATIONS = frozenset(f"keras.src.ops.{name}" for name in ("image", "linalg", "math", "nn", "numpy", "core", "einops"))
"""Modules of the operations of functional graphs (``keras.ops.relu(x)``)."""

LEGACY = frozenset().union(*CLASSES.values())
"""Configs of Keras 1 and 2 name no module."""

PLAIN = frozenset({"__tensor__", "__numpy__", "__bytes__", "__ellipsis__", "__slice__", "__keras_tensor__"})
"""Descriptions of values."""

DTYPES = _names("""
bool string float16 bfloat16 float32 float64 int4 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64
complex128 float8_e4m3fn float8_e5m2
""")
