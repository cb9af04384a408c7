//! The reader that most programs have: it asks again at once, three times, and then the budget is gone.

use std::rc::Rc;

use futures::StreamExt;
use rideout::{News, activation::StreamId};

use super::events::{Account, Stage};

const RETRIES: u32 = 3;

/// Follows the address until the end. It hears the owner's goodbye, as a good client does.
pub(crate) async fn follow(stage: Rc<Stage>) -> Account {
    let mut account = Account::default();
    let over = stage.end();
    tokio::pin!(over);
    let own = StreamId::mint();
    let mut news = stage.mesh.news(&stage.address, own);
    let mut retries = 0;
    while retries <= RETRIES {
        account.ask(stage.now());
        stage.meet("retry", format_args!("ask {}", account.asks));
        let Ok(answer) = stage.mesh.subscribe(&stage.address, own).await else {
            retries += 1;
            stage.meet("retry", format_args!("refused, {retries} in a row"));
            continue;
        };
        let mut items = answer.into_stream();
        retries = 0;
        loop {
            tokio::select! {
                biased;
                () = &mut over => return account,
                item = items.next() => match item {
                    Some(Ok(item)) => {
                        stage.meet("retry", format_args!("item {}", item.value));
                        account.see(item.value);
                        account.end = format!("live, last value {}", item.value);
                    }
                    Some(Err(_)) | None => break,
                },
                Some(News::Ended(_)) = news.next() => break,
            }
        }
    }
    stage.meet("retry", "gives up, and what is written from now on will not reach it");
    account.end = format!("silent since {} ms", stage.now().as_millis());
    account
}
