"""`qeval compare` on a record and itself: a typo in CI must not pass every night."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from qeval.record import load_record, save_record
from tests.cli.job_files import qeval_entry


@pytest.fixture
def records(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished / "out/records", tmp_path / "records")
    return tmp_path / "records"


@pytest.mark.parametrize("spelling", ["{}", "{}/", "{}/../fp32", "{}/."])
def test_a_record_is_not_compared_with_itself(records: Path, spelling: str) -> None:
    done = qeval_entry("compare", records / "fp32", spelling.format(records / "fp32"))
    assert done.returncode == 2
    assert "the same record as the baseline" in done.stderr


def test_a_link_to_the_baseline_is_the_baseline(records: Path) -> None:
    (records / "nf4").symlink_to(records / "fp32")
    assert qeval_entry("compare", records / "fp32", records / "nf4").returncode == 2


def test_a_copy_of_the_baseline_is_not_comparable(records: Path) -> None:
    shutil.copytree(records / "fp32", records / "nf4")
    done = qeval_entry("compare", records / "fp32", records / "nf4")
    assert done.returncode == 4
    assert "the candidate's record is a copy of the baseline's" in " ".join(done.stdout.split())


def test_a_copy_beside_a_candidate_is_the_worst_of_the_two(records: Path) -> None:
    shutil.copytree(records / "fp32", records / "copy")
    assert qeval_entry("compare", records / "fp32", records / "int8", records / "copy").returncode == 4


def test_two_runs_of_one_variant_must_be_meant(records: Path) -> None:
    record = load_record(records / "fp32")
    later = record.header.measurements.model_copy(update={"started_at": "2031-01-01T00:00:00+00:00"})
    save_record(records / "again", record._replace(header=record.header.model_copy(update={"measurements": later})))
    refused = qeval_entry("compare", records / "fp32", records / "again")
    assert refused.returncode == 4
    assert "both records are of the variant fp32" in " ".join(refused.stdout.split())
    meant = qeval_entry("compare", records / "fp32", records / "again", "--allow-same", "--json")
    assert meant.returncode == qeval_entry("compare", records / "fp32", records / "int8").returncode


def test_another_variant_that_says_the_same_is_compared(records: Path) -> None:
    assert qeval_entry("compare", records / "fp32", records / "int8").returncode not in {2, 4}
