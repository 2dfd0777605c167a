//! The mount that a directory lies on, from `/proc/PID/mountinfo`.

use std::collections::BTreeMap;
use std::path::Path;

/// Options that say where an overlay's layers lie: another place in every container.
const PLACES: [&str; 3] = ["lowerdir=", "upperdir=", "workdir="];

/// `file_system`, `mount_options` and `source` of the deepest mount above a path.
pub fn find(mountinfo: &str, path: &Path) -> BTreeMap<String, String> {
    mountinfo
        .lines()
        .filter_map(Mount::parse)
        .filter(|mount| path.starts_with(&mount.point))
        // Of two at the same place the later one hides the earlier, and `max_by_key` takes it.
        .max_by_key(|mount| mount.point.len())
        .map(Mount::facts)
        .unwrap_or_default()
}

struct Mount {
    point: String,
    options: String,
    file_system: String,
    source: String,
    super_options: String,
}

impl Mount {
    fn parse(line: &str) -> Option<Self> {
        let (mount, file_system) = line.split_once(" - ")?;
        let mut before = mount.split(' ').skip(4);
        let mut after = file_system.split(' ');
        Some(Self {
            point: unescape(before.next()?),
            options: before.next()?.to_owned(),
            file_system: after.next()?.to_owned(),
            source: unescape(after.next()?),
            super_options: after.next().unwrap_or_default().to_owned(),
        })
    }

    fn facts(self) -> BTreeMap<String, String> {
        let mut options: Vec<&str> = Vec::new();
        for option in self.options.split(',').chain(self.super_options.split(',')) {
            let place = PLACES.iter().any(|name| option.starts_with(name));
            if !option.is_empty() && !place && !options.contains(&option) {
                options.push(option);
            }
        }
        BTreeMap::from([
            ("file_system".to_owned(), self.file_system.clone()),
            ("mount_options".to_owned(), options.join(",")),
            ("source".to_owned(), self.source.clone()),
        ])
    }
}

/// The kernel writes a space in a path as `\040`.
fn unescape(text: &str) -> String {
    text.replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
23 1 254:0 / / rw,relatime - ext4 /dev/root rw,discard
40 23 0:40 / /run rw,nosuid - tmpfs tmpfs rw,size=1024k
41 23 0:41 / /data\\040here rw - xfs /dev/sdb rw,attr2
50 23 0:50 / /box rw,relatime - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w,index=off
51 50 0:51 / /box/data rw - tmpfs first rw
52 50 0:52 / /box/data rw - ext4 second rw
";

    #[test]
    fn the_deepest_mount_above_a_path_is_told() {
        assert_eq!(find(MOUNTS, Path::new("/var/lib"))["file_system"], "ext4");
        let found = find(MOUNTS, Path::new("/run/redis"));
        assert_eq!(found["file_system"], "tmpfs");
        assert_eq!(found["mount_options"], "rw,nosuid,size=1024k");
        assert_eq!(
            find(MOUNTS, Path::new("/data here/x"))["source"],
            "/dev/sdb"
        );
        assert_eq!(find(MOUNTS, Path::new("/runner"))["file_system"], "ext4");
    }

    #[test]
    fn the_later_of_two_mounts_at_one_place_hides_the_earlier() {
        assert_eq!(
            find(MOUNTS, Path::new("/box/data/redis"))["source"],
            "second"
        );
    }

    #[test]
    fn the_places_of_an_overlays_layers_are_left_out() {
        assert_eq!(
            find(MOUNTS, Path::new("/box/tmp"))["mount_options"],
            "rw,relatime,index=off"
        );
    }
}
