//! Which vector instructions this processor has.

use std::sync::OnceLock;

/// An instruction set for which a kernel exists, slowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// Any processor; left to the compiler.
    Plain,
    /// 64-bit ARM with the dot product extension.
    NeonDot,
    /// x86-64 with AVX2, FMA and F16C.
    Avx2,
    /// x86-64 with AVX-512 F, BW, VL and VNNI.
    Avx512Vnni,
}

impl Isa {
    /// The best of this processor, or a lower one that the environment variable `MINGTI_CPU` (`plain`, `avx2`) asks for, to see
    /// what another machine would do. Asked once a process.
    pub fn best() -> Self {
        static BEST: OnceLock<Isa> = OnceLock::new();
        *BEST.get_or_init(|| {
            let wanted = std::env::var("MINGTI_CPU").unwrap_or_default();
            let best = Self::available().into_iter().rfind(|isa| match wanted.as_str() {
                "plain" => *isa <= Isa::Plain,
                "avx2" => *isa <= Isa::Avx2,
                _ => true,
            });
            best.unwrap_or(Isa::Plain)
        })
    }

    /// All that this processor can run, slowest first. Never empty.
    pub fn available() -> Vec<Self> {
        #[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(unused_mut))]
        let mut found = vec![Isa::Plain];
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("dotprod") {
            found.push(Isa::NeonDot);
        }
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c") {
                found.push(Isa::Avx2);
            }
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vnni")
            {
                found.push(Isa::Avx512Vnni);
            }
        }
        found
    }

    /// Short name for people, such as `avx512-vnni`.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Plain => "plain",
            Isa::NeonDot => "neon-dotprod",
            Isa::Avx2 => "avx2",
            Isa::Avx512Vnni => "avx512-vnni",
        }
    }
}
