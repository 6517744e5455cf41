package config

import (
	"fmt"
	"strings"

	"prescient/config/value"
)

var errNoDSN = fmt.Errorf(
	"the database is not given; give one of %s and %s in the file, %s and %s in the environment, --%s and --%s",
	keyDSN, keyDSNFile, envName(keyDSN), envName(keyDSNFile), flagName(keyDSN), flagName(keyDSNFile))

// readDSN takes the DSN from dsn or from the file that dsn_file names, whichever was given by the stronger source; it returns the zero Secret where neither was given.
func readDSN(l layers, passwordInFlag bool, p *problems) (dsn value.Secret, source string) {
	text, source := l.given(keyDSN)
	path, pathSource := l.given(keyDSNFile)
	if of, ofPath := strength(source), strength(pathSource); text != "" && path != "" && of > ofPath {
		path = ""
	} else if text != "" && path != "" && ofPath > of {
		text = ""
	}
	switch {
	case text != "" && path != "":
		p.addf(keyDSN, source, "%s is given too (%s); only one of the two is allowed", keyDSNFile, pathSource)
		return value.Secret{}, ""
	case path != "":
		var err error
		if text, err = ReadSecret(path); err != nil {
			p.add(keyDSNFile, pathSource, err)
			return value.Secret{}, ""
		}
		source = fmt.Sprintf("file %s, which %s names", value.Plain(path), keyDSNFile)
	case text == "":
		return value.Secret{}, ""
	}
	dsn = parseDSN(keyDSN, text, source, passwordInFlag, fmt.Sprintf(", %s or --%s", envName(keyDSNFile), flagName(keyDSNFile)), p)
	if dsn.IsZero() {
		return dsn, ""
	}
	return dsn, source
}

// parseDSN reads the DSN of a key; the zero Secret where it is no good. A password stands where nobody sees it: others names where else than in the
// environment.
func parseDSN(key, text, source string, passwordInFlag bool, others string, p *problems) value.Secret {
	dsn, err := value.ParseDSN(text)
	if err != nil {
		p.add(key, source, err)
		return value.Secret{}
	}
	if strings.HasPrefix(source, ofFlag) && !passwordInFlag && value.HasPassword(text) {
		p.addf(key, source, "a password on the command line can be seen by others on this machine; give it by %s%s", envName(key), others)
		return value.Secret{}
	}
	return dsn
}

// RequireDSN returns the DSN for the driver. The error, an [*Error], says how to give one.
func (c Config) RequireDSN() (string, error) {
	if c.DSN.IsZero() {
		return "", &Error{Key: keyDSN, Err: errNoDSN}
	}
	return c.DSN.Reveal(), nil
}

// readServeDSNs takes the DSNs of serve.
func readServeDSNs(s *Serve, l layers, passwordInFlag bool, into *settings, p *problems) {
	for _, dsn := range []struct {
		key  string
		into *value.Secret
	}{{"serve.dsn_viewer", &s.Viewer}, {"serve.dsn_operator", &s.Operator}, {"serve.dsn_admin", &s.Admin}, {"serve.dsn_door", &s.Door}} {
		text, source := l.given(dsn.key)
		if text == "" {
			continue
		}
		if *dsn.into = parseDSN(dsn.key, text, source, passwordInFlag, "", p); !dsn.into.IsZero() {
			into.replace(Setting{Key: dsn.key, Value: dsn.into.String(), Source: source})
		}
	}
}
