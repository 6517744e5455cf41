package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/go-sql-driver/mysql"
)

const wantDSN = "; want user:password@tcp(host:port)/database"

var errNoDSN = fmt.Errorf(
	"the database is not given; give one of %s and %s in the file, %s and %s in the environment, --%s and --%s",
	keyDSN, keyDSNFile, envName(keyDSN), envName(keyDSNFile), flagName(keyDSN), flagName(keyDSNFile))

// resolveDSN takes the DSN from dsn or from the file that dsn_file names.
func (l *loader) resolveDSN(c *Config) {
	text, source := l.given(keyDSN)
	path, pathSource := l.given(keyDSNFile)
	switch {
	case text != "" && path != "":
		l.addf(keyDSN, source, "%s is given too (%s); only one of the two is allowed", keyDSNFile, pathSource)
		return
	case path != "":
		var err error
		if text, err = readSecret(path); err != nil {
			l.add(keyDSNFile, pathSource, err)
			return
		}
		source = fmt.Sprintf("file %s, which %s names", plain(path), keyDSNFile)
	case text == "":
		return
	}
	dsn, err := parseDSN(text)
	if err != nil {
		l.add(keyDSN, source, err)
		return
	}
	if parsed, err := parseWithDriver(text); err == nil && parsed.Passwd != "" && strings.HasPrefix(source, "flag ") && !l.options.PasswordInFlag {
		l.addf(keyDSN, source, "a password on the command line can be seen by others on this machine; give it by %s, %s or %s",
			envName(keyDSN), envName(keyDSNFile), "--"+flagName(keyDSNFile))
		return
	}
	c.DSN = dsn
	for i := range l.settings {
		if l.settings[i].Key == keyDSN {
			l.settings[i] = Setting{Key: keyDSN, Value: dsn.String(), Source: source}
		}
	}
}

var (
	urlScheme = regexp.MustCompile(`^(?i)(jdbc:)?(mysql|mariadb|tcp)://`)
	userName  = regexp.MustCompile(`^[\pL\pN_.$-]*$`)
)

// parseDSN reads a DSN. No error has a piece of it, since the password may be in any: a DSN with a slash missing is cut
// in the wrong places, and may even be taken for another one.
func parseDSN(text string) (Secret, error) {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return Secret{}, errors.New("it has a control character or more than one line" + wantDSN)
	}
	if urlScheme.MatchString(text) {
		return Secret{}, errors.New("it is a URL" + wantDSN)
	}
	parsed, err := parseWithDriver(text)
	if err != nil {
		return Secret{}, fmt.Errorf("%s%s", dsnReason(text, err), wantDSN)
	}
	switch {
	case !slices.Contains([]string{"tcp", "tcp4", "tcp6", "unix"}, parsed.Net):
		return Secret{}, errors.New("its network is not allowed; tcp, tcp4, tcp6 and unix are" + wantDSN)
	case parsed.DBName == "":
		return Secret{}, errors.New("it names no database" + wantDSN)
	case strings.ContainsAny(parsed.DBName, "@()/"):
		return Secret{}, errors.New("its database has @, (, ) or / in it, as if the slash before it were missing" + wantDSN)
	}
	return newSecret(text, showDSN(parsed)), nil
}

// parseWithDriver is mysql.ParseDSN without its panic.
func parseWithDriver(text string) (parsed *mysql.Config, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("a parameter is not allowed any more")
		}
	}()
	return mysql.ParseDSN(text)
}

// dsnReason says what the driver refuses. Its texts quote the DSN, but for those that are fixed.
func dsnReason(text string, err error) string {
	fixed := []string{
		"invalid DSN: did you forget to escape a param value?",
		"invalid DSN: network address not terminated (missing closing brace)",
		"invalid DSN: missing the slash separating the database name",
		"invalid DSN: interpolateParams can not be used with unsafe collations",
	}
	if slices.Contains(fixed, err.Error()) {
		return strings.TrimPrefix(err.Error(), "invalid DSN: ")
	}
	known := []string{
		"allowAllFiles", "allowCleartextPasswords", "allowFallbackToPlaintext", "allowNativePasswords", "allowOldPasswords",
		"checkConnLiveness", "clientFoundRows", "columnsWithAlias", "compress", "connectionAttributes", "interpolateParams",
		"loc", "maxAllowedPacket", "multiStatements", "parseTime", "readTimeout", "rejectReadOnly", "serverPubKey",
		"strict", "timeTruncate", "timeout", "tls", "writeTimeout",
	}
	_, parameters, _ := strings.Cut(text[strings.LastIndexByte(text, '/')+1:], "?")
	for parameter := range strings.SplitSeq(parameters, "&") {
		name, _, _ := strings.Cut(parameter, "=")
		if !slices.Contains(known, name) {
			continue
		}
		if _, err := parseWithDriver("/?" + parameter); err != nil {
			return "its parameter " + name + " has a value that is not allowed"
		}
	}
	return "the driver cannot read it"
}

// showDSN is a DSN with its password masked and without session variables. A user without a password whose name is an
// unusual one may have the password in it.
func showDSN(parsed *mysql.Config) string {
	shown := parsed.Clone()
	shown.Params = nil
	shown.ConnectionAttributes = ""
	if shown.Passwd != "" {
		shown.Passwd = mask
	}
	if !userName.MatchString(shown.User) {
		shown.User = mask
	}
	return shown.FormatDSN()
}
