//! What a connection begins with.

use super::link::Link;
use super::resp::{Tree, command, word};
use super::settings::Role;
use crate::drive::secure::Login;
use crate::drive::{Failure, Fault};

/// How a server begins what it says when it will say something else later.
const NOT_NOW: [&str; 4] = ["LOADING", "MASTERDOWN", "BUSY", "ERR max number of clients"];

/// What servers say to those who log in with the only password where there is none.
const NO_PASSWORDS: [&str; 2] = ["without any password configured", "but no password is set"];

/// How a server begins what it says to those that it will not serve without a password, or at all.
const NOT_YOU: [&str; 2] = ["NOAUTH", "DENIED"];

/// What every connection begins with.
pub struct Greeting {
    login: Option<Login>,
    /// Whether replicas of a cluster are told to answer reads, rather than send them elsewhere.
    readonly: bool,
}

impl Greeting {
    /// `readonly`: whether replicas of a cluster are read from.
    pub fn new(login: Option<Login>, readonly: bool) -> Self {
        Self { login, readonly }
    }

    /// Log in, and make sure that a server is a Redis, and one that is to be a replica is one. A
    /// failure counts as one to connect; it never holds the password.
    pub async fn exchange(&self, link: &mut Link, role: Role) -> Result<(), Failure> {
        if let Some(login) = &self.login {
            let mut words = vec!["AUTH"];
            words.extend(login.user());
            words.push(login.password());
            let answer = link.ask(&request(&words)).await;
            answer.map_err(|failure| {
                let said = login.masked(&failure.message);
                let remedy = if NO_PASSWORDS.iter().any(|part| said.contains(part)) {
                    format!("it has no passwords; {}", login.unneeded())
                } else {
                    format!("{}; or type the right --user NAME", login.remedy())
                };
                refused(&failure, "cannot log in", &said, &remedy)
            })?;
        }
        if self.readonly {
            let answer = link.ask(&request(&["READONLY"])).await;
            answer.map_err(|failure| {
                let remedy = "a server that is no cluster is driven without `cluster`";
                refused(
                    &failure,
                    "cannot read from replicas",
                    &failure.message,
                    remedy,
                )
            })?;
        }
        if self.login.is_none() && !self.readonly && role == Role::Primary {
            ping(link).await?;
        }
        if role == Role::Replica {
            let answer = link.ask(&request(&["HELLO", "2"])).await;
            let answer = answer.map_err(|failure| failed("no role", &failure.message))?;
            match told(&answer, "role") {
                Some("replica") => {}
                Some(role) => return Err(failed("not a replica", role)),
                None => return Err(failed("no role", "the server does not tell it")),
            }
        }
        Ok(())
    }
}

/// Whoever answers this speaks the protocol of Redis.
async fn ping(link: &mut Link) -> Result<(), Failure> {
    match link.ask(&request(&["PING"])).await {
        Ok(Tree::Text(answer)) if answer == "PONG" => Ok(()),
        Ok(_) => Err(failed("no Redis", "it does not answer `PING` by `PONG`")),
        Err(failure) if failure.fault == Fault::Server => {
            let said = &failure.message;
            if NOT_YOU.iter().any(|begin| said.starts_with(begin)) {
                let remedy = "put the password into the variable `DUNNAGE_PASSWORD`, or into a \
                     file for --password-file";
                Err(Failure::lasting(format!("{said}; {remedy}")))
            } else if NOT_NOW.iter().any(|begin| said.starts_with(begin)) {
                Err(failed("not ready", said))
            } else {
                // A server that does not know or allow this command may know others.
                Ok(())
            }
        }
        Err(failure) => Err(failed("no Redis", &failure.message)),
    }
}

fn request(words: &[&str]) -> Vec<u8> {
    let mut request = Vec::new();
    command(&mut request, words.len());
    for each in words {
        word(&mut request, each.as_bytes());
    }
    request
}

fn failed(what: &str, why: &str) -> Failure {
    Failure::new(Fault::Connection, format!("{what}: {why}"))
}

/// What a server refuses for good, with what to do, or only now.
fn refused(failure: &Failure, what: &str, said: &str, remedy: &str) -> Failure {
    let now = NOT_NOW.iter().any(|begin| said.starts_with(begin));
    if failure.fault == Fault::Server && !now {
        Failure::lasting(format!("{what}: {said}; {remedy}"))
    } else {
        failed(what, said)
    }
}

/// A value in an answer of names, each with its value after it.
fn told<'a>(answer: &'a Tree, name: &str) -> Option<&'a str> {
    let Tree::Array(parts) = answer else {
        return None;
    };
    parts.chunks_exact(2).find_map(|pair| match pair {
        [Tree::Text(known), Tree::Text(value)] if known == name => Some(value.as_str()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::secure::Connector;
    use crate::load::plan::tests::plan;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use wire::load::{Credentials, Secret, Target};

    /// What a server heard of a greeting that it answered with `answers`, one for each read, and
    /// how that ended. The password is `engine`.
    fn greeted(
        user: Option<&str>,
        readonly: bool,
        role: Role,
        answers: &[&'static str],
    ) -> (String, Result<(), Failure>) {
        let mut target = plan().target;
        target.credentials = Some(Credentials {
            user: user.map(str::to_owned),
            // Cargo sets this one for every test.
            password: Secret::Variable("CARGO_PKG_NAME".to_owned()),
        });
        let greeting = Greeting::new(Login::of(&target).unwrap(), readonly);
        exchanged(&target, &greeting, role, answers)
    }

    /// The same of a greeting with a target.
    fn exchanged(
        target: &Target,
        greeting: &Greeting,
        role: Role,
        answers: &[&'static str],
    ) -> (String, Result<(), Failure>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let remote = listener.local_addr().unwrap();
        let answers = answers.to_vec();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let (mut heard, mut piece) = (Vec::new(), [0; 1024]);
            for answer in answers {
                let length = stream.read(&mut piece).unwrap();
                heard.extend_from_slice(&piece[..length]);
                stream.write_all(answer.as_bytes()).unwrap();
            }
            String::from_utf8(heard).unwrap()
        });
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let outcome = runtime.enable_all().build().unwrap().block_on(async {
            let connector = Connector::of(target).unwrap();
            let stream = connector.connect("127.0.0.1", remote).await.unwrap();
            greeting.exchange(&mut Link::new(stream), role).await
        });
        (server.join().unwrap(), outcome)
    }

    #[test]
    fn one_logs_in_by_user_and_password_or_by_the_only_password_that_there_is() {
        let (heard, outcome) = greeted(Some("app"), false, Role::Primary, &["+OK\r\n"]);
        assert_eq!(heard, "*3\r\n$4\r\nAUTH\r\n$3\r\napp\r\n$6\r\nengine\r\n");
        assert_eq!(outcome, Ok(()));
        let (heard, outcome) = greeted(None, false, Role::Primary, &["+OK\r\n"]);
        assert_eq!(heard, "*2\r\n$4\r\nAUTH\r\n$6\r\nengine\r\n");
        assert_eq!(outcome, Ok(()));
    }

    #[test]
    fn a_password_that_is_refused_is_never_told() {
        let quoting = "-ERR unknown command 'AUTH', with args beginning with: 'engine' \r\n";
        let (_, outcome) = greeted(None, false, Role::Primary, &[quoting]);
        let said = "cannot log in: ERR unknown command 'AUTH', with args beginning with: '***'; give \
                    the right password; type: read -rs CARGO_PKG_NAME && export CARGO_PKG_NAME; or \
                    type the right --user NAME";
        assert_eq!(outcome, Err(Failure::lasting(said)));
    }

    #[test]
    fn a_password_for_a_server_without_passwords_is_to_be_taken_away() {
        let without = "-ERR AUTH <password> called without any password configured for the default \
                       user. Are you sure your configuration is correct?\r\n";
        let (_, outcome) = greeted(None, false, Role::Primary, &[without]);
        let refused = outcome.unwrap_err();
        assert!(refused.lasting, "{refused:?}");
        let remedy = "it has no passwords; type: unset CARGO_PKG_NAME";
        assert!(refused.message.ends_with(remedy), "{refused:?}");
    }

    #[test]
    fn a_replica_says_that_it_is_one() {
        let role = |role: &str| format!("*4\r\n$5\r\nproto\r\n:2\r\n$4\r\nrole\r\n${role}\r\n");
        let greet = |answer: String| {
            // The answers live as long as the thread of the server.
            let answer: &'static str = answer.leak();
            greeted(None, true, Role::Replica, &["+OK\r\n", "+OK\r\n", answer])
        };
        let (heard, outcome) = greet(role("7\r\nreplica"));
        assert!(heard.ends_with("*1\r\n$8\r\nREADONLY\r\n*2\r\n$5\r\nHELLO\r\n$1\r\n2\r\n"));
        assert_eq!(outcome, Ok(()));
        let (_, outcome) = greet(role("6\r\nmaster"));
        let said = "not a replica: master";
        assert_eq!(outcome, Err(Failure::new(Fault::Connection, said)));
        let (_, outcome) = greet("*0\r\n".to_owned());
        let said = "no role: the server does not tell it";
        assert_eq!(outcome, Err(Failure::new(Fault::Connection, said)));
    }

    #[test]
    fn a_server_that_refuses_to_be_read_from_is_told_apart() {
        let answers = [
            "+OK\r\n",
            "-ERR This instance has cluster support disabled\r\n",
        ];
        let (_, outcome) = greeted(None, true, Role::Replica, &answers);
        let said = "cannot read from replicas: ERR This instance has cluster support disabled; a \
                    server that is no cluster is driven without `cluster`";
        assert_eq!(outcome, Err(Failure::lasting(said)));
    }

    #[test]
    fn a_server_that_is_not_ready_may_let_clients_in_later() {
        let loading = ["-LOADING Redis is loading the dataset in memory\r\n"];
        let (_, outcome) = greeted(None, false, Role::Primary, &loading);
        let said = "cannot log in: LOADING Redis is loading the dataset in memory";
        assert_eq!(outcome, Err(Failure::new(Fault::Connection, said)));
    }

    #[test]
    fn who_needs_no_log_in_is_asked_whether_it_is_a_redis() {
        let pinged = |answer| {
            let target = plan().target;
            let greeting = Greeting::new(None, false);
            exchanged(&target, &greeting, Role::Primary, &[answer])
        };
        let (heard, outcome) = pinged("+PONG\r\n");
        assert_eq!(heard, "*1\r\n$4\r\nPING\r\n");
        assert_eq!(outcome, Ok(()));
        let (_, outcome) = pinged("-ERR unknown command 'PING'\r\n");
        assert_eq!(outcome, Ok(()), "a proxy of Redis");
        let (_, outcome) = pinged("-NOAUTH Authentication required.\r\n");
        let refused = outcome.unwrap_err();
        assert!(refused.lasting, "{refused:?}");
        assert!(refused.message.contains("--password-file"), "{refused:?}");
        for answer in [
            "-LOADING Redis is loading the dataset in memory\r\n",
            "HTTP/1.1 400 Bad Request\r\n\r\n",
            "$2\r\nhm\r\n",
        ] {
            let (_, outcome) = pinged(answer);
            let refused = outcome.unwrap_err();
            assert_eq!((refused.fault, refused.lasting), (Fault::Connection, false));
        }
    }
}
