//! Sets the crate's own loom switch, for this package alone.

fn main() {
    println!("cargo::rustc-cfg=rideout_loom");
    println!("cargo::rerun-if-changed=build.rs");
}
