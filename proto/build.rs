//! Compiles the contract without `protoc`: protox reads it, tonic writes the code.

use std::error::Error;

const FILES: [&str; 3] = [
    "parforce/v1/job.proto",
    "parforce/v1/farm.proto",
    "parforce/v1/operator.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=parforce");
    let descriptors = protox::compile(FILES, ["."])?;
    tonic_prost_build::configure().compile_fds(descriptors)?;
    Ok(())
}
