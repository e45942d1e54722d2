//! Zulip's desktop app, by its user agent: versions that are too old to be safe.

/// How safe the calling desktop app is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DesktopApp {
    /// A browser, or a current version.
    Fine,
    /// Older than 5.9.3: the page warns.
    Insecure,
    /// Older than 5.4.3: it gets no page.
    Refused,
}

impl DesktopApp {
    /// Reads a user agent, which begins with `ZulipElectron/5.9.3` or `ZulipDesktop/…`.
    pub fn of(user_agent: &str) -> Self {
        let mut products = user_agent.split_whitespace().filter_map(|product| product.split_once('/'));
        let Some((name, version)) = products.find(|(name, _)| name.starts_with("Zulip")) else {
            return Self::Fine;
        };
        if name == "ZulipDesktop" {
            // The predecessor, which was given up.
            return Self::Refused;
        }
        let release = version.split(['-', '+']).next().unwrap_or_default();
        let mut numbers = release.split('.').map(|number| number.parse::<u32>().unwrap_or_default());
        let version = [(); 3].map(|()| numbers.next().unwrap_or_default());
        match version {
            _ if name != "ZulipElectron" => Self::Fine,
            version if version < [5, 4, 3] => Self::Refused,
            version if version < [5, 9, 3] => Self::Insecure,
            _ => Self::Fine,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_decide() {
        let cases = [
            ("ZulipElectron/5.12.0 Mozilla/5.0 (X11; Linux x86_64) Chrome/130.0", DesktopApp::Fine),
            ("ZulipElectron/5.9.3 Mozilla/5.0", DesktopApp::Fine),
            ("ZulipElectron/5.9.2 Mozilla/5.0", DesktopApp::Insecure),
            ("ZulipElectron/5.4.3-beta", DesktopApp::Insecure),
            ("ZulipElectron/5.4.2", DesktopApp::Refused),
            ("ZulipElectron/4", DesktopApp::Refused),
            ("ZulipDesktop/0.5.2", DesktopApp::Refused),
            ("ZulipMobile/30.0 (Android 14)", DesktopApp::Fine),
            ("Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0", DesktopApp::Fine),
            ("", DesktopApp::Fine),
        ];
        for (user_agent, expected) in cases {
            assert_eq!(DesktopApp::of(user_agent), expected, "{user_agent}");
        }
    }
}
