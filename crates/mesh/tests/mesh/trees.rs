//! Parents and children: how a tree of owners ends, and who is told what (R37, R38, R40, R43, C33).

use futures::TryFutureExt;

use crate::*;

/// `prices`, with `prices/eur` and `prices/usd` below it, and `prices/eur/spot` at the bottom.
struct Tree {
    mesh: Mesh<u64>,
    addresses: Vec<Address>,
    owners: Vec<Activation>,
}

const PATHS: [&str; 4] = ["prices", "prices/eur", "prices/usd", "prices/eur/spot"];

impl Tree {
    fn new() -> Self {
        let mesh = Mesh::new();
        let addresses: Vec<_> = PATHS.map(address).into();
        let owners = addresses.iter().map(|address| {
            mesh.store(address, 1);
            mesh.activate(address).unwrap()
        });
        let owners = owners.collect();
        Tree { mesh, addresses, owners }
    }

    fn root(&self) -> &Address {
        &self.addresses[0]
    }

    async fn refusals(&self) -> Vec<Refusal> {
        join_all(self.addresses.iter().map(|address| refused(&self.mesh, address))).await
    }
}

/// The word of a parent that ends, on its child's address: the route's, and not the child's.
fn is_relayed(refusal: &Refusal, child: &Address, parent: &Address) {
    assert_eq!(refusal.promise(child), Some(Rejection::by_route()), "{refusal}");
    assert!(refusal.is_never_applied(child));
    assert!(answered_by(&refusal.message, parent) && !answered_by(&refusal.message, child));
    assert!(refusal.message.contains(&format!("cannot create {child}")), "{refusal}");
}

#[tokio::test(start_paused = true)]
async fn a_child_starts_where_its_parent_lives() {
    let (mesh, parent) = (Mesh::<u64>::new(), address("prices"));
    mesh.add_host("host-2");
    let (child, orphan) = (address("prices/eur"), address("rates/usd"));
    for address in [&parent, &child, &orphan] {
        mesh.store(address, 1);
    }
    let cut_off = mesh.refuse_host("host-1");
    mesh.activate(&parent).unwrap();
    drop(cut_off);
    mesh.activate(&child).unwrap();
    mesh.activate(&orphan).unwrap();
    let host = |address| mesh.host_of(address).unwrap();
    assert_eq!([host(&parent), host(&child)], ["host-2", "host-2"]);
    assert_eq!(host(&orphan), "host-1");
}

/// R58, R45: where its parent's host leaves, a child starts elsewhere, or not at all.
#[tokio::test(start_paused = true)]
async fn a_child_does_not_start_on_a_host_that_leaves() {
    for hosts in [1, 2] {
        let (mesh, parent) = (Mesh::<u64>::new(), address("prices"));
        let child = address("prices/eur");
        for address in [&parent, &child] {
            mesh.store(address, 1);
        }
        let owner = mesh.activate(&parent).unwrap();
        let fault = mesh.linger_host("host-1");
        if hosts == 1 {
            let refusal = refused(&mesh, &child).await;
            is_by_owner(&refusal, &child, refusal.activation.as_ref().expect("one token"));
            assert_ne!(refusal.activation, Some(owner));
            assert_eq!(mesh.activation_of(&child), None);
        } else {
            mesh.add_host("host-2");
            let mut prices = subscribe(&mesh, &child).await;
            assert_eq!(mesh.host_of(&child).as_deref(), Some("host-2"));
            mesh.write(&child, 2).await.unwrap();
            assert_eq!((value(&mut prices).await, value(&mut prices).await), (1, 2));
        }
        drop(fault);
    }
}

/// R37, R38, R43: all are told before anyone is dead, children first to be gone, and only the root's end
/// is announced.
#[tokio::test(start_paused = true)]
async fn a_tree_ends_together_children_first_and_in_silence() {
    let tree = Tree::new();
    let mesh = &tree.mesh;
    mesh.set_teardown(3 * SECOND);
    let readers = join_all(tree.addresses.iter().map(|it| subscribe(mesh, it))).await;
    let mut news: Vec<_> =
        readers.iter().map(|prices| mesh.news(prices.address(), prices.stream_id())).collect();
    let mut joins: Vec<_> =
        tree.owners.iter().map(|owner| mesh.teardown_of(owner).unwrap()).collect();

    let began = Instant::now();
    mesh.recycle(tree.root());
    settle().await;
    for ((refusal, address), owner) in
        tree.refusals().await.iter().zip(&tree.addresses).zip(&tree.owners)
    {
        is_by_owner(refusal, address, owner);
        // R40: nobody says who asked, so below the root it was the root.
        let is_root = address == tree.root();
        let asked = if is_root { "recycle" } else { "dispose asked for by prices" };
        assert!(refusal.message.contains(asked), "{refusal}");
    }

    // Over when its children are: the bottom takes its time from when it was told, as all do.
    let gone: Vec<_> = join_all(joins.iter_mut().enumerate().map(async |(at, join)| {
        in_time(join).await;
        (at, began.elapsed())
    }))
    .await;
    for (_, after) in &gone[1..] {
        assert!(*after <= gone[0].1, "{gone:?}");
    }
    assert_eq!((gone[1].1, gone[2].1, gone[3].1), (gone[3].1, 3 * SECOND, 3 * SECOND));
    settle().await;
    assert_eq!(told(&mut news[0]), [News::Ended(Some(tree.owners[0].clone()))]);
    assert!(news[1..].iter_mut().all(|news| told(news).is_empty()));
    for (at, address) in tree.addresses.iter().enumerate() {
        let next = subscribe(mesh, address).await;
        assert_ne!(next.activation(), &tree.owners[at]);
    }
}

/// R37: the whole subtree is frozen first. The parent's word on its child's address is not the child's.
#[tokio::test(start_paused = true)]
async fn nobody_is_born_in_a_tree_that_ends() {
    let (mesh, parent) = (Mesh::<u64>::new(), address("prices"));
    let (child, grandchild) = (address("prices/eur"), address("prices/eur/spot"));
    for address in [&parent, &child, &grandchild] {
        mesh.store(address, 1);
    }
    let [first, middle] = [&parent, &child].map(|address| mesh.activate(address).unwrap());

    // While the replies are out the parent itself still serves, and what is below it is frozen.
    let held = mesh.hold_store(&parent);
    settle().await;
    let mut write = mesh.write(&parent, 2).boxed();
    assert!((&mut write).now_or_never().is_none());
    settle().await;
    mesh.dispose(&parent);
    assert!(mesh.subscribe(&parent, StreamId::mint()).await.is_ok());
    assert!(mesh.subscribe(&child, StreamId::mint()).await.is_ok());
    let refusal = refused(&mesh, &grandchild).await;
    is_relayed(&refusal, &grandchild, &child);
    assert!(refusal.message.contains("asked for by prices"), "{refusal}");
    is_relayed(&mesh.activate(&grandchild).unwrap_err(), &grandchild, &child);
    assert_eq!(mesh.activation_of(&grandchild), None);

    drop(held);
    assert_eq!(write.await, Ok(2));
    torn_down(&mesh, &middle).await;
    torn_down(&mesh, &first).await;
    settle().await;
    assert!(mesh.subscribe(&grandchild, StreamId::mint()).await.is_ok());
}

/// A rider of the child rides out its parent's end, and is served by the next.
#[tokio::test(start_paused = true)]
async fn a_child_that_is_asked_for_while_its_parent_ends_comes_after_it() {
    let (mesh, parent) = (Mesh::<u64>::new(), address("prices"));
    let child = address("prices/eur");
    for address in [&parent, &child] {
        mesh.store(address, 1);
    }
    let owner = mesh.activate(&parent).unwrap();
    mesh.set_teardown(3 * SECOND);
    mesh.recycle(&parent);
    let mut prices = mesh.ride_out(&child);
    assert_eq!(in_time(prices.try_next()).await.unwrap().unwrap().value, 1);
    assert!(mesh.teardown_of(&owner).unwrap().now_or_never().is_some());
    assert!(mesh.asks(&child) > 2);
}

/// C33, R41, R44: a tree that holds requests and asks of all kinds answers each of them, in process.
#[tokio::test(start_paused = true)]
async fn a_tree_that_ends_answers_all_that_it_holds() {
    for by_mailbox in [false, true] {
        let (mesh, addresses) = (Mesh::<u64>::new(), PATHS.map(address));
        let mut held = Vec::new();
        for address in &addresses {
            mesh.store(address, 1);
            held.push(mesh.hold_state(address));
            held.push(mesh.hold_store(address));
        }
        let owners = [0, 1, 2, 3].map(|at| mesh.activate(&addresses[at]).unwrap());
        settle().await;

        let mut waiting = Vec::new();
        for address in &addresses {
            let stream = StreamId::mint();
            waiting.push(mesh.subscribe(address, stream).map_ok(|_| ()).boxed());
            waiting.push(mesh.subscribe(address, stream).map_ok(|_| ()).boxed());
            waiting.push(mesh.read(address).map_ok(|_| ()).boxed());
            waiting.push(mesh.write(address, 2).map_ok(|_| ()).boxed());
            waiting.push(mesh.patch(address, |it| *it += 1).map_ok(|_| ()).boxed());
        }
        for request in &mut waiting {
            assert!(request.now_or_never().is_none());
        }
        if !by_mailbox {
            settle().await;
        }
        mesh.dispose(&addresses[0]);
        let began = Instant::now();
        let answers = in_time(join_all(waiting)).await;
        // Every owner may wait 2 s for its replies, and the parent's goes first.
        assert!(began.elapsed() <= 6 * SECOND, "{:?}", began.elapsed());
        for (at, answer) in answers.into_iter().enumerate() {
            let (owner, what) = (at / 5, at % 5);
            let refusal = answer.expect_err("nothing can be finished");
            is_by_owner(&refusal, &addresses[owner], &owners[owner]);
            assert!(refusal.message.ends_with("to get the authoritative answer."), "{refusal}");
            let gate = match what {
                0 | 1 => "cannot finish SubscribeRequest",
                2 if !by_mailbox => "cannot finish ReadRequest, behind gate `loading`;",
                3 if !by_mailbox => "cannot finish WriteRequest, behind gate `loading` and `store`",
                4 if !by_mailbox => "cannot finish PatchRequest, behind gate `loading` and `store`",
                _ => "cannot finish ",
            };
            assert!(refusal.message.contains(gate), "{refusal}");
        }
        for owner in &owners {
            torn_down(&mesh, owner).await;
        }
        drop(held);

        // C33: the write is asked again, and applied once.
        for address in &addresses {
            assert_eq!(mesh.write(address, 3).await, Ok(2));
        }
    }
}

/// R38: a child that does not end holds its parent for 5 s; R39: it is forced itself.
#[tokio::test(start_paused = true)]
async fn a_child_that_does_not_end_does_not_hold_its_parent() {
    let tree = Tree::new();
    let mesh = &tree.mesh;
    settle().await;
    let held = mesh.hold_store(&tree.addresses[2]);
    mesh.set_teardown(Duration::ZERO);
    mesh.recycle(tree.root());
    mesh.set_teardown(Duration::MAX); // for those that it tells
    let began = Instant::now();
    torn_down(mesh, &tree.owners[0]).await;
    assert_eq!(began.elapsed(), 5 * SECOND);
    torn_down(mesh, &tree.owners[2]).await;
    assert_eq!(began.elapsed(), 8 * SECOND);
    torn_down(mesh, &tree.owners[1]).await;
    torn_down(mesh, &tree.owners[3]).await;
    assert!(began.elapsed() <= 32 * SECOND);
    drop(held);
}

/// A killed parent tells its children nothing: they live, and are the next one's no more.
#[tokio::test(start_paused = true)]
async fn the_children_of_a_killed_owner_live() {
    let tree = Tree::new();
    let mesh = &tree.mesh;
    mesh.set_lease(Duration::ZERO);
    mesh.kill(tree.root());
    settle().await;
    assert!(mesh.subscribe(&tree.addresses[1], StreamId::mint()).await.is_ok());
    let next = mesh.activate(tree.root()).unwrap();
    mesh.recycle(tree.root());
    torn_down(mesh, &next).await;
    assert_eq!(mesh.activation_of(&tree.addresses[1]).as_ref(), Some(&tree.owners[1]));
}

/// A killed child is not waited for without end, and its siblings end all the same.
#[tokio::test(start_paused = true)]
async fn a_killed_child_does_not_hold_its_parent() {
    let tree = Tree::new();
    let mesh = &tree.mesh;
    settle().await;
    mesh.kill(&tree.addresses[1]);
    mesh.recycle(tree.root());
    let began = Instant::now();
    torn_down(mesh, &tree.owners[2]).await;
    torn_down(mesh, &tree.owners[0]).await;
    assert!(began.elapsed() <= 6 * SECOND, "{:?}", began.elapsed());
}

/// R45: a tree that is drained moves whole, without an ask.
#[tokio::test(start_paused = true)]
async fn a_tree_moves_whole() {
    let tree = Tree::new();
    let mesh = &tree.mesh;
    mesh.add_host("host-2");
    let fault = mesh.drain_host("host-1");
    for owner in &tree.owners {
        torn_down(mesh, owner).await;
    }
    settle().await;
    for (address, owner) in tree.addresses.iter().zip(&tree.owners) {
        assert_eq!(mesh.host_of(address).as_deref(), Some("host-2"), "{address}");
        assert_ne!(mesh.activation_of(address).as_ref(), Some(owner));
        assert_eq!(mesh.asks(address), 0);
    }
    drop(fault);

    // It is a tree there too, and ends as one.
    let moved = tree.addresses.iter().map(|address| mesh.activation_of(address).unwrap());
    let moved: Vec<_> = moved.collect();
    mesh.dispose(tree.root());
    for owner in &moved {
        torn_down(mesh, owner).await;
    }
}
