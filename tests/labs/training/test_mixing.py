from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from autoinit.labs.training import mixing


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_is_that_of_soft_labels(smoothing):
    torch.manual_seed(0)
    outputs, labels, others = torch.randn(6, 4), torch.randint(4, (6,)), torch.randint(4, (6,))
    soft = 0.3 * functional.one_hot(labels, 4) + 0.7 * functional.one_hot(others, 4)
    expected = functional.cross_entropy(outputs, soft * (1 - smoothing) + smoothing / 4)
    loss = mixing.cross_entropy(outputs, mixing.Targets(labels, others, 0.3), smoothing)
    assert float(loss) == pytest.approx(float(expected), rel=1e-6)


def test_mixup_mixes_images_as_labels():
    """Image i is constant i, so that a mixed image tells its parents and their shares."""
    images = torch.arange(8.0).view(8, 1, 1, 1).expand(8, 3, 4, 4)
    labels = torch.arange(8)
    mixed, targets = mixing.mixup(images, labels, 0.5, rng())
    assert 0 < targets.share < 1
    assert torch.equal(targets.labels, labels)
    assert sorted(targets.others.tolist()) == list(range(8))
    expected = targets.share * labels + (1 - targets.share) * targets.others
    assert torch.allclose(mixed, expected.view(8, 1, 1, 1).expand_as(mixed))


def test_shares_of_mixup_follow_the_beta_distribution():
    images, labels = torch.zeros(2, 1, 2, 2), torch.arange(2)
    source = rng()
    shares = np.array([mixing.mixup(images, labels, 0.1, source)[1].share for _ in range(2000)])
    variance = 1 / 4 / (2 * 0.1 + 1)  # of Beta(α, α)
    assert shares.mean() == pytest.approx(0.5, abs=5 * (variance / 2000) ** 0.5)
    # (x − ½)² lies in [0, ¼], so its mean over 2000 draws is off by less than 5 · (1/8) / sqrt(2000).
    assert shares.var() == pytest.approx(variance, abs=5 / 8 / 2000**0.5)


def test_cutmix_replaces_a_rectangle_of_the_share_that_it_says():
    images = torch.arange(8.0).view(8, 1, 1, 1).expand(8, 1, 10, 12)
    labels, source, shares = torch.arange(8), rng(), []
    for _ in range(60):
        mixed, targets = mixing.cutmix(images, labels, 1.0, source)
        for i in range(8):
            foreign = mixed[i, 0] != i
            if int(targets.others[i]) != i:
                assert float((~foreign).float().mean()) == pytest.approx(targets.share)
                assert (mixed[i, 0][foreign] == targets.others[i]).all()
                rows, columns = foreign.any(1), foreign.any(0)
                assert torch.equal(foreign, rows[:, None] & columns[None, :])
            else:
                assert not foreign.any()
        shares.append(targets.share)
    assert min(shares) < 0.3 and max(shares) > 0.95
    assert (images[3] == 3).all()


def test_a_coin_chooses_if_both_are_on():
    images, labels, source = torch.arange(4.0).view(4, 1, 1, 1).expand(4, 1, 8, 8), torch.arange(4), rng()
    kinds = {"mixup": 0, "cutmix": 0}
    for _ in range(400):
        mixed, _ = mixing.mix(images, labels, 1.0, 1.0, source)
        kinds["mixup" if (mixed != mixed.round()).any() else "cutmix"] += 1
    # A share that leaves all pixels whole is rare; allow it on top of five standard deviations of the coin.
    assert kinds["mixup"] == pytest.approx(200, abs=5 * 10 + 20)
    assert not any((mixing.mix(images, labels, 0.0, 1.0, source)[0] % 1).any() for _ in range(20))
    same, targets = mixing.mix(images, labels, 0.0, 0.0, source)
    assert same is images and targets.share == 1
    assert all((mixing.mix(images, labels, 1.0, 0.0, source)[1].share < 1) for _ in range(20))
