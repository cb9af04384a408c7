//! The walk of R2 on the mesh: at each seam an owner of the mesh is made to refuse, and what it says is
//! recognised (R3, R4); a beat is not answered (C30).

use rideout::refusal::{Party, Seam};

use crate::{
    recognised::{Said, is_recognised},
    *,
};

/// A mesh with an owner at `prices/eur`.
fn owned() -> (Mesh<u64>, Address, Activation) {
    let (mesh, address) = mesh();
    let activation = mesh.activate(&address).unwrap();
    (mesh, address, activation)
}

async fn door() -> Vec<Said> {
    let mut all = Vec::new();
    let (mesh, owner, activation) = owned();
    let fault = mesh.refuse_door(&owner);
    let subscribe = || async { mesh.subscribe(&owner, StreamId::mint()).await.unwrap_err() };
    let mut refusals = vec![("Mesh::refuse_door", subscribe().await)];
    drop(fault);
    let held = mesh.hold_route(&owner);
    mesh.recycle(&owner);
    refusals.push(("Mesh::subscribe", subscribe().await));
    refusals.push(("Mesh::read", mesh.read(&owner).await.unwrap_err()));
    refusals.push(("Mesh::write", mesh.write(&owner, 2).await.unwrap_err()));
    refusals.push(("Mesh::patch", mesh.patch(&owner, |_| {}).await.unwrap_err()));
    mesh.teardown_of(&activation).unwrap().await;
    refusals.push(("Mesh::hold_route", subscribe().await));
    drop(held);
    all.extend(refusals.into_iter().map(|(by, refusal)| Said {
        by,
        refusal,
        owner: owner.clone(),
        activation: activation.clone(),
    }));
    all
}

async fn creation() -> Vec<Said> {
    let mut all = Vec::new();
    // The mesh passes it on: the word of the parent, which is not the child's.
    let (mesh, parent, activation) = owned();
    let child = address("prices/eur/spot");
    mesh.store(&child, 1);
    mesh.recycle(&parent);
    for relayed in [
        mesh.subscribe(&child, StreamId::mint()).await.unwrap_err(),
        mesh.activate(&child).unwrap_err(),
    ] {
        assert_eq!(relayed.promise(&child), Some(Rejection::by_route()), "{relayed}");
        let refusal = relayed.with_speaker(Party::Owner).with_activation(activation.clone());
        let (owner, activation) = (parent.clone(), activation.clone());
        all.push(Said { by: "Mesh::subscribe to a child", refusal, owner, activation });
    }
    all
}

async fn leaving() -> Vec<Said> {
    let mut all = Vec::new();
    let (mesh, owner, activation) = owned();
    let unhosted = address("rates/usd");
    mesh.store(&unhosted, 1);
    let _fault = mesh.linger_host("host-1");
    let refusal = mesh.read(&owner).await.unwrap_err();
    all.push(Said { by: "Mesh::linger_host", refusal, owner, activation });
    let refusal = mesh.subscribe(&unhosted, StreamId::mint()).await.unwrap_err();
    let activation = refusal.activation.clone().expect("one token");
    all.push(Said { by: "Mesh::linger_host, unhosted", refusal, owner: unhosted, activation });
    for said in &all {
        let told = said.refusal.message.contains("its host is stopping)");
        assert!(told, "{}: {}", said.by, said.refusal);
    }
    all
}

async fn mailbox() -> Vec<Said> {
    let mut all = Vec::new();
    let (mesh, owner, activation) = owned();
    settle().await;
    let mut write = mesh.write(&owner, 2).boxed();
    let mut ask = mesh.subscribe(&owner, StreamId::mint()).boxed();
    assert!((&mut write).now_or_never().is_none() && (&mut ask).now_or_never().is_none());
    mesh.recycle(&owner);
    for refusal in [write.await.unwrap_err(), ask.await.unwrap_err()] {
        let (owner, activation) = (owner.clone(), activation.clone());
        all.push(Said { by: "Mesh, in the mailbox", refusal, owner, activation });
    }
    all
}

async fn gate() -> Vec<Said> {
    let mut all = Vec::new();
    let (mesh, owner, activation) = owned();
    let _fault = mesh.hold_store(&owner);
    settle().await;
    let mut write = mesh.write(&owner, 2).boxed();
    assert!((&mut write).now_or_never().is_none());
    settle().await;
    mesh.dispose(&owner);
    let refusal = write.await.unwrap_err();
    assert!(refusal.message.contains("behind gate `store`; dispose. The"), "{refusal}");
    all.push(Said { by: "Mesh::hold_store", refusal, owner, activation });
    all
}

async fn reassert() -> Vec<Said> {
    type End = fn(&Mesh<u64>, &Address) -> Option<Activation>;
    let ends: [End; 3] = [
        |mesh, address| mesh.recycle(address),
        |mesh, address| mesh.delete(address),
        // By idleness.
        |mesh, address| mesh.activation_of(address),
    ];
    let mut all = Vec::new();
    for end in ends {
        let (mesh, owner, activation) = owned();
        let _fault = mesh.hold_state(&owner);
        let stream = StreamId::mint();
        let mut asks =
            [mesh.subscribe(&owner, stream), mesh.subscribe(&owner, stream)].map(Box::pin);
        for ask in &mut asks {
            assert!(ask.now_or_never().is_none());
        }
        settle().await;
        end(&mesh, &owner).expect("an owner is there");
        for ask in asks {
            let refusal = ask.await.unwrap_err();
            let (owner, activation) = (owner.clone(), activation.clone());
            all.push(Said { by: "Mesh::hold_state", refusal, owner, activation });
        }
    }
    all
}

#[tokio::test(start_paused = true)]
async fn every_seam_of_an_owner_of_the_mesh_is_recognised() {
    for &seam in Seam::ALL {
        let all = match seam {
            Seam::Door => door().await,
            Seam::Creation => creation().await,
            Seam::Leaving => leaving().await,
            Seam::Mailbox => mailbox().await,
            Seam::Gate => gate().await,
            Seam::Reassert => reassert().await,
            // No handler of the mesh meets the end of its own owner.
            Seam::Handler => continue,
        };
        assert!(!all.is_empty(), "{seam:?}");
        for said in &all {
            is_recognised(seam, said);
        }
    }
}

/// C30 on the mesh: nobody hears of a beat that a closing owner meets, at its door or in its mailbox.
#[tokio::test(start_paused = true)]
async fn a_beat_to_a_closing_owner_is_not_answered() {
    let (mesh, owner, activation) = owned();
    settle().await;
    let stream = StreamId::mint();
    let mut news = mesh.news(&owner, stream);
    mesh.beat(&owner, stream); // in its mailbox
    mesh.dispose(&owner);
    mesh.beat(&owner, stream); // at its door
    mesh.teardown_of(&activation).unwrap().await;
    settle().await;
    assert!(news.next().now_or_never().is_none());
}
