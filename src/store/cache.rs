//! Caches keyed by everything that shapes their values, so that no text is extracted or embedded twice.

use std::collections::HashSet;

use half::f16;
use rusqlite::{OptionalExtension, params};

use super::schema::failed;
use super::writer::Writer;
use crate::error::Result;

/// A 256-bit BLAKE3 hash.
pub type CacheKey = [u8; 32];

/// The key of a text's vector: everything that shapes it.
pub fn embedding_key(embedder_fingerprint: &str, text: &str) -> CacheKey {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"mingti embedding 1");
    hasher.update(&(embedder_fingerprint.len() as u64).to_le_bytes());
    hasher.update(embedder_fingerprint.as_bytes());
    hasher.update(text.as_bytes());
    *hasher.finalize().as_bytes()
}

impl Writer {
    /// The output that an extractor gave for this key before.
    pub fn extraction(&self, key: &CacheKey) -> Result<Option<String>> {
        let fail = failed("cannot read the extraction cache", self.path());
        let mut statement =
            self.connection().prepare_cached("SELECT output FROM extraction_cache WHERE key = ?1").map_err(&fail)?;
        statement.query_row(params![key], |row| row.get(0)).optional().map_err(&fail)
    }

    /// Keeps an extractor's output. Durable when it returns.
    pub fn put_extraction(&mut self, key: &CacheKey, output: &str) -> Result<()> {
        let fail = failed("cannot write the extraction cache", self.path());
        self.connection()
            .execute("INSERT OR REPLACE INTO extraction_cache (key, output) VALUES (?1, ?2)", params![key, output])
            .map_err(&fail)?;
        Ok(())
    }

    /// Removes extractor's outputs that no section uses any more, if they take more than `limit` bytes together. Until then they
    /// are there for a text that comes back. Gives the bytes removed.
    pub fn trim_extractions(&mut self, limit: u64) -> Result<u64> {
        const UNUSED: &str = "key NOT IN (SELECT extraction FROM section WHERE extraction IS NOT NULL)";
        let fail = failed("cannot trim the extraction cache", self.path());
        let connection = self.connection();
        let sum = format!("SELECT coalesce(sum(octet_length(output)), 0) FROM extraction_cache WHERE {UNUSED}");
        let unused: i64 = connection.query_row(&sum, [], |row| row.get(0)).map_err(&fail)?;
        let unused = u64::try_from(unused).unwrap_or(0);
        if unused <= limit {
            return Ok(0);
        }
        connection.execute(&format!("DELETE FROM extraction_cache WHERE {UNUSED}"), []).map_err(&fail)?;
        Ok(unused)
    }

    /// The vector kept for this key, if it has `dimension` values.
    pub fn embedding(&self, key: &CacheKey, dimension: usize) -> Result<Option<Vec<f32>>> {
        let fail = failed("cannot read the embedding cache", self.path());
        let mut statement =
            self.connection().prepare_cached("SELECT vector FROM embedding_cache WHERE key = ?1").map_err(&fail)?;
        let bytes: Option<Vec<u8>> = statement.query_row(params![key], |row| row.get(0)).optional().map_err(&fail)?;
        Ok(bytes
            .filter(|bytes| bytes.len() == 2 * dimension)
            .map(|bytes| bytes.chunks_exact(2).map(|pair| f16::from_le_bytes([pair[0], pair[1]]).to_f32()).collect()))
    }

    /// Removes vectors whose keys are not among `used`, if they take more than `limit` bytes together. Gives the bytes removed.
    pub fn trim_embeddings(&mut self, used: &HashSet<CacheKey>, limit: u64) -> Result<u64> {
        let path = self.path().to_owned();
        let fail = failed("cannot trim the embedding cache", &path);
        let mut unused: Vec<CacheKey> = Vec::new();
        let mut bytes = 0u64;
        {
            let mut statement =
                self.connection().prepare("SELECT key, octet_length(vector) FROM embedding_cache").map_err(&fail)?;
            let mut rows = statement.query([]).map_err(&fail)?;
            while let Some(row) = rows.next().map_err(&fail)? {
                let key: CacheKey = row.get(0).map_err(&fail)?;
                if !used.contains(&key) {
                    unused.push(key);
                    bytes += u64::try_from(row.get::<_, i64>(1).map_err(&fail)?).unwrap_or(0);
                }
            }
        }
        if bytes <= limit {
            return Ok(0);
        }
        let transaction = self.connection_mut().transaction().map_err(&fail)?;
        {
            let mut delete = transaction.prepare_cached("DELETE FROM embedding_cache WHERE key = ?1").map_err(&fail)?;
            for key in &unused {
                delete.execute(params![key]).map_err(&fail)?;
            }
        }
        transaction.commit().map_err(&fail)?;
        Ok(bytes)
    }

    /// Gives the room of what was removed back to the file system. Best effort: a reader that holds a snapshot puts it off.
    pub fn shrink(&mut self) {
        let _ = self.connection().execute_batch("VACUUM");
        self.empty_log();
    }

    /// Keeps vectors as f16, in one transaction. The index stores f16 too, so a vector from the cache and a fresh one
    /// give the same bytes there.
    pub fn put_embeddings<'a>(&mut self, entries: impl IntoIterator<Item = (CacheKey, &'a [f32])>) -> Result<()> {
        let path = self.path().to_owned();
        let fail = failed("cannot write the embedding cache", &path);
        let transaction = self.connection_mut().transaction().map_err(&fail)?;
        {
            let mut statement = transaction
                .prepare_cached("INSERT OR REPLACE INTO embedding_cache (key, vector) VALUES (?1, ?2)")
                .map_err(&fail)?;
            for (key, vector) in entries {
                let bytes: Vec<u8> = vector.iter().flat_map(|&x| f16::from_f32(x).to_le_bytes()).collect();
                statement.execute(params![key, bytes]).map_err(&fail)?;
            }
        }
        transaction.commit().map_err(&fail)
    }
}
