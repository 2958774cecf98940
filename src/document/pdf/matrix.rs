//! Affine maps of the plane (ISO 32000-1, 8.3.3).

/// `[a b c d e f]`: `x' = a x + c y + e`, `y' = b x + d y + f`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Matrix(pub(super) [f64; 6]);

impl Matrix {
    pub(super) const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    pub(super) fn translation(x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// First `self`, then `next`.
    pub(super) fn then(self, next: Self) -> Self {
        let ([a, b, c, d, e, f], [na, nb, nc, nd, ne, nf]) = (self.0, next.0);
        Self([
            a * na + b * nc,
            a * nb + b * nd,
            c * na + d * nc,
            c * nb + d * nd,
            e * na + f * nc + ne,
            e * nb + f * nd + nf,
        ])
    }

    pub(super) fn apply(self, x: f64, y: f64) -> (f64, f64) {
        let [a, b, c, d, e, f] = self.0;
        (a * x + c * y + e, b * x + d * y + f)
    }

    /// How long the image of the unit vector along y is.
    pub(super) fn height(self) -> f64 {
        self.0[2].hypot(self.0[3])
    }

    /// The smallest upright rectangle `[left, top, right, bottom]` around the image of a rectangle.
    pub(super) fn bounds(self, [x0, y0, x1, y1]: [f64; 4]) -> [f64; 4] {
        let mut out = [f64::MAX, f64::MAX, f64::MIN, f64::MIN];
        for (x, y) in [(x0, y0), (x1, y0), (x0, y1), (x1, y1)] {
            let (x, y) = self.apply(x, y);
            out = [out[0].min(x), out[1].min(y), out[2].max(x), out[3].max(y)];
        }
        out
    }
}
