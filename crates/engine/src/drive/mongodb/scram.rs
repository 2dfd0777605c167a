//! Logging in: SCRAM-SHA-256 (RFC 5802, RFC 7677), as MongoDB carries it.

use std::cell::RefCell;
use std::num::NonZeroU32;

use data_encoding::BASE64;
use ring::rand::{SecureRandom, SystemRandom};
use ring::{digest, hmac, pbkdf2};

use super::answer::Answer;
use super::bson::{Document, Malformed, Value};
use super::link::Link;
use super::message::message;
use crate::drive::secure::Login;
use crate::drive::{Failure, Fault};

/// Rounds that a server must ask for at least: with fewer a password is easily guessed by whoever
/// pretends to be the server.
const FEWEST_ROUNDS: u32 = 4096;
/// Random bytes of the client's nonce.
const NONCE: usize = 24;

/// Logging in, again and again as the same user.
pub struct Scram {
    user: String,
    login: Login,
    /// The database that knows the user.
    source: String,
    /// Making it takes longer than an operation, and every connection needs it.
    salted: RefCell<Option<Salted>>,
}

/// What the password becomes by the salt and the rounds that a server asks for.
#[derive(Clone)]
struct Salted {
    salt: Vec<u8>,
    rounds: NonZeroU32,
    key: [u8; digest::SHA256_OUTPUT_LEN],
}

/// The client's last message, and the only one that a server which knows the password answers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Proof {
    message: String,
    answer: String,
}

impl Scram {
    /// By a user and a password, which the database `source` knows. The error is one sentence.
    pub fn new(login: Login, source: &str) -> Result<Self, String> {
        let Some(user) = login.user().map(str::to_owned) else {
            return Err(
                "the driver `mongodb` logs in as a user; `credentials` must name one".to_owned(),
            );
        };
        // Others would have to be brought into a normal form first (RFC 4013).
        if !login
            .password()
            .bytes()
            .all(|byte| (b' '..=b'~').contains(&byte))
        {
            return Err(
                "the driver `mongodb` takes passwords of printable ASCII characters only"
                    .to_owned(),
            );
        }
        Ok(Self {
            user,
            login,
            source: source.to_owned(),
            salted: RefCell::new(None),
        })
    }

    /// Log in on a connection. A failure that lasts says what to do.
    pub async fn perform(&self, link: &mut Link) -> Result<(), Failure> {
        let refused = |failure: Failure| {
            if !failure.lasting {
                return failure;
            }
            let message = format!(
                "{}; {}; or type the right --user NAME, or ?authSource= with the database that \
                 knows the user",
                failure.message,
                self.login.remedy()
            );
            Failure { message, ..failure }
        };
        self.conversation(link).await.map_err(refused)
    }

    async fn conversation(&self, link: &mut Link) -> Result<(), Failure> {
        let nonce = nonce()?;
        let bare = self.bare(&nonce);
        let mut request = Vec::new();
        message(&mut request, 0, |body| {
            body.integer("saslStart", 1);
            body.text("mechanism", "SCRAM-SHA-256");
            body.binary("payload", format!("n,,{bare}").as_bytes());
            body.document("options", |options| {
                options.boolean("skipEmptyExchange", true);
            });
            body.text("$db", &self.source);
        });
        let challenge = Step::read(link.ask(&mut request).await?)?;
        let proof = self.proof(&bare, &nonce, &challenge.payload)?;
        self.proceed(&mut request, &challenge, &proof.message);
        let mut step = Step::read(link.ask(&mut request).await?)?;
        if step.payload != proof.answer {
            return Err(Failure::new(
                Fault::Protocol,
                "the server does not show that it knows the password",
            ));
        }
        if !step.done {
            self.proceed(&mut request, &challenge, "");
            step = Step::read(link.ask(&mut request).await?)?;
        }
        if step.done {
            Ok(())
        } else {
            Err(Malformed.into())
        }
    }

    fn proceed(&self, request: &mut Vec<u8>, challenge: &Step, payload: &str) {
        message(request, 0, |body| {
            body.integer("saslContinue", 1);
            body.integer("conversationId", challenge.conversation);
            body.binary("payload", payload.as_bytes());
            body.text("$db", &self.source);
        });
    }

    /// The client's first message without its head.
    fn bare(&self, nonce: &str) -> String {
        let user = self.user.replace('=', "=3D").replace(',', "=2C");
        format!("n={user},r={nonce}")
    }

    /// What follows from the server's first message.
    fn proof(&self, bare: &str, nonce: &str, challenge: &str) -> Result<Proof, Malformed> {
        let mut parts = challenge.split(',');
        let mut part = |name: &str| parts.next()?.strip_prefix(name);
        let (Some(both), Some(salt), Some(rounds)) = (part("r="), part("s="), part("i=")) else {
            return Err(Malformed);
        };
        let salt = BASE64.decode(salt.as_bytes()).map_err(|_| Malformed)?;
        let rounds: NonZeroU32 = rounds.parse().map_err(|_| Malformed)?;
        if rounds.get() < FEWEST_ROUNDS || !both.starts_with(nonce) || both == nonce {
            return Err(Malformed);
        }
        let key = self.salted(&salt, rounds);
        let said = format!("c=biws,r={both}");
        let all = format!("{bare},{challenge},{said}");
        let client = sign(&key, b"Client Key");
        let stored = digest::digest(&digest::SHA256, client.as_ref());
        let signature = sign(stored.as_ref(), all.as_bytes());
        let proof: Vec<u8> = client
            .as_ref()
            .iter()
            .zip(signature.as_ref())
            .map(|(one, other)| one ^ other)
            .collect();
        let server = sign(&key, b"Server Key");
        let answer = sign(server.as_ref(), all.as_bytes());
        Ok(Proof {
            message: format!("{said},p={}", BASE64.encode(&proof)),
            answer: format!("v={}", BASE64.encode(answer.as_ref())),
        })
    }

    fn salted(&self, salt: &[u8], rounds: NonZeroU32) -> [u8; digest::SHA256_OUTPUT_LEN] {
        let mut known = self.salted.borrow_mut();
        if let Some(known) = &*known
            && (known.salt.as_slice(), known.rounds) == (salt, rounds)
        {
            return known.key;
        }
        let mut key = [0; digest::SHA256_OUTPUT_LEN];
        let password = self.login.password().as_bytes();
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, rounds, salt, password, &mut key);
        *known = Some(Salted {
            salt: salt.to_vec(),
            rounds,
            key,
        });
        key
    }
}

/// One answer of the server in the conversation.
struct Step {
    conversation: i32,
    payload: String,
    done: bool,
}

impl Step {
    fn read(answer: Document<'_>) -> Result<Self, Failure> {
        Answer::read(answer).map_err(|refusal| refusal.failure)?;
        let conversation = answer.get("conversationId")?.and_then(Value::integer);
        let Some(Value::Binary(payload)) = answer.get("payload")? else {
            return Err(Malformed.into());
        };
        Ok(Self {
            conversation: conversation
                .and_then(|number| i32::try_from(number).ok())
                .ok_or(Malformed)?,
            payload: String::from_utf8_lossy(payload).into_owned(),
            done: answer.get("done")? == Some(Value::Boolean(true)),
        })
    }
}

fn nonce() -> Result<String, Failure> {
    let mut bytes = [0; NONCE];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| Failure::new(Fault::Connection, "the kernel gives no random bytes"))?;
    Ok(BASE64.encode(&bytes))
}

fn sign(key: &[u8], message: &[u8]) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::plan;
    use wire::load::{Credentials, Secret};

    const NONCE: &str = "rOprNGfwEbeRWgbNEkqO";
    const CHALLENGE: &str =
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";

    /// A log-in by a user and a password.
    fn scram(user: Option<&str>, password: &str) -> Result<Scram, String> {
        let path = std::env::temp_dir().join(format!(
            "dunnage-scram-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        std::fs::write(&path, password).unwrap();
        let mut target = plan().target;
        target.credentials = Some(Credentials {
            user: user.map(str::to_owned),
            password: Secret::File(path.display().to_string()),
        });
        let login = Login::of(&target);
        std::fs::remove_file(&path).unwrap();
        Scram::new(login?.unwrap(), "admin")
    }

    fn login(user: &str) -> Scram {
        scram(Some(user), "pencil").unwrap_or_else(|what| panic!("{what}"))
    }

    #[test]
    fn the_conversation_is_that_of_the_example_in_rfc_7677() {
        let login = login("user");
        let bare = login.bare(NONCE);
        assert_eq!(bare, "n=user,r=rOprNGfwEbeRWgbNEkqO");
        let expected = Proof {
            message: "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                      p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
                .to_owned(),
            answer: "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=".to_owned(),
        };
        for _ in ["made", "remembered"] {
            let proof = login.proof(&bare, NONCE, CHALLENGE);
            assert_eq!(proof, Ok(expected.clone()));
        }
        let other = CHALLENGE.replace("i=4096", "i=4097");
        assert_ne!(login.proof(&bare, NONCE, &other), Ok(expected));
    }

    #[test]
    fn what_separates_parts_of_a_message_is_escaped_in_a_users_name() {
        assert_eq!(login("a=b,c").bare("x"), "n=a=3Db=2Cc,r=x");
    }

    #[test]
    fn a_server_that_asks_for_something_senseless_gets_no_proof() {
        let login = login("user");
        let refused = |challenge: &str| login.proof("n=user,r=abc", "abc", challenge);
        for challenge in [
            "",
            "r=abcd",
            "r=abcd,s=W22Z",
            "r=abcd,s=W22Z,i=4095",
            "r=abcd,s=W22Z,i=0",
            "r=abcd,s=W2,i=4096",
            "r=xbcd,s=W22Z,i=4096",
            "r=abc,s=W22Z,i=4096",
            "m=x,r=abcd,s=W22Z,i=4096",
        ] {
            assert_eq!(refused(challenge), Err(Malformed), "{challenge}");
        }
        assert!(refused("r=abcd,s=W22Z,i=4096").is_ok());
    }

    #[test]
    fn two_nonces_are_never_alike() {
        let (one, other) = (nonce().unwrap(), nonce().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.len(), 32);
        assert!(!one.contains(','));
    }

    #[test]
    fn a_user_and_a_password_of_ascii_are_needed() {
        let asked = |user: Option<&str>, password: &str| {
            scram(user, password).map(|scram| scram.login.password().to_owned())
        };
        assert_eq!(asked(Some("u"), "pencil\n"), Ok("pencil".to_owned()));
        let said = asked(None, "pencil").unwrap_err();
        assert!(said.contains("must name one"), "{said}");
        let said = asked(Some("u"), "bleistift-ä").unwrap_err();
        assert!(said.contains("printable ASCII"), "{said}");
        assert!(!said.contains("bleistift"), "{said}");
    }
}
