"""What does not fit is named, with its value."""

import math
from dataclasses import replace

import pytest
import torch
from transformer_data import classification, next_token

from verify.train.transformer import (
    classifier_gradient,
    next_token_gradient,
    next_token_loss,
)


def test_wrong_labels_are_named():
    _, data = classification((2, 3, 4, 2))
    labels = data.labels.clone()
    labels[1, 2] = 0
    with pytest.raises(ValueError, match=r"`labels`.*got 0 at \(run, input\) \(1, 2\)"):
        replace(data, labels=labels)
    with pytest.raises(ValueError, match="`labels`"):
        replace(data, labels=torch.full((2, 3), math.nan))


@pytest.mark.parametrize("name", ["queries", "labels", "head", "mask"])
def test_shapes_of_the_classifier_are_checked(name):
    _, data = classification((2, 3, 4, 2))
    with pytest.raises(ValueError, match=f"`{name}`"):
        replace(data, **{name: getattr(data, name)[:1]})


@pytest.mark.parametrize("name", ["target", "frequency", "mask", "embedding"])
def test_shapes_of_sentences_are_checked(name):
    _, data = next_token((2, 3, 4, 2), own=True)
    with pytest.raises(ValueError, match=f"`{name}`"):
        replace(data, **{name: getattr(data, name)[:1]})


def test_inputs_of_another_kind_are_named():
    _, data = classification((2, 3, 4, 2))
    for inputs in (data.inputs[0], data.inputs.long()):
        with pytest.raises(ValueError, match="`inputs`"):
            replace(data, inputs=inputs)
    _, data = next_token((2, 3, 4, 2))
    for change in ({"tokens": data.tokens[0]}, {"embedding": data.embedding[:1]}):
        with pytest.raises(ValueError, match="`tokens`"):
            replace(data, **change)


@pytest.mark.parametrize("make", [classification, next_token])
def test_empty_masks_and_masks_of_another_type_are_named(make):
    _, data = make((2, 3, 4, 2))
    mask = data.mask.clone()
    mask[1, 0] = False
    with pytest.raises(ValueError, match=r"`mask` is all False.*\[1, 0\]"):
        replace(data, mask=mask)
    with pytest.raises(ValueError, match="`mask` must be bool"):
        replace(data, mask=mask.double())


@pytest.mark.parametrize("wrong", [-1, 5])
def test_ids_outside_the_vocabulary_are_named(wrong):
    _, data = next_token((2, 3, 4, 2), masked=False)
    for name in ("tokens", "target"):
        ids = getattr(data, name).clone()
        ids.view(-1)[-1] = wrong
        with pytest.raises(ValueError, match=f"`{name}`.*0..4, got {wrong}"):
            replace(data, **{name: ids})
        with pytest.raises(ValueError, match=f"`{name}`.*int32"):
            replace(data, **{name: getattr(data, name).int()})


@pytest.mark.parametrize("values", [(0.5, 0.4), (1.5, -0.5), (math.nan, 1.0)])
def test_frequencies_that_are_none_are_named(values):
    _, data = next_token((2, 2, 4, 2))
    frequency = data.frequency.clone()
    frequency[1] = torch.tensor(values)
    with pytest.raises(ValueError, match=r"`frequency`.*in run 1"):
        replace(data, frequency=frequency)


def test_parameters_that_do_not_fit_are_named():
    params, data = classification((2, 3, 4, 2))
    with pytest.raises(ValueError, match="`W`"):
        classifier_gradient({"W": params["W"][:1]}, data)
    params, data = next_token((2, 3, 4, 2))
    for function in (next_token_loss, next_token_gradient):
        with pytest.raises(ValueError, match=r"`fixed`.*W_kq"):
            function({"W_kq": params["W_kq"]}, data)
        for name in params:
            with pytest.raises(ValueError, match=f"`{name}`"):
                function({**params, name: params[name][..., :1]}, data)
