package value

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient/connect/hostlist"
)

const wantDSN = "; want user:password@tcp(host:port)/database, or tcp(host:port,host:port) for the nodes of a cluster"

var (
	urlScheme = regexp.MustCompile(`^(?i)(jdbc:)?(mysql|mariadb|tcp)://`)
	userName  = regexp.MustCompile(`^[\pL\pN_.$-]*$`)
)

// ParseDSN reads a DSN. No error has a piece of it, since the password may be in any: a DSN with a slash missing is cut
// in the wrong places, and may even be taken for another one.
func ParseDSN(text string) (Secret, error) {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return Secret{}, errors.New("it has a control character or more than one line" + wantDSN)
	}
	if urlScheme.MatchString(text) {
		return Secret{}, errors.New("it is a URL" + wantDSN)
	}
	var parsed *mysql.Config
	var hosts []string
	each, err := eachHost(text)
	if err != nil {
		return Secret{}, err
	}
	for _, one := range each {
		if parsed, err = parseWithDriver(one); err != nil {
			return Secret{}, fmt.Errorf("%s%s", dsnReason(one, err), wantDSN)
		}
		if slices.Contains(hosts, parsed.Addr) {
			return Secret{}, errors.New("a host stands twice in its list" + wantDSN)
		}
		hosts = append(hosts, parsed.Addr)
	}
	switch {
	case !slices.Contains([]string{"tcp", "tcp4", "tcp6", "unix"}, parsed.Net):
		return Secret{}, errors.New("its network is not allowed; tcp, tcp4, tcp6 and unix are" + wantDSN)
	case parsed.DBName == "":
		return Secret{}, errors.New("it names no database" + wantDSN)
	case strings.ContainsAny(parsed.DBName, "@()/"):
		return Secret{}, errors.New("its database has @, (, ) or / in it, as if the slash before it were missing" + wantDSN)
	}
	parsed.Addr = strings.Join(hosts, ",")
	return SecretShownAs(text, showDSN(parsed)), nil
}

// hostAddress is what a host of a list may be.
var hostAddress = regexp.MustCompile(`^([A-Za-z0-9_.-]+|\[[0-9A-Za-z:.%]+\])(:[0-9]+)?$`)

// eachHost returns the DSN of each host in a list such as tcp(host1:port,host2:port).
func eachHost(dsn string) ([]string, error) {
	hosts := hostlist.Cut(dsn)
	list := make([]string, len(hosts))
	for i, host := range hosts {
		if len(hosts) > 1 && !hostAddress.MatchString(host.Address) {
			return nil, errors.New("a host of its list is empty, or no host" + wantDSN)
		}
		list[i] = host.DSN
	}
	return list, nil
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

// HasPassword reports whether a DSN has a password in it.
func HasPassword(dsn string) bool {
	parsed, err := parseWithDriver(dsn)
	return err == nil && parsed.Passwd != ""
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
		shown.Passwd = Mask
	}
	if !userName.MatchString(shown.User) {
		shown.User = Mask
	}
	return shown.FormatDSN()
}
