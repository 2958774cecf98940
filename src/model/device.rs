//! Where models run.

use std::fmt;
use std::str::FromStr;

use candle_core::Device;

use crate::error::{Error, Kind, Result};

/// The device that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceChoice {
    /// CUDA when this program was built with it and a device is there, else the processor.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// The first CUDA device.
    Cuda,
}

impl FromStr for DeviceChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda),
            other => {
                Err(Error::new(Kind::Usage, "unknown device").expected("auto, cpu or cuda").found(format!("`{other}`")))
            }
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
        })
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
            Self::Cuda if !cfg!(feature = "cuda") => {
                Err(Error::new(Kind::Model, "this program was built without CUDA")
                    .hint("use --device cpu, or build with `cargo build --release --features cuda`"))
            }
            Self::Cuda => Device::new_cuda(0)
                .map_err(|e| Error::new(Kind::Model, "no usable CUDA device").hint("use --device cpu").because(e)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn names_round_trip() {
        for choice in [DeviceChoice::Auto, DeviceChoice::Cpu, DeviceChoice::Cuda] {
            assert_eq!(choice.to_string().parse::<DeviceChoice>().unwrap(), choice);
        }
        assert!("tpu".parse::<DeviceChoice>().is_err());
    }

    #[test]
    fn the_processor_is_always_there() {
        assert!(DeviceChoice::Cpu.open().is_ok());
        assert!(DeviceChoice::Auto.open().is_ok());
    }

    #[cfg(not(feature = "cuda"))]
    #[test]
    fn cuda_without_the_feature_is_a_clear_error() {
        let message = DeviceChoice::Cuda.open().unwrap_err().to_string();
        assert!(message.contains("built without CUDA") && message.contains("hint:"), "{message}");
    }
}
