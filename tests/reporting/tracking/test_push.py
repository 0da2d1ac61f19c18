"""Pushing to stores that refuse, and, slowly, to real ones."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest

from qeval.errors import UsageError
from qeval.reporting.files import write_all
from qeval.reporting.tracking import apart, push
from qeval.reporting.tracking.store import failures, store
from tests.reporting.fake import full_report
from tests.reporting.tracking.conftest import SECRET, secret_record, secret_report, write_record
from tests.reporting.tracking.mlflow_server import free_port, store_of


@pytest.fixture
def stored_here(monkeypatch):
    """Store in the test's own process, whose MLflow a test can break."""

    def here(job, _):
        try:
            return store(*job)
        except failures() as error:
            raise apart.StoreFailed(str(error)) from error

    monkeypatch.setattr(apart, "store_apart", here)


def client_of(uri):
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=uri)


def all_runs(uri, experiment="nightly"):
    client = client_of(uri)
    found = client.get_experiment_by_name(experiment)
    return client.search_runs([found.experiment_id]) if found else []


def test_a_server_that_is_down_costs_one_warning_and_leaves_the_results(run_folder):
    before = sorted(run_folder.rglob("*"))
    result = push(run_folder, f"http://127.0.0.1:{free_port()}", "nightly", "hashes")
    assert (result.pushed, result.run_id, result.url) == (False, None, None)
    assert "\n" not in str(result.warning)
    assert "qeval track push" in str(result.warning)
    assert sorted(run_folder.rglob("*")) == before


def test_a_file_store_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(UsageError, match="sqlite:///"):
        push(tmp_path / "missing", "file:./mlruns", "nightly", "hashes")


def test_a_folder_without_a_report_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match=r"verdict\.json is missing"):
        push(tmp_path, None, "nightly", "hashes")


def test_a_refused_push_does_not_import_mlflow(run_folder):
    code = (
        "import sys; from pathlib import Path; from qeval.reporting.tracking import push\n"
        f"push(Path({str(run_folder)!r}), 'http://127.0.0.1:{free_port()}', 'x', 'hashes')\n"
        "print([name for name in ('mlflow', 'torch', 'pandas') if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


@pytest.mark.slow
def test_a_run_lands_in_its_own_store_with_a_nested_run_for_each_variant(run_folder):
    result = push(run_folder, None, "nightly", "hashes")
    assert result.pushed, result.warning
    runs = all_runs(store_of(run_folder))
    parent = next(run for run in runs if run.info.run_id == result.run_id)
    children = [run for run in runs if run.data.tags.get("mlflow.parentRunId") == result.run_id]
    assert len(runs) == 1 + len(children) == 1 + len(secret_report().variants)
    assert {run.info.status for run in runs} == {"FINISHED"}
    assert parent.data.tags["qeval.decision"] == "not_comparable"
    nf4 = next(run for run in children if run.data.tags["mlflow.runName"] == "nf4")
    assert nf4.data.metrics["quality/longdoc/depth:0.9/pass_rate"] == 0.5
    baseline = next(run for run in children if run.data.tags["qeval.role"] == "baseline")
    assert f"compare/{baseline.info.run_id[:8]}/pass/all/all/diff" in nf4.data.metrics


@pytest.mark.slow
def test_artifacts_lie_in_the_run_folder_with_texts_and_the_table_can_be_read(run_folder, monkeypatch):
    result = push(run_folder, None, "nightly", "hashes")
    reports = list((run_folder / "mlartifacts").rglob("report.html"))
    assert len(reports) == 1
    assert "Quentin" in reports[0].read_text(encoding="utf-8")
    import mlflow

    uri = store_of(run_folder)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    nf4 = next(run.info for run in all_runs(uri) if run.data.tags["mlflow.runName"] == "nf4")
    table = mlflow.MlflowClient(uri).load_table(nf4.experiment_id, "cases.json", run_ids=[nf4.run_id])
    assert len(table) == len(secret_record("nf4").outcomes)
    assert SECRET in "".join(table["answer"])
    assert result.warning is None


@pytest.mark.slow
def test_pushing_twice_changes_nothing(run_folder):
    first = push(run_folder, None, "nightly", "hashes")
    files = {path: path.stat().st_mtime_ns for path in (run_folder / "mlartifacts").rglob("*") if path.is_file()}
    second = push(run_folder, None, "nightly", "hashes")
    assert second == first
    assert len(all_runs(store_of(run_folder))) == 1 + len(secret_report().variants)
    assert {
        path: path.stat().st_mtime_ns for path in (run_folder / "mlartifacts").rglob("*") if path.is_file()
    } == files


@pytest.mark.slow
@pytest.mark.parametrize("steps", [1, 4])
def test_a_push_that_died_half_way_is_completed_without_doubling(run_folder, monkeypatch, stored_here, steps):
    from mlflow import MlflowClient

    left = iter(range(steps))
    whole = MlflowClient.log_artifacts

    def dies(self, *args, **kwargs):
        if next(left, None) is None:
            raise ConnectionError("the server went away")
        return whole(self, *args, **kwargs)

    monkeypatch.setattr(MlflowClient, "log_artifacts", dies)
    broken = push(run_folder, None, "nightly", "hashes")
    monkeypatch.setattr(MlflowClient, "log_artifacts", whole)
    mended = push(run_folder, None, "nightly", "hashes")
    assert mended.pushed
    assert not broken.pushed
    runs = all_runs(store_of(run_folder))
    assert len(runs) == 1 + len(secret_report().variants)
    assert {run.info.status for run in runs} == {"FINISHED"}
    history = client_of(store_of(run_folder)).get_metric_history(runs[-1].info.run_id, "cases/total")
    assert len(history) == 1


@pytest.mark.slow
def test_an_unfinished_run_with_another_parameter_is_replaced(run_folder, monkeypatch, stored_here):
    from mlflow import MlflowClient

    whole = MlflowClient.log_artifacts
    monkeypatch.setattr(MlflowClient, "log_artifacts", lambda *args, **kwargs: (_ for _ in ()).throw(OSError("gone")))
    push(run_folder, None, "nightly", "hashes")
    monkeypatch.setattr(MlflowClient, "log_artifacts", whole)
    from qeval.reporting.tracking import content

    monkeypatch.setattr(content, "_PARAM_LIMIT", 3)
    assert push(run_folder, None, "nightly", "hashes").pushed
    assert len(all_runs(store_of(run_folder))) == 1 + len(secret_report().variants)


@pytest.mark.slow
def test_a_deleted_experiment_is_an_error_and_nothing_lands_in_default(run_folder):
    push(run_folder, None, "nightly", "hashes")
    uri = store_of(run_folder)
    client = client_of(uri)
    client.delete_experiment(client.get_experiment_by_name("nightly").experiment_id)
    with pytest.raises(UsageError, match="deleted"):
        push(run_folder, None, "nightly", "hashes")
    assert client.search_runs(["0"]) == []


def push_one(folder, uri, barrier, results):
    barrier.wait()
    result = push(folder, uri, "shared", "hashes")
    results.put((result.pushed, result.warning))


@pytest.mark.slow
def test_four_processes_that_create_one_experiment_all_land_in_it(tmp_path):
    uri = store_of(tmp_path)
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(4), context.Queue()
    folders = [tmp_path / f"run{i}" for i in range(4)]
    for i, folder in enumerate(folders):
        write_all(full_report(model=f"model-{i}"), folder)
    jobs = [context.Process(target=push_one, args=(folder, uri, barrier, results)) for folder in folders]
    for job in jobs:
        job.start()
    ended = [results.get(timeout=300) for _ in jobs]
    for job in jobs:
        job.join()
    assert ended == [(True, None)] * 4
    assert len(all_runs(uri, "shared")) == 4 * (1 + len(full_report().variants))
    assert client_of(uri).search_runs(["0"]) == []


@pytest.mark.slow
def test_a_server_gets_hashes_and_grades_and_not_a_word_of_text(run_folder, server):
    uri, folder = server
    result = push(run_folder, uri, "hashed", "hashes")
    assert result.pushed, result.warning
    assert str(result.url).startswith(f"{uri}/#/experiments/")
    stored = [path for path in folder.rglob("*") if path.is_file()]
    assert any(path.name == "report.html" for path in stored)
    assert not [path for path in stored if b"Quentin" in path.read_bytes()]
    assert len(all_runs(uri, "hashed")) == 1 + len(secret_report().variants)
    assert push(run_folder, uri, "hashed", "hashes") == result


@pytest.mark.slow
def test_full_privacy_adds_the_texts_to_the_same_run_and_hashes_say_that_they_stay(run_folder, server):
    uri, _ = server
    hashed = push(run_folder, uri, "both", "hashes")
    full = push(run_folder, uri, "both", "full")
    assert full.run_id == hashed.run_id
    assert len(all_runs(uri, "both")) == 1 + len(secret_report().variants)
    page = Path(client_of(uri).download_artifacts(full.run_id, "report/report.html")).read_text(encoding="utf-8")
    assert "Quentin" in page
    again = push(run_folder, uri, "both", "hashes")
    assert (again.pushed, again.run_id) == (True, full.run_id)
    assert "texts" in str(again.warning)


@pytest.mark.slow
def test_nothing_is_printed_by_the_libraries(run_folder):
    code = (
        "from pathlib import Path; from qeval.reporting.tracking import push\n"
        f"push(Path({str(run_folder)!r}), None, 'x', 'hashes')"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("", "")


@pytest.mark.slow
def test_a_variant_name_that_no_file_system_likes_is_tracked(tmp_path):
    folder = tmp_path / "run"
    write_all(full_report(), folder)
    write_record(folder, secret_record("endpoint+temperature=0.7+model=org/some-very-long-name-of-a-model"))
    assert push(folder, None, "nightly", "hashes").pushed
    tables = list((folder / "mlartifacts").rglob("cases.json"))
    assert [len(json.loads(table.read_text())["data"]) for table in tables] == [5]
