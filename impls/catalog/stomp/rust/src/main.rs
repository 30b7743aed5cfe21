//! A program around async-stomp: told by JSON lines, it calls the library.
//!
//! The library gives frames to whoever asks for them, and leaves it to its user to close after an ERROR.

use async_stomp::client::{self, ClientTransport, Connector, Subscriber};
use async_stomp::{AckMode, FromServer, Message, ToServer};
use futures::{SinkExt, StreamExt};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(5);

type Answer = Result<Value, String>;

struct Testee {
    transport: Option<ClientTransport>,
    why: String,
    inbox: VecDeque<Message<FromServer>>,
    receipts: HashSet<String>,
    acks: HashMap<String, Option<String>>,
    seen: usize,
    counter: usize,
}

fn text(given: &Value, name: &str) -> String {
    given[name].as_str().unwrap_or("").to_string()
}

fn octets(given: &str) -> Result<Vec<u8>, String> {
    (0..given.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&given[at..at + 2], 16).map_err(|error| error.to_string()))
        .collect()
}

impl Testee {
    fn over(&mut self, why: String) -> String {
        if self.why.is_empty() {
            self.why = why;
        }
        self.transport = None;
        self.why.clone()
    }

    fn live(&mut self) -> Result<&mut ClientTransport, String> {
        self.transport.as_mut().ok_or(self.why.clone())
    }

    /// Take the next frame if there is one in time.
    async fn hear(&mut self, patience: Duration) -> Result<bool, String> {
        let transport = self.live()?;
        let Ok(next) = tokio::time::timeout(patience, transport.next()).await else {
            return Ok(false);
        };
        match next {
            None => Err(self.over("the connection has ended".into())),
            Some(Err(error)) => Err(self.over(error.to_string())),
            Some(Ok(message)) => {
                match &message.content {
                    FromServer::Message { .. } => self.inbox.push_back(message),
                    FromServer::Receipt { receipt_id } => {
                        self.receipts.insert(receipt_id.clone());
                    }
                    FromServer::Error { message, .. } => {
                        let why = format!("ERROR: {}", message.clone().unwrap_or_default());
                        return Err(self.over(why));
                    }
                    FromServer::Connected { .. } => (),
                }
                Ok(true)
            }
        }
    }

    /// Send a frame, with a header that asks for a receipt if there is to be one, and wait for that.
    async fn say(&mut self, given: &Value, message: impl Into<Message<ToServer>>) -> Answer {
        let mut message: Message<ToServer> = message.into();
        let receipt = match &given["receipt"] {
            Value::String(name) => Some(name.clone()),
            Value::Bool(true) => {
                self.counter += 1;
                Some(format!("r-{}", self.counter))
            }
            _ => None,
        };
        if let Some(name) = &receipt {
            message.extra_headers.push((b"receipt".to_vec(), name.as_bytes().to_vec()));
        }
        self.live()?.send(message).await.map_err(|error| error.to_string())?;
        let until = Instant::now() + PATIENCE;
        while let Some(name) = &receipt {
            if self.receipts.contains(name) {
                break;
            }
            if !self.hear(until.saturating_duration_since(Instant::now())).await? {
                return Err("no receipt came".into());
            }
        }
        Ok(json!(true))
    }

    async fn connect(&mut self, given: &Value) -> Answer {
        if !given["versions"].as_array().is_some_and(|all| all.contains(&json!("1.2"))) {
            return Err("unsupported".into());
        }
        self.over("connected again".into());
        *self = Testee { counter: self.counter, ..Testee::new() };
        let mut connector = Connector::builder().server(text(given, "address")).virtualhost(text(given, "host"));
        if let Some(login) = given["login"].as_str() {
            connector = connector.login(login.into());
        }
        if let Some(passcode) = given["passcode"].as_str() {
            connector = connector.passcode(passcode.into());
        }
        let beats = |at: usize| given["heart_beat"][at].as_u64().unwrap_or(0) as u32;
        if beats(0) + beats(1) > 0 {
            connector = connector.heartbeat(beats(0), beats(1));
        }
        let made = tokio::time::timeout(PATIENCE, connector.connect()).await;
        self.transport = Some(made.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?);
        self.why.clear();
        Ok(json!(true))
    }

    async fn send(&mut self, given: &Value) -> Answer {
        let pairs = given["headers"].as_object().cloned().unwrap_or_default();
        let headers = pairs.into_iter().map(|(name, value)| (name, value.as_str().unwrap_or("").to_string())).collect();
        let frame = ToServer::Send {
            destination: text(given, "destination"),
            transaction: given["transaction"].as_str().map(Into::into),
            headers: Some(headers),
            body: Some(octets(given["body_hex"].as_str().unwrap_or(""))?),
        };
        self.say(given, frame).await
    }

    async fn subscribe(&mut self, given: &Value) -> Answer {
        let mode = match given["ack"].as_str() {
            Some("client") => AckMode::Client,
            Some("client-individual") => AckMode::ClientIndividual,
            _ => AckMode::Auto,
        };
        let subscriber = Subscriber::builder().destination(text(given, "destination")).id(text(given, "sub")).ack(mode);
        self.say(given, subscriber.subscribe()).await
    }

    async fn settle(&mut self, given: &Value, ack: bool) -> Answer {
        let found = self.acks.get(&text(given, "ref")).cloned().ok_or("there is no such message")?;
        let id = found.ok_or("the message has no ack header")?;
        let transaction = given["transaction"].as_str().map(Into::into);
        let frame = if ack { ToServer::Ack { id, transaction } } else { ToServer::Nack { id, transaction } };
        self.say(given, frame).await
    }

    async fn receive(&mut self, given: &Value) -> Answer {
        let until = Instant::now() + Duration::from_secs_f64(given["timeout_ms"].as_f64().unwrap_or(0.0) / 1000.0);
        while self.inbox.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if !self.hear(left).await? {
                return Ok(Value::Null);
            }
        }
        let Some(message) = self.inbox.pop_front() else { return Ok(Value::Null) };
        let FromServer::Message { destination, message_id, subscription, ack, headers, body } = message.content else {
            return Ok(Value::Null);
        };
        self.seen += 1;
        let name = self.seen.to_string();
        let mut shown = Map::new();
        let shown_text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
        let extra = message.extra_headers.iter().map(|(name, value)| (shown_text(name), shown_text(value)));
        for (name, value) in headers.into_iter().chain(extra) {
            shown.entry(name).or_insert(json!(value));
        }
        shown.insert("destination".into(), json!(destination));
        shown.insert("message-id".into(), json!(message_id));
        shown.insert("subscription".into(), json!(subscription));
        if let Some(id) = &ack {
            shown.insert("ack".into(), json!(id));
        }
        self.acks.insert(name.clone(), ack);
        let body_hex: String = body.unwrap_or_default().iter().map(|octet| format!("{octet:02x}")).collect();
        Ok(json!({"ref": name, "headers": shown, "body_hex": body_hex, "sub": subscription}))
    }

    async fn disconnect(&mut self) -> Answer {
        if let Some(mut transport) = self.transport.take() {
            self.why = "disconnected".into();
            self.counter += 1;
            let leaving = client::disconnect(&mut transport, format!("r-{}", self.counter));
            let left = tokio::time::timeout(PATIENCE, leaving).await;
            left.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        }
        Ok(json!(true))
    }

    async fn carry_out(&mut self, given: &Value) -> Answer {
        let transaction = text(given, "transaction");
        match given["op"].as_str().unwrap_or("") {
            "connect" => self.connect(given).await,
            "send" => self.send(given).await,
            "subscribe" => self.subscribe(given).await,
            "unsubscribe" => self.say(given, ToServer::Unsubscribe { id: text(given, "sub") }).await,
            "ack" => self.settle(given, true).await,
            "nack" => self.settle(given, false).await,
            "begin" => self.say(given, ToServer::Begin { transaction }).await,
            "commit" => self.say(given, ToServer::Commit { transaction }).await,
            "abort" => self.say(given, ToServer::Abort { transaction }).await,
            "receive" => self.receive(given).await,
            "disconnect" => self.disconnect().await,
            _ => Err("unsupported".into()),
        }
    }

    fn new() -> Testee {
        Testee {
            transport: None,
            why: "not connected".into(),
            inbox: VecDeque::new(),
            receipts: HashSet::new(),
            acks: HashMap::new(),
            seen: 0,
            counter: 0,
        }
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let mut testee = Testee::new();
    for line in std::io::stdin().lock().lines() {
        let said: Value = serde_json::from_str(&line.expect("a line")).expect("an object");
        let answer = match runtime.block_on(testee.carry_out(&said)) {
            Ok(value) => json!({"id": said["id"], "ok": value}),
            Err(error) => json!({"id": said["id"], "error": if error.is_empty() { "it failed".into() } else { error }}),
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}").and_then(|()| out.flush()).expect("stdout");
    }
}
