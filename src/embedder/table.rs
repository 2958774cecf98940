//! What an encoder starts from: the sum of word, position and type rows.

use super::bert::BertConfig;
use super::weights::{Part, Weights, dequantize};
use crate::error::{Error, Kind, Result};

/// The tokens of a text, or of two.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input<'a> {
    /// All of them.
    pub(super) ids: &'a [u32],
    /// Where the second text begins: tokens from here on have type 1.
    pub(super) second: usize,
}

impl<'a> Input<'a> {
    /// One text.
    pub(super) fn single(ids: &'a [u32]) -> Self {
        Self { ids, second: ids.len() }
    }

    /// Number of tokens.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }
}

/// The embedding tables. The word table stays in the file's map and only rows that occur are decoded.
pub(super) struct Table {
    weights: Weights,
    hidden: usize,
    first_position: usize,
    /// Position rows with the row of token type 0 added, `positions × hidden`.
    positions: Vec<f32>,
    /// What a row of token type 1 has more; empty for a model with one type.
    type_one: Vec<f32>,
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
        let mut type_one = Vec::new();
        if let Some(row) = types.row(1) {
            type_one = vec![0.0; hidden];
            dequantize(types.dtype, row, &mut type_one)?;
            type_one.iter_mut().zip(&type_zero).for_each(|(one, zero)| *one -= zero);
        }
        Ok(Self { weights, hidden, first_position: config.first_position, positions, type_one })
    }

    /// The weights of the layers.
    pub(super) fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Writes the rows of the tokens of `input` to `out`, `tokens × hidden`.
    pub(super) fn look_up(&self, input: Input<'_>, out: &mut [f32]) -> Result<()> {
        let (hidden, ids) = (self.hidden, input.ids);
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
            if index >= input.second {
                row.iter_mut().zip(&self.type_one).for_each(|(x, t)| *x += t);
            }
        }
        Ok(())
    }
}
