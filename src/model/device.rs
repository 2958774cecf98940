//! Where models run.

use std::fmt;
use std::str::FromStr;

use candle_core::Device;
use serde::Deserialize;

use crate::error::{Error, Kind, Result};

/// The device that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "String")]
pub enum DeviceChoice {
    /// CUDA when this program was built with it and a device is there, else the processor.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// The CUDA device of this number, from 0.
    Cuda(usize),
}

impl FromStr for DeviceChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            other => {
                other.strip_prefix("cuda:").and_then(|number| number.parse().ok()).map(Self::Cuda).ok_or_else(|| {
                    let error = Error::new(Kind::Usage, "unknown device").found(format!("`{other}`"));
                    error.expected("auto, cpu, cuda or cuda:N, where N counts from 0")
                })
            }
        }
    }
}

impl TryFrom<String> for DeviceChoice {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

impl DeviceChoice {
    /// Opens the device.
    ///
    /// # Errors
    /// When CUDA is asked for and this program was built without it, or there is no usable device.
    pub fn open(self) -> Result<Device> {
        match self {
            Self::Cpu => Ok(Device::Cpu),
            Self::Auto if !cfg!(feature = "cuda") => Ok(Device::Cpu),
            Self::Auto => Ok(Device::new_cuda(0).unwrap_or(Device::Cpu)),
            Self::Cuda(_) if !cfg!(feature = "cuda") => {
                Err(Error::new(Kind::Model, "this program was built without CUDA")
                    .hint("use --device cpu, or build with `cargo build --release --features cuda`"))
            }
            Self::Cuda(number) => Device::new_cuda(number).map_err(|e| {
                let error = Error::new(Kind::Model, format!("CUDA device {number} cannot be used"));
                error.hint("use --device cpu").because(e)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn names_round_trip() {
        for choice in [DeviceChoice::Auto, DeviceChoice::Cpu, DeviceChoice::Cuda(0), DeviceChoice::Cuda(3)] {
            assert_eq!(choice.to_string().parse::<DeviceChoice>().unwrap(), choice);
        }
        assert_eq!("cuda".parse::<DeviceChoice>().unwrap(), DeviceChoice::Cuda(0));
        for wrong in ["tpu", "cuda:", "cuda:-1", "cuda:x", ""] {
            assert!(wrong.parse::<DeviceChoice>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_processor_is_always_there() {
        assert!(DeviceChoice::Cpu.open().is_ok());
        assert!(DeviceChoice::Auto.open().is_ok());
    }

    #[cfg(not(feature = "cuda"))]
    #[test]
    fn cuda_without_the_feature_is_a_clear_error() {
        let message = DeviceChoice::Cuda(0).open().unwrap_err().to_string();
        assert!(message.contains("built without CUDA") && message.contains("hint:"), "{message}");
    }
}
