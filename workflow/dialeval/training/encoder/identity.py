"""What the training of an encoder, and all that it gives, is known by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialeval.training.checkpoints import training_fingerprint, versions_of

if TYPE_CHECKING:
    from dialeval.config.models import EncoderModel
    from dialeval.training.encoder.examples import ExampleSet

DECIDES = ("model", "revision", "max_tokens", "score", "train")
"""Fields of a model that decide what its training gives."""
LIBRARIES = ("torch", "transformers", "accelerate", "tokenizers")


def encoder_fingerprint(
    name: str, model: EncoderModel, weights: str, examples: ExampleSet, random_seed: int, code: str
) -> str:
    """Returns the fingerprint of a training: its checkpoints are of no other.

    Args:
        name: the judge's.
        model: its configuration.
        weights: commit or digest of the encoder that it begins with.
        examples: the set; what is held back counts too, since its scores are among what a training gives.
        random_seed: of the run.
        code: fingerprint of the stage's code.
    """
    fields = model.model_dump(mode="json")
    return training_fingerprint(
        name=name,
        examples=examples.digest(),
        base=weights or model.revision,
        model={field: fields[field] for field in DECIDES},
        random_seed=random_seed,
        versions=versions_of(*LIBRARIES),
        code=code,
    )
