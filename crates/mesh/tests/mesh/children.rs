//! Owners below others: where they start, and what their parents' ends are to them.

use crate::*;

/// R58: nothing starts on a host that is leaving, were it the parent's. An owner that did would send no
/// frame, and be handed off by nobody.
#[tokio::test(start_paused = true)]
async fn a_child_does_not_start_where_its_parent_is_leaving() {
    let (mesh, parent) = (Mesh::new(), address("prices"));
    let child = address("prices/eur");
    mesh.add_host("host-2");
    mesh.store(&parent, 1);
    mesh.store(&child, 1);
    mesh.activate(&parent).unwrap();

    // The control: where it stays, they are together.
    mesh.activate(&child).unwrap();
    assert_eq!(mesh.host_of(&child).as_deref(), Some("host-1"));
    let gone = mesh.recycle(&child).unwrap();
    torn_down(&mesh, &gone).await;

    let fault = mesh.linger_host("host-1");
    assert!(fault.is_in_force());
    assert_eq!(mesh.host_of(&parent).as_deref(), Some("host-1"));
    let mut prices = subscribe(&mesh, &child).await;
    assert_eq!(mesh.host_of(&child).as_deref(), Some("host-2"));
    assert_eq!(value(&mut prices).await, 1);
    mesh.write(&child, 2).await.unwrap();
    assert_eq!(value(&mut prices).await, 2);
}

/// R37: what is ending takes no children, on a leaving host either.
#[tokio::test(start_paused = true)]
async fn a_child_of_one_that_is_ending_is_refused() {
    let (mesh, parent) = (Mesh::new(), address("prices"));
    let child = address("prices/eur");
    mesh.add_host("host-2");
    mesh.store(&parent, 1);
    mesh.store(&child, 1);
    mesh.activate(&parent).unwrap();

    let fault = mesh.drain_host("host-1");
    settle().await;
    let refusal = refused(&mesh, &child).await;
    assert!(refusal.promise(&child).is_some() && refusal.is_never_applied(&child), "{refusal}");
    assert_eq!(mesh.activation_of(&child), None);
    drop(fault);
}
