"""What a name stands for: files, a pattern, a folder, or a place elsewhere that Arrow can open."""

import glob
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from renyi.data.files.streams import first_line
from renyi.data.files.table_files import read_table
from renyi.errors import InputError, bounded, load

# Names of files that a folder is read by.
_TABLES = (".parquet", ".pq", ".csv", ".tsv", ".csv.gz", ".tsv.gz")
_PARQUET = (".parquet", ".pq")
_ELSEWHERE = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs")
# Seconds in which a request to Google has to succeed; Arrow would go on for 15 minutes, and gives up on others soon.
_PATIENCE = 10


def local_name(data: str | os.PathLike[str], /) -> str:
    """A name, without the scheme that says that it is one of this machine."""
    name = os.fspath(data)
    return url2pathname(urlsplit(name).path) if name.startswith("file://") else name


def is_elsewhere(data: str | os.PathLike[str], /) -> bool:
    """Whether a name is that of a place on a network."""
    return re.match(r"[a-zA-Z][a-zA-Z0-9+.-]+://", local_name(data)) is not None


def is_pattern(name: str, /) -> bool:
    """Whether a name stands for others: a file may have the marks of a pattern in its own."""
    return any(mark in name for mark in "*?[") and not os.path.exists(name)


def files_of(data: str | os.PathLike[str], /) -> list[Path]:
    """The files here that a name, a pattern or a folder stands for, in their order."""
    name = local_name(data)
    if not name:
        raise InputError("the name of the table is empty: name a file, a folder or a pattern")
    if is_elsewhere(name):
        return []
    path = Path(name)
    # Not by the path, which raises where a name is longer than the system allows.
    if is_folder := os.path.isdir(name):
        found = _files_in(path)
    else:
        found = [path] if os.path.exists(name) else sorted(Path(file) for file in glob.glob(name, recursive=True))
    if not found:
        if is_folder:
            raise InputError(f"{name} is a folder without Parquet and CSV files: name another, or a file")
        if is_pattern(name):
            raise InputError(f"{name} stands for no file: check the folder and the pattern")
        read_table(path)  # which says what is wrong with a name
    if found != [path]:
        _refuse_logged({parent for file in found for parent in file.absolute().parents})
    return found


def _files_in(folder: Path) -> list[Path]:
    _refuse_logged([folder.absolute()])
    # As patterns do, without hidden files, which other programs leave beside those of the user.
    found = sorted(file for file in folder.glob("[!.]*") if file.name.lower().endswith(_TABLES) and file.is_file())
    if not is_partitioned(folder):
        return found
    if found:
        raise InputError(
            f"{folder} has both files, such as {found[0].name!r}, and partitions: name files of one kind by a pattern"
        )
    found = sorted(file for file in folder.rglob("[!._]*") if file.name.lower().endswith(_PARQUET) and file.is_file())
    if not found:
        raise InputError(f"{folder} has partitions without Parquet files: name text by a pattern, such as **/*.csv")
    return found


def is_partitioned(folder: Path, /) -> bool:
    """Whether a folder has folders that are called by the value of a column that is the same in all of their rows."""
    return folder.is_dir() and any(part.is_dir() for part in folder.glob("[!._]*=*"))


def _refuse_logged(folders: Iterable[Path]) -> None:
    """Refuse a folder of which a log says which files count: others that lie there were superseded."""
    for folder in folders:
        if (folder / "_delta_log").is_dir():
            raise _logged(str(folder), "Delta")
        if any((folder / "metadata").glob("*.metadata.json")):
            raise _logged(str(folder), "Iceberg")


def _logged(folder: str, kind: str) -> InputError:
    remedy = {
        "Delta": f"deltalake.DeltaTable({folder!r}).to_pyarrow_dataset()",
        "Iceberg": "pyiceberg's table.scan().to_arrow_batch_reader()",
    }
    return InputError(
        f"{folder} is a table of {kind}, which may hold files that are no longer part of it: pass {remedy[kind]}"
    )


def dataset_at(data: str | os.PathLike[str], /) -> Any:
    """The Parquet in a folder of partitions, or in a file or folder elsewhere, as a dataset of Arrow."""
    name = local_name(data)
    ds, fs = (load(f"pyarrow.{module}", extra="cli") for module in ("dataset", "fs"))
    scheme = urlsplit(name).scheme if is_elsewhere(name) else ""
    if scheme and scheme not in _ELSEWHERE:
        raise InputError(
            f"{name} cannot be opened by Arrow, which reads {', '.join(f'{known}://' for known in _ELSEWHERE)}: fetch "
            "it first, or let DuckDB read it: duckdb.sql(\"select * from '…'\")"
        )
    if scheme and any(mark in name.partition("?")[0] for mark in "*["):
        raise InputError(f"{name} is a pattern, and those are for files here: name a folder or a file")
    try:
        system, path = fs.FileSystem.from_uri(_patient(name, scheme)) if scheme else (fs.LocalFileSystem(), name)
        info = system.get_file_info(path)
        if info.type == fs.FileType.NotFound:
            raise InputError(f"{name} does not exist, or you may not see it: check the name and your rights to read it")
        if info.type == fs.FileType.Directory:
            _refuse_logged_at(system, path, name)
        found = ds.dataset(path, filesystem=system, format="parquet", partitioning="hive")
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"{name} cannot be read as Parquet ({bounded(first_line(error), 300)}): check the name, and your rights to "
            "read it"
        ) from error
    if not found.files:
        raise InputError(f"{name} has no Parquet files: name another folder, or a file")
    return found


def _patient(name: str, scheme: str) -> str:
    """The name, with how long to wait for an answer where Arrow would not give up soon."""
    if scheme not in ("gs", "gcs") or "retry_limit_seconds" in name:
        return name
    return f"{name}{'&' if '?' in name else '?'}retry_limit_seconds={_PATIENCE}"


def _refuse_logged_at(system: Any, path: str, name: str) -> None:
    fs = load("pyarrow.fs", extra="cli")
    inside = {info.base_name for info in system.get_file_info(fs.FileSelector(path))}
    if "_delta_log" in inside:
        raise _logged(name, "Delta")
    metadata = fs.FileSelector(f"{path}/metadata", allow_not_found=True)
    if any(info.path.endswith(".metadata.json") for info in system.get_file_info(metadata)):
        raise _logged(name, "Iceberg")
