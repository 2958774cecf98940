//! The database file: its tables, its version, and the ways to open it.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::migrate;
use crate::error::{Error, Kind, Result};

/// Name of the database in the index folder.
pub const DATABASE_FILE: &str = "mingti.db";

/// Name of the file that the writing process locks.
pub const LOCK_FILE: &str = "writer.lock";

/// Version of the tables, kept in `PRAGMA user_version`.
pub const SCHEMA_VERSION: i64 = 1 + migrate::STEPS.len() as i64;

/// `PRAGMA application_id`: the bytes `mtng`.
const APPLICATION_ID: i64 = 0x6d74_6e67;

/// How long a statement waits for another connection's short lock.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The tables of version 1; [`migrate`] makes today's of them.
const TABLES: &str = "
CREATE TABLE document (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    path TEXT NOT NULL,
    root TEXT NOT NULL,
    title TEXT NOT NULL,
    content_hash BLOB NOT NULL,
    encoding TEXT NOT NULL,
    format TEXT NOT NULL,
    chars INTEGER NOT NULL,
    born INTEGER NOT NULL,
    died INTEGER,
    deleted INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX document_live ON document (path) WHERE died IS NULL;
CREATE INDEX document_path ON document (path);
CREATE TABLE section (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    document INTEGER NOT NULL REFERENCES document (row) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    heading_path TEXT NOT NULL,
    text TEXT NOT NULL,
    input_hash BLOB NOT NULL,
    done INTEGER NOT NULL,
    uncovered TEXT NOT NULL DEFAULT '[]',
    ledger TEXT NOT NULL DEFAULT '',
    UNIQUE (document, ordinal)
) STRICT;
CREATE INDEX section_pending ON section (document, ordinal) WHERE done = 0;
CREATE TABLE unit (
    row INTEGER PRIMARY KEY,
    section INTEGER NOT NULL REFERENCES section (row) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    statement TEXT NOT NULL,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    confidence REAL NOT NULL,
    evidence TEXT NOT NULL,
    antecedents TEXT NOT NULL,
    entities TEXT NOT NULL,
    reasons TEXT NOT NULL,
    UNIQUE (section, ordinal)
) STRICT;
CREATE TABLE extraction_cache (key BLOB PRIMARY KEY, output TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE embedding_cache (key BLOB PRIMARY KEY, vector BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE generation (
    number INTEGER PRIMARY KEY,
    vectors INTEGER NOT NULL,
    dimension INTEGER NOT NULL,
    unit TEXT NOT NULL,
    embedder TEXT NOT NULL,
    embedder_name TEXT NOT NULL,
    created INTEGER NOT NULL
) STRICT;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
";

/// Turns an SQLite error into ours.
pub(super) fn failed(what: &'static str, path: &Path) -> impl Fn(rusqlite::Error) -> Error {
    move |source| {
        let code = source.sqlite_error_code();
        let kind = match code {
            Some(ErrorCode::NotADatabase) => Kind::Format,
            Some(ErrorCode::DatabaseCorrupt) => Kind::Corrupt,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Kind::Busy,
            Some(
                ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::ReadOnly
                | ErrorCode::PermissionDenied,
            ) => Kind::Io,
            Some(_) => Kind::Internal,
            // A value of an unexpected type or content: the file is not what we wrote.
            None => Kind::Corrupt,
        };
        let error = Error::new(kind, what).at(path).because(source);
        match code {
            Some(ErrorCode::DiskFull) => {
                error.hint("free some disk space and run the command again; finished work is kept")
            }
            Some(ErrorCode::SystemIoFailure) => {
                error.hint("see whether the disk is full or faulty and run the command again; finished work is kept")
            }
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                error.hint("the database is damaged; move the index folder away and index again")
            }
            _ => error,
        }
    }
}

/// Opens the database for writing; makes it, with its tables, when it is not there.
pub(super) fn open_writable(dir: &Path) -> Result<Connection> {
    let path = dir.join(DATABASE_FILE);
    let fail = failed("cannot open the index", &path);
    let mut connection = Connection::open(&path).map_err(&fail)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(&fail)?;
    if is_fresh(&connection, &path)? {
        connection.pragma_update(None, "journal_mode", "WAL").map_err(&fail)?;
        let transaction = connection.transaction().map_err(&fail)?;
        transaction.execute_batch(TABLES).map_err(&fail)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(&fail)?;
        migrate::run(&transaction, 1).map_err(&fail)?;
        transaction.commit().map_err(&fail)?;
    }
    if check_version(&connection, &path)? < SCHEMA_VERSION {
        migrate::upgrade(&mut connection).map_err(failed("cannot bring the index up to date", &path))?;
    }
    connection.pragma_update(None, "journal_mode", "WAL").map_err(&fail)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(&fail)?;
    connection.pragma_update(None, "foreign_keys", true).map_err(&fail)?;
    Ok(connection)
}

/// Takes the lock of the writing process; it is held as long as the file is open. Fails at once when another process has it.
pub(super) fn lock(dir: &Path) -> Result<File> {
    let path = dir.join(LOCK_FILE);
    let lock = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(|error| Error::io("cannot open the lock of the index", &path, error))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(Error::new(Kind::Busy, "another process is writing to the index")
            .at(dir)
            .hint("wait until it has finished, or name another folder with `--index DIR`")),
        Err(TryLockError::Error(error)) => Err(Error::io("cannot lock the index", &path, error)),
    }
}

/// Opens the database for reading, also from media that cannot be written. One of an older version is brought up to date
/// first, which needs media that can.
pub(super) fn open_readable(dir: &Path) -> Result<Connection> {
    let (connection, version) = open_as_it_is(dir)?;
    if version == SCHEMA_VERSION {
        return Ok(connection);
    }
    drop(connection);
    lock(dir).and_then(|lock| open_writable(dir).map(|connection| (connection, lock))).map_err(|error| {
        Error::new(Kind::Usage, "the index was written by an older version of mingti and has to be brought up to date")
            .at(dir)
            .because(error)
    })?;
    Ok(open_as_it_is(dir)?.0)
}

fn open_as_it_is(dir: &Path) -> Result<(Connection, i64)> {
    let path = dir.join(DATABASE_FILE);
    if !path.is_file() {
        return Err(Error::new(Kind::Missing, "there is no index here")
            .at(dir)
            .hint("make one with `mingti index PATH`, or name another folder with `--index DIR`"));
    }
    let fail = failed("cannot open the index", &path);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let opened = Connection::open_with_flags(uri(&path, ""), flags).and_then(|connection| {
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(connection)
    });
    let connection = match opened {
        Ok(connection) => connection,
        Err(error) if cannot_write(&error) => {
            // WAL mode needs a shared-memory file beside the database. Where none can be made nobody else can write
            // either, and the database may be read as it is, provided that its log is empty.
            if wal_len(&path) > 0 {
                return Err(fail(error)
                    .hint("the index has an unfinished log and lies on read-only media; copy it to a writable place"));
            }
            let connection = Connection::open_with_flags(uri(&path, "?immutable=1"), flags).map_err(&fail)?;
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map_err(&fail)?;
            connection
        }
        Err(error) => return Err(fail(error)),
    };
    if is_fresh(&connection, &path)? {
        return Err(Error::new(Kind::Missing, "the index is empty").at(dir).hint("fill it with `mingti index PATH`"));
    }
    let version = check_version(&connection, &path)?;
    Ok((connection, version))
}

fn cannot_write(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::SystemIoFailure)
    )
}

fn wal_len(path: &Path) -> u64 {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    std::fs::metadata(PathBuf::from(wal)).map_or(0, |meta| meta.len())
}

/// The path as an SQLite URI: every byte outside the unreserved set is escaped.
fn uri(path: &Path, query: &str) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut uri = String::from("file:");
    let bytes = absolute.as_os_str().as_encoded_bytes();
    if !bytes.starts_with(b"/") {
        uri.push('/');
    }
    for &byte in bytes {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b':' => uri.push(byte as char),
            b'\\' if cfg!(windows) => uri.push('/'),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.push_str(query);
    PathBuf::from(uri)
}

/// True for a database without any table, as a crash right after creation leaves it.
fn is_fresh(connection: &Connection, path: &Path) -> Result<bool> {
    let fail = failed("cannot read the index", path);
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(&fail)?;
    Ok(tables == 0 && pragma(connection, "user_version").map_err(&fail)? == 0)
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

/// The version of the tables, if this version of mingti knows it.
fn check_version(connection: &Connection, path: &Path) -> Result<i64> {
    let fail = failed("cannot read the index", path);
    let application = pragma(connection, "application_id").map_err(&fail)?;
    if application != APPLICATION_ID {
        return Err(Error::new(Kind::Format, "not an index of mingti")
            .at(path)
            .expected(format!("application id {APPLICATION_ID:#x}"))
            .found(format!("{application:#x}"))
            .hint("name another folder with `--index DIR`"));
    }
    let version = pragma(connection, "user_version").map_err(&fail)?;
    if version > SCHEMA_VERSION {
        return Err(Error::new(Kind::TooNew, "the index was written by a newer version of mingti")
            .at(path)
            .expected(format!("format {SCHEMA_VERSION} or older"))
            .found(format!("format {version}"))
            .hint("use that version, or index again into another folder"));
    }
    if version < 1 {
        return Err(Error::new(Kind::Corrupt, "the index has no version").at(path).found(version.to_string()));
    }
    Ok(version)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_foreign_database_and_a_newer_one_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(DATABASE_FILE);
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE x (y)").unwrap();
        assert!(open_readable(dir.path()).unwrap_err().to_string().contains("not an index of mingti"));
        assert!(open_writable(dir.path()).unwrap_err().to_string().contains("not an index of mingti"));
        std::fs::remove_file(&path).unwrap();
        open_writable(dir.path()).unwrap().pragma_update(None, "user_version", SCHEMA_VERSION + 1).unwrap();
        assert!(open_readable(dir.path()).unwrap_err().is_too_new());
        assert!(open_writable(dir.path()).unwrap_err().is_too_new());
    }

    #[test]
    fn an_index_of_version_1_is_brought_up_to_date_whoever_opens_it() {
        let dir = tempfile::tempdir().unwrap();
        let old = || {
            let path = dir.path().join(DATABASE_FILE);
            std::fs::remove_file(&path).ok();
            let connection = Connection::open(&path).unwrap();
            connection.execute_batch(TABLES).unwrap();
            connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
            connection.pragma_update(None, "user_version", 1).unwrap();
            let rows = "INSERT INTO document VALUES (1, 'd', 'a', 'r', 't', x'00', 'UTF-8', 'markdown', 2, 1, NULL, 0);
                INSERT INTO section VALUES (1, 's', 1, 0, 0, 2, '[]', '一。', x'00', 1, '[]', '');
                INSERT INTO unit VALUES (1, 1, 0, '一', 'sentence', 'accepted', 1, '[[0,2]]', '[]', '[\"Ｅ-１\"]', '[]');";
            connection.execute_batch(rows).unwrap();
        };
        let look = |connection: Connection| {
            let unit = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
            connection.query_row("SELECT u.key, e.key FROM unit u JOIN entity e ON e.unit = u.row", [], unit).unwrap()
        };
        old();
        let (key, entity) = look(open_readable(dir.path()).unwrap());
        assert_eq!((key.len(), entity.as_str()), (12, "e-1"));
        old();
        assert_eq!(look(open_writable(dir.path()).unwrap()), (key, entity));
        old();
        let writing = lock(dir.path()).unwrap();
        let error = open_readable(dir.path()).unwrap_err().to_string();
        assert!(error.contains("older version") && error.contains("another process is writing"), "{error}");
        drop(writing);
        open_readable(dir.path()).unwrap();
    }

    #[test]
    fn garbage_and_truncation_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(DATABASE_FILE);
        std::fs::write(&path, vec![0x5a; 5000]).unwrap();
        assert!(open_readable(dir.path()).is_err());
        assert!(open_writable(dir.path()).is_err());
        std::fs::remove_file(&path).unwrap();
        drop(open_writable(dir.path()).unwrap());
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() / 2 + 100]).unwrap();
        assert!(open_readable(dir.path()).is_err());
    }

    #[test]
    fn a_path_with_spaces_and_chinese_opens() {
        let dir = tempfile::tempdir().unwrap();
        let odd = dir.path().join("机床 手册 #1?%20");
        std::fs::create_dir(&odd).unwrap();
        drop(open_writable(&odd).unwrap());
        open_readable(&odd).unwrap();
    }

    #[test]
    fn a_missing_index_says_so_with_a_hint() {
        let dir = tempfile::tempdir().unwrap();
        let error = open_readable(dir.path()).unwrap_err();
        assert!(error.is_missing() && error.to_string().contains("hint: "));
    }
}
