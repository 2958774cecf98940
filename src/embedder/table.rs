//! What an encoder starts from: the sum of word, position and type rows.

use super::bert::BertConfig;
use super::weights::{Part, Weights, dequantize};
use crate::error::{Error, Kind, Result};

/// The embedding tables. The word table stays in the file's map and only rows that occur are decoded.
pub(super) struct Table {
    weights: Weights,
    hidden: usize,
    first_position: usize,
    /// Position rows with the row of token type 0 added, `positions × hidden`.
    positions: Vec<f32>,
}

impl Table {
    /// Checks the tables of `weights` and decodes the positions.
    pub(super) fn load(config: &BertConfig, weights: Weights) -> Result<Self> {
        let hidden = config.hidden;
        let words = weights.view(Part::Words, 0, false)?;
        if words.shape.len() != 2 || words.shape[1] != hidden {
            return Err(Error::new(Kind::Model, "the word table has the wrong shape")
                .expected(format!("rows of {hidden}"))
                .found(format!("{:?}", words.shape)));
        }
        let mut positions = weights.dense(Part::Positions, 0, false, &[config.positions, hidden])?;
        // RoBERTa files may have a table of one row, BERT files of two; every token of ours has type 0.
        let types = weights.view(Part::Types, 0, false)?;
        let mut type_zero = vec![0.0; hidden];
        dequantize(types.dtype, types.row(0).unwrap_or_default(), &mut type_zero)?;
        for row in positions.chunks_exact_mut(hidden) {
            row.iter_mut().zip(&type_zero).for_each(|(x, t)| *x += t);
        }
        Ok(Self { weights, hidden, first_position: config.first_position, positions })
    }

    /// The weights of the layers.
    pub(super) fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Writes the rows of the tokens `ids` to `out`, `ids.len() × hidden`.
    pub(super) fn look_up(&self, ids: &[u32], out: &mut [f32]) -> Result<()> {
        let hidden = self.hidden;
        let words = self.weights.view(Part::Words, 0, false)?;
        for ((index, id), row) in ids.iter().enumerate().zip(out.chunks_exact_mut(hidden)) {
            let word = words.row(*id as usize).ok_or_else(|| {
                Error::new(Kind::Model, "the tokenizer does not fit the model")
                    .expected(format!("token ids below {}", words.shape[0]))
                    .found(id.to_string())
            })?;
            dequantize(words.dtype, word, row)?;
            let start = (index + self.first_position) * hidden;
            let position = self.positions.get(start..start + hidden).ok_or_else(|| {
                Error::new(Kind::Model, "the text is longer than the model's position table")
                    .found(format!("{} tokens", ids.len()))
            })?;
            row.iter_mut().zip(position).for_each(|(x, p)| *x += p);
        }
        Ok(())
    }
}
