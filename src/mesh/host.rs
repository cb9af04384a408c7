//! Where do activations live? On the first host that routes, in the order in which hosts were added.

use std::sync::Arc;

/// The hosts of a mesh, in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts {
    names: Vec<Arc<str>>,
}

impl Hosts {
    /// Adds a host; one that is there already stays as it is.
    pub(super) fn add(&mut self, name: &str) {
        if !self.has(name) {
            self.names.push(name.into());
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|host| **host == *name)
    }

    /// Returns the host on which an activation starts: the first of those that are not leaving.
    pub(super) fn place(&self, is_leaving: impl Fn(&str) -> bool) -> Option<Arc<str>> {
        self.names.iter().find(|host| !is_leaving(host)).cloned()
    }
}
