"""A folder of a bucket is staged completely or not at all, whatever the store and the network do."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import signal
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from awscrt import checksums

from function.hydrate import bucket as buckets
from function.hydrate.bucket import Bucket, Keys
from function.hydrate.selection import Patterns
from function.hydrate.stage import MARKER, stage
from function.vocabulary.exit_codes import ExitCode
from tests.support.s3_standin import BUCKET, Fault, Store, serving

KEYS = Keys("AKIAEXAMPLE", "s3cretkey")
SHARD, OTHER = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
WEIGHTS = {
    "config.json": b'{"model_type": "qwen3"}',
    "tokenizer/vocab.json": b"{}",
    "empty.txt": b"",
    SHARD: bytes(range(256)) * 4000,
    OTHER: b"\1" * 300_000,
}
PREFIX = "models/qwen3"


@pytest.fixture
def store() -> Iterator[Store]:
    objects = {f"{PREFIX}/{path}": content for path, content in WEIGHTS.items()}
    beside = {f"{PREFIX}/": b"", f"{PREFIX}-32b/config.json": b"another", "notes.txt": b"no"}
    with serving(Store({**objects, **beside}, access_key=KEYS.access_key)) as served:
        yield served


def key(path: str) -> str:
    return f"{PREFIX}/{path}"


def run(
    store: Store,
    to: Path,
    *,
    prefix: str = PREFIX,
    keys: Keys | None = KEYS,
    name: str = BUCKET,
    **patterns: tuple[str],
) -> ExitCode:
    return ended(store, to, prefix=prefix, keys=keys, name=name, **patterns)[0]


def ended(
    store: Store,
    to: Path,
    *,
    prefix: str = PREFIX,
    keys: Keys | None = KEYS,
    name: str = BUCKET,
    **patterns: tuple[str],
) -> tuple[ExitCode, str]:
    origin = Bucket(name, prefix, keys=keys, endpoint=store.url)
    result = stage(origin, to=to, say=lambda _: None, patterns=Patterns(**patterns))
    return result.exit_code, result.message


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.name != MARKER}


@pytest.mark.parametrize("prefix", [PREFIX, f"{PREFIX}/"])
def test_everything_below_the_prefix_is_staged_and_nothing_beside_it(store: Store, tmp_path: Path, prefix: str) -> None:
    assert run(store, tmp_path / "to", prefix=prefix) is ExitCode.STAGED

    assert contents(tmp_path / "to") == WEIGHTS
    marker = json.loads((tmp_path / "to" / MARKER).read_text())
    assert (marker["from"], marker["files"]) == (f"s3://{BUCKET}/{PREFIX}/", 5)


def test_without_a_prefix_the_whole_bucket_is_staged(store: Store, tmp_path: Path) -> None:
    assert run(store, tmp_path / "to", prefix="") is ExitCode.STAGED

    assert contents(tmp_path / "to") == {k: v for k, v in store.objects.items() if not k.endswith("/")}


@pytest.mark.slow
def test_a_listing_of_many_pages_is_read_to_its_end(store: Store, tmp_path: Path) -> None:
    store.page = 2

    assert run(store, tmp_path / "to") is ExitCode.STAGED
    assert contents(tmp_path / "to") == WEIGHTS
    assert store.gets["list"] == 3


def test_names_with_spaces_and_letters_of_other_scripts_are_files_like_others(tmp_path: Path) -> None:
    objects = {"a b+c.bin": b"1", "模型/weights é.bin": b"2"}
    with serving(Store(dict(objects))) as store:
        assert run(store, tmp_path / "to", prefix="", keys=None) is ExitCode.STAGED
    assert contents(tmp_path / "to") == objects


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "fault", "want"),
    [
        ("list", Fault(404, "NoSuchBucket"), ExitCode.NOT_FOUND),
        ("list", Fault(301, "PermanentRedirect"), ExitCode.NOT_FOUND),
        ("list", Fault(403, "AccessDenied"), ExitCode.GATED),
        ("list", Fault(403, "SignatureDoesNotMatch"), ExitCode.GATED),
        ("list", Fault(400, "ExpiredToken"), ExitCode.GATED),
        ("list", Fault(400, "InvalidArgument"), ExitCode.RETRY),
        (key("config.json"), Fault(403, "AccessDenied"), ExitCode.GATED),
        (key("config.json"), Fault(404, "NoSuchKey"), ExitCode.RETRY),
        (key("config.json"), Fault(412, "PreconditionFailed"), ExitCode.RETRY),
        (f"head {key('config.json')}", Fault(403, ""), ExitCode.GATED),
        (f"head {key('config.json')}", Fault(404, ""), ExitCode.RETRY),
    ],
)
def test_what_the_store_refuses_ends_with_its_own_code(
    store: Store, tmp_path: Path, what: str, fault: Fault, want: ExitCode
) -> None:
    store.faults = {what: [fault]}

    assert run(store, tmp_path / "to") is want
    assert not (tmp_path / "to").exists()


def test_a_bucket_that_is_not_there_is_told(store: Store, tmp_path: Path) -> None:
    code, message = ended(store, tmp_path / "to", name="others")

    assert code is ExitCode.NOT_FOUND
    assert message.startswith("there is no such bucket at the endpoint and in the region: ")


def test_nothing_below_a_prefix_is_told(store: Store, tmp_path: Path) -> None:
    got = ended(store, tmp_path / "to", prefix="models/qwen4")

    assert got == (ExitCode.NOTHING, "the bucket has no object under the prefix")


@pytest.mark.slow
def test_a_store_that_stumbles_is_asked_again(store: Store, tmp_path: Path) -> None:
    store.faults = {"list": [Fault(503, "SlowDown")], key(SHARD): [Fault(500)]}

    assert run(store, tmp_path / "to") is ExitCode.STAGED
    assert contents(tmp_path / "to") == WEIGHTS


@pytest.mark.slow
@pytest.mark.parametrize("keys", [None, Keys("AKIAOTHER", "wrong")])
def test_only_the_keys_that_were_given_are_used(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: Keys | None
) -> None:
    """Not those of the process, which in a pod may be the node's."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS.secret_key)

    assert run(store, tmp_path / "to", keys=keys) is ExitCode.GATED


@pytest.mark.slow
def test_a_bucket_for_everybody_needs_no_keys(store: Store, tmp_path: Path) -> None:
    store.access_key = None

    assert run(store, tmp_path / "to", keys=None) is ExitCode.STAGED


@pytest.mark.parametrize("cut", [0, 196_608])
def test_a_cut_connection_is_taken_up_again(store: Store, tmp_path: Path, cut: int) -> None:
    store.faults = {key(SHARD): [Fault(cut_after=cut)]}

    assert run(store, tmp_path / "to") is ExitCode.STAGED
    assert contents(tmp_path / "to") == WEIGHTS
    assert store.sent[key(SHARD)] == len(WEIGHTS[SHARD])


@pytest.mark.slow
def test_a_file_that_stalls_is_taken_up_again(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buckets, "_PATIENCE", 0.5)
    store.faults = {key(SHARD): [Fault(stall_after=196_608)]}

    assert run(store, tmp_path / "to") is ExitCode.STAGED
    assert contents(tmp_path / "to") == WEIGHTS


def test_a_connection_that_brings_nothing_is_given_up(store: Store, tmp_path: Path) -> None:
    store.faults = {key(SHARD): [Fault(cut_after=0)] * 20}

    assert run(store, tmp_path / "to") is ExitCode.RETRY
    assert store.gets[key(SHARD)] == 3


def test_a_store_without_ranges_sends_a_file_from_its_start(store: Store, tmp_path: Path) -> None:
    store.has_ranges, store.faults = False, {key(SHARD): [Fault(cut_after=196_608)]}

    assert run(store, tmp_path / "to") is ExitCode.STAGED
    assert contents(tmp_path / "to") == WEIGHTS


def test_content_that_is_not_the_stores_is_never_staged(store: Store, tmp_path: Path) -> None:
    """As long as it should be, and answered well: only the checksum tells. The next try gets it right."""
    store.faults = {key(OTHER): [Fault(content=b"\2" * len(WEIGHTS[OTHER]))]}

    assert run(store, tmp_path / "to") is ExitCode.RETRY
    assert not (tmp_path / "to").exists()
    assert run(store, tmp_path / "to") is ExitCode.STAGED
    assert contents(tmp_path / "to") == WEIGHTS


def _base64(number: int, width: int) -> str:
    return base64.b64encode(number.to_bytes(width, "big")).decode()


RIGHT = WEIGHTS[OTHER]
CHECKSUMS = {
    "sha256": base64.b64encode(hashlib.sha256(RIGHT).digest()).decode(),
    "sha1": base64.b64encode(hashlib.sha1(RIGHT).digest()).decode(),
    "crc32": _base64(zlib.crc32(RIGHT), 4),
    "crc32c": _base64(checksums.crc32c(RIGHT), 4),
    "crc64nvme": _base64(checksums.crc64nvme(RIGHT), 8),
}


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", CHECKSUMS)
def test_an_object_in_parts_is_verified_by_the_checksum_of_the_whole(
    store: Store, tmp_path: Path, algorithm: str
) -> None:
    store.etags = {key(OTHER): "0123456789abcdef0123456789abcdef-3"}
    store.headers = {
        key(OTHER): {f"x-amz-checksum-{algorithm}": CHECKSUMS[algorithm], "x-amz-checksum-type": "FULL_OBJECT"}
    }
    store.faults = {key(OTHER): [Fault(content=b"\2" * len(RIGHT))]}

    assert run(store, tmp_path / "to") is ExitCode.RETRY
    assert run(store, tmp_path / "to") is ExitCode.STAGED


@pytest.mark.slow
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-amz-checksum-sha256": "AAAA-3", "x-amz-checksum-type": "COMPOSITE"},
        {"x-amz-checksum-crc32": "AAAAAA==-3"},
    ],
)
def test_an_object_in_parts_without_a_checksum_of_the_whole_is_verified_by_its_size(
    store: Store, tmp_path: Path, headers: dict[str, str]
) -> None:
    store.etags, store.headers = {key(OTHER): "0123456789abcdef0123456789abcdef-3"}, {key(OTHER): headers}

    assert run(store, tmp_path / "to") is ExitCode.STAGED
    assert contents(tmp_path / "to") == WEIGHTS


@pytest.mark.slow
@pytest.mark.parametrize(
    "headers",
    [{"x-amz-server-side-encryption": "aws:kms"}, {"x-amz-server-side-encryption-customer-algorithm": "AES256"}],
)
def test_the_etag_of_an_encrypted_object_is_no_checksum(store: Store, tmp_path: Path, headers: dict[str, str]) -> None:
    store.etags, store.headers = {key(OTHER): "0" * 32}, {key(OTHER): headers}

    assert run(store, tmp_path / "to") is ExitCode.STAGED


@pytest.mark.parametrize("listed", [299_999, 300_001])
def test_an_object_of_another_size_than_listed_is_never_staged(store: Store, tmp_path: Path, listed: int) -> None:
    store.etags, store.sizes = {key(OTHER): "abc-2"}, {key(OTHER): listed}

    assert run(store, tmp_path / "to") is ExitCode.RETRY
    assert not (tmp_path / "to").exists()


def test_a_volume_that_is_too_small_is_told_of_before_the_download(store: Store, tmp_path: Path) -> None:
    store.sizes = {key(SHARD): 2**60}

    assert run(store, tmp_path / "to") is ExitCode.NO_ROOM
    assert not store.gets[key(SHARD)]


@pytest.mark.slow
def test_an_object_that_changes_between_two_tries_is_not_mixed(store: Store, tmp_path: Path) -> None:
    """The first try got half of it."""
    store.faults = {key(SHARD): [Fault(cut_after=196_608), *[Fault(cut_after=0)] * 3]}
    assert run(store, tmp_path / "to") is ExitCode.RETRY
    store.objects[key(SHARD)] = b"\3" * 400_000

    assert run(store, tmp_path / "to") is ExitCode.STAGED
    assert contents(tmp_path / "to") == {**WEIGHTS, SHARD: b"\3" * 400_000}


def test_an_object_that_changes_during_a_try_is_not_mixed(store: Store, tmp_path: Path) -> None:
    origin = Bucket(BUCKET, PREFIX, keys=KEYS, endpoint=store.url)
    listing = origin.listing()
    store.objects[key(SHARD)] = b"\3" * 400_000
    origin.listing = lambda: listing  # type: ignore[method-assign]

    assert stage(origin, to=tmp_path / "to", say=lambda _: None).exit_code is ExitCode.RETRY
    assert not (tmp_path / "to").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", ["../outside.bin", "/outside.bin", "a/../../outside.bin", "a//b.bin", "./b.bin", "a/."]
)
def test_a_key_that_leads_out_of_its_directory_is_refused(tmp_path: Path, path: str) -> None:
    with serving(Store({"p/model.safetensors": b"w", f"p/{path}": b"x"})) as store:
        assert run(store, tmp_path / "volume" / "to", prefix="p", keys=None) is ExitCode.INVALID
        assert not store.gets[f"p/{path}"]
    assert not (tmp_path / "volume").exists()


def test_a_key_that_is_a_file_and_a_directory_is_refused(tmp_path: Path) -> None:
    with serving(Store({"a": b"1", "a/b": b"2", "a/b/c": b"3"})) as store:
        got = ended(store, tmp_path / "to", prefix="", keys=None)

    assert got == (ExitCode.INVALID, "a is listed as a file and as a directory")


@pytest.mark.slow
def test_patterns_are_of_the_paths_below_the_prefix(store: Store, tmp_path: Path) -> None:
    assert (
        run(store, tmp_path / "to", include=("tokenizer/", "*.safetensors"), exclude=("*-00002-*",)) is ExitCode.STAGED
    )

    assert contents(tmp_path / "to") == {path: WEIGHTS[path] for path in ("tokenizer/vocab.json", SHARD)}


@pytest.mark.slow
def test_a_killed_pod_leaves_nothing_under_the_name_and_the_next_one_finishes(store: Store, tmp_path: Path) -> None:
    """SIGKILL in the middle of an object. What was there is not fetched again, not even of that object."""
    to = tmp_path / "to"
    store.faults = {key(SHARD): [Fault(stall_after=131_072)]}
    first = subprocess.Popen(_command(to), env=_env(store, tmp_path), stderr=subprocess.PIPE, text=True)
    assert store.stalled.wait(60)
    assert first.stderr is not None
    for line in first.stderr:
        if line.startswith("model-00002"):
            break
    part = next(tmp_path.rglob(SHARD))
    while part.stat().st_size < 131_072:
        assert first.poll() is None
    first.send_signal(signal.SIGKILL)
    first.wait(60)
    assert not to.exists()
    store.released.set()
    store.gets.clear()
    store.sent.clear()

    second = subprocess.run(
        _command(to), env=_env(store, tmp_path), capture_output=True, text=True, timeout=60, check=False
    )

    assert second.returncode == ExitCode.STAGED, second.stderr
    assert contents(to) == WEIGHTS
    assert store.gets[key(OTHER)] == 0
    assert store.sent[key(SHARD)] == len(WEIGHTS[SHARD]) - 131_072


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "fault"),
    [
        ("list", Fault(403, "SignatureDoesNotMatch")),
        ("list", Fault(400, "AKIAEXAMPLE s3cretkey")),
        (key("config.json"), Fault(content=b"x" * 23)),
    ],
)
def test_a_key_is_never_told(store: Store, tmp_path: Path, what: str, fault: Fault) -> None:
    """Neither in the log, nor in what is left on the volume; not even if the store repeats it."""
    store.faults = {what: [fault]}

    ended = subprocess.run(
        _command(tmp_path / "volume" / "x"),
        env=_env(store, tmp_path),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    left = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert ended.returncode not in (ExitCode.STAGED, ExitCode.INVALID)
    for secret in (KEYS.access_key, KEYS.secret_key):
        assert secret not in ended.stdout + ended.stderr
        assert secret.encode() not in left


def _command(to: Path) -> list[str]:
    program = Path(sys.executable).parent / "modelplane"
    return [str(program), "hydrate", f"--bucket={BUCKET}", f"--prefix={PREFIX}", f"--to={to}"]


def _env(store: Store, home: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "AWS_ENDPOINT_URL_S3": store.url,
        "AWS_ACCESS_KEY_ID": f"{KEYS.access_key}\n",
        "AWS_SECRET_ACCESS_KEY": KEYS.secret_key,
        "AWS_REGION": "eu-central-1",
    }
