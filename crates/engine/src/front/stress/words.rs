//! Words in the groups that cassandra-stress makes of them: a command, or an option such as
//! `-rate`, and what belongs to it.

use crate::load::stress::distribution::Distribution;

use super::others::no_option;

/// What follows a command or an option.
///
/// Its settings are taken out one after another; `done` refuses what is left.
#[derive(Debug)]
pub struct Group {
    name: String,
    given: bool,
    words: Vec<String>,
    known: Vec<&'static str>,
    notes: Vec<String>,
}

impl Group {
    fn new(name: String, given: bool) -> Self {
        Self {
            name,
            given,
            words: Vec::new(),
            known: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The command or the option, in small letters.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is there at all.
    pub fn given(&self) -> bool {
        self.given
    }

    /// Whether the word `name` is there.
    pub fn switch(&mut self, name: &'static str) -> Result<bool, String> {
        self.known.push(name);
        Ok(self.take(name)?.is_some())
    }

    /// What is written after `name`, such as `threads=`.
    pub fn value(&mut self, name: &'static str) -> Result<Option<String>, String> {
        self.known.push(name);
        let found = self.take(name)?;
        Ok(found.map(|word| word[name.len()..].to_owned()))
    }

    /// The distribution that is written after `name`.
    pub fn distribution(&mut self, name: &'static str) -> Result<Option<Distribution>, String> {
        let parsed = self.value(name)?.map(|text| text.parse());
        parsed
            .transpose()
            .map_err(|what: String| format!("`{} {name}` {what}", self.name))
    }

    /// The names and values in the parentheses after `name`, such as `ratio(`.
    pub fn settings(
        &mut self,
        name: &'static str,
    ) -> Result<Option<Vec<(String, String)>>, String> {
        let Some(rest) = self.value(name)? else {
            return Ok(None);
        };
        let wrong = || wrong(&self.name, name, &rest, &format!("`{name}name=value,…)`"));
        let list = rest.strip_suffix(')').ok_or_else(wrong)?;
        let mut settings: Vec<(String, String)> = Vec::new();
        for setting in list.split(',') {
            let (key, value) = setting
                .split_once('=')
                .filter(|(key, value)| !key.is_empty() && !value.is_empty() && !value.contains('='))
                .ok_or_else(wrong)?;
            if settings
                .iter()
                .any(|(other, _)| other.eq_ignore_ascii_case(key))
            {
                return Err(twice(&self.name, &format!("{key}=")));
            }
            settings.push((key.to_owned(), value.to_owned()));
        }
        Ok(Some(settings))
    }

    /// Take `name`, a switch or a value, and say why it has no effect.
    pub fn idle(&mut self, name: &'static str, why: &str) -> Result<(), String> {
        self.known.push(name);
        if self.take(name)?.is_some() {
            let note = format!("`{} {name}` has no effect: {why}", self.name);
            self.notes.push(note);
        }
        Ok(())
    }

    /// Refuse `name`, a switch or a value, and say what to type instead.
    pub fn refuse(&mut self, name: &'static str, instead: &str) -> Result<(), String> {
        match self.take(name)? {
            Some(_) => Err(format!("`{} {name}` is not taken: {instead}", self.name)),
            None => Ok(()),
        }
    }

    /// Refuse what is left, and add what was taken without an effect to `notes`.
    pub fn done(self, notes: &mut Vec<String>) -> Result<(), String> {
        notes.extend(self.notes);
        let Some(word) = self.words.first() else {
            return Ok(());
        };
        Err(format!(
            "`{}` has no setting `{}`; it has {}",
            self.name,
            without_value(word),
            listed(&self.known)
        ))
    }

    fn take(&mut self, name: &str) -> Result<Option<String>, String> {
        let found = self.words.iter().position(|word| is(word, name));
        let word = found.map(|index| self.words.remove(index));
        if self.words.iter().any(|word| is(word, name)) {
            return Err(twice(&self.name, name));
        }
        Ok(word)
    }
}

/// Whether a word is the switch `name`, or a value of it if it ends in a sign.
fn is(word: &str, name: &str) -> bool {
    let start = if name.ends_with(SIGNS) {
        word.get(..name.len())
    } else {
        Some(word)
    };
    start.is_some_and(|start| start.eq_ignore_ascii_case(name))
}

/// What stands between a name and its value.
const SIGNS: [char; 4] = ['=', '(', '<', '>'];

/// A word up to its value, which may be a secret.
pub fn without_value(word: &str) -> &str {
    let end = word.find(SIGNS).map_or(word.len(), |at| at + 1);
    &word[..end]
}

/// Names in a sentence.
pub fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

fn twice(group: &str, name: &str) -> String {
    format!("`{group}` has `{name}` twice; write it once")
}

/// The refusal of a value, with what to write.
pub fn wrong(group: &str, name: &str, value: &str, form: &str) -> String {
    format!("`{group}` cannot have `{name}{value}`; write it as {form}")
}

/// All groups of a command line.
#[derive(Debug)]
pub struct Groups {
    groups: Vec<Group>,
    known: Vec<&'static str>,
}

impl Groups {
    /// Spaces around `,`, `=`, `(` and `)` do not part words; a group that is there twice is refused.
    pub fn of(words: &[String]) -> Result<Self, String> {
        let mut groups: Vec<Group> = Vec::new();
        for word in tight(&words.join(" ")).split(' ') {
            match groups.last_mut() {
                Some(group) if !word.starts_with('-') => group.words.push(word.to_owned()),
                _ => {
                    let name = word.to_ascii_lowercase();
                    if groups.iter().any(|group| group.name == name) {
                        return Err(format!(
                            "`{}` is there twice; write all of its settings after one of them",
                            without_value(&name)
                        ));
                    }
                    groups.push(Group::new(name, true));
                }
            }
        }
        Ok(Self {
            groups,
            known: Vec::new(),
        })
    }

    /// The first group, which is there even if no word is.
    pub fn command(&mut self) -> Group {
        self.groups.remove(0)
    }

    /// The group of an option, without words if it is not there.
    pub fn take(&mut self, name: &'static str) -> Group {
        self.known.push(name);
        let found = self.groups.iter().position(|group| group.name == name);
        found.map_or_else(
            || Group::new(name.to_owned(), false),
            |index| self.groups.remove(index),
        )
    }

    /// Refuse what is left.
    pub fn done(self) -> Result<(), String> {
        let Some(group) = self.groups.first() else {
            return Ok(());
        };
        Err(no_option(&group.name, &self.known))
    }
}

/// The text without the spaces that part no words, and one space between words.
fn tight(text: &str) -> String {
    let mut tight = String::new();
    for word in text.split_whitespace() {
        let apart = !tight.is_empty()
            && !tight.ends_with([',', '=', '('])
            && !word.starts_with([',', '=', '(', ')']);
        if apart {
            tight.push(' ');
        }
        tight.push_str(word);
    }
    tight
}
