package config

import (
	"strings"
	"testing"
	"time"
)

// canary is a password, and any piece of it that is not an accident.
const canary = "sw0rdf1sh"

func TestDSNIsShownWithoutItsPassword(t *testing.T) {
	for _, test := range []struct{ dsn, shown string }{
		{"root:" + canary + "@tcp(db:3306)/shop", "root:***@tcp(db:3306)/shop"},
		{"root:" + canary + "@tcp(db)/shop", "root:***@tcp(db:3306)/shop"},
		{"root:" + canary + "@/shop", "root:***@tcp(127.0.0.1:3306)/shop"},
		{"root:" + canary + "@unix(/run/mysqld.sock)/shop?timeout=5s", "root:***@unix(/run/mysqld.sock)/shop?timeout=5s"},
		{"root:" + canary + "@tcp6([::1]:3306)/shop", "root:***@tcp6([::1]:3306)/shop"},
		{"root@tcp(db)/shop", "root@tcp(db:3306)/shop"},
		{"tcp(db)/shop", "tcp(db:3306)/shop"},
		{"root:a@" + canary + "@b@tcp(db)/shop", "root:***@tcp(db:3306)/shop"},
		{"root:a/" + canary + "/b@tcp(db)/shop", "root:***@tcp(db:3306)/shop"},
		{"root:a:" + canary + ":b@tcp(db)/shop", "root:***@tcp(db:3306)/shop"},
		{"root:a?b=" + canary + "#('\"@tcp(db)/shop", "root:***@tcp(db:3306)/shop"},
		{"root:" + canary + "@tcp(db)/shop?tls=skip-verify&token=" + canary, "root:***@tcp(db:3306)/shop?tls=skip-verify"},
		{"root:" + canary + "@tcp(db)/shop?connectionAttributes=a:" + canary, "root:***@tcp(db:3306)/shop"},
		{"root/" + canary + "@tcp(db)/shop", "***@tcp(db:3306)/shop"},
		{"root:" + canary + "@tcp(db1,db2:3307,10.0.0.3)/shop?timeout=5s", "root:***@tcp(db1:3306,db2:3307,10.0.0.3:3306)/shop?timeout=5s"},
		{"root:" + canary + "@tcp([::1]:3306,[fe80::1%eth0]:3307)/shop", "root:***@tcp([::1]:3306,[fe80::1%eth0]:3307)/shop"},
		{"root:" + canary + "@unix(/run/a,b.sock)/shop", "root:***@unix(/run/a,b.sock)/shop"},
		{"root:a(b,c)" + canary + "@tcp(db1,db2)/shop", "root:***@tcp(db1:3306,db2:3306)/shop"},
	} {
		c := given{flags: []string{"--dsn", test.dsn}}.mustLoad(t)
		if c.DSN.Reveal() != test.dsn {
			t.Errorf("%s became %s", test.dsn, c.DSN.Reveal())
		}
		if c.DSN.String() != test.shown {
			t.Errorf("%s is shown as %s, want %s", test.dsn, c.DSN, test.shown)
		}
		for _, text := range printed(t, c) {
			if strings.Contains(text, canary) {
				t.Errorf("%s: the password is in %s", test.dsn, text)
			}
		}
	}
}

func TestMalformedDSNIsRefusedWithoutItsPassword(t *testing.T) {
	const want = "; want user:password@tcp(host:port)/database, or tcp(host:port,host:port) for the nodes of a cluster"
	for _, test := range []struct{ dsn, reason string }{
		{"root:" + canary, "missing the slash separating the database name"},
		{"root:" + canary + "@tcp(db:3306)", "missing the slash separating the database name"},
		{"root:" + canary + "@tcp(db:3306)/", "it names no database"},
		{"root:" + canary + "@tcp(db:3306/shop", "network address not terminated (missing closing brace)"},
		{"root:" + canary + "@tcp(db:3306)shop/x", "did you forget to escape a param value?"},
		{"root:" + canary + "/x", "the driver cannot read it"},
		{"root:a/" + canary + "@tcp(db:3306)", "the driver cannot read it"},
		{"root:a@tcp(b)/" + canary + "@tcp(db:3306)", "its database has @, (, ) or / in it, as if the slash before it were missing"},
		{"root:a@b(c)/" + canary, "its network is not allowed; tcp, tcp4, tcp6 and unix are"},
		{"root:a@" + canary + "/shop", "the driver cannot read it"},
		{"root:a@" + canary + "(db)/shop", "its network is not allowed; tcp, tcp4, tcp6 and unix are"},
		{"root:" + canary + "@db:3306/shop", "the driver cannot read it"},
		{"mysql://root:" + canary + "@db:3306/shop", "it is a URL"},
		{"MySQL://root:" + canary + "@tcp(db:3306)/shop", "it is a URL"},
		{"jdbc:mysql://db/shop?password=" + canary, "it is a URL"},
		{"root:" + canary + "\n@tcp(db)/shop", "it has a control character or more than one line"},
		{"root:" + canary + "@tcp(db)/shop?parseTime=" + canary, "its parameter parseTime has a value that is not allowed"},
		{"root:" + canary + "@tcp(db)/shop?timeout=" + canary, "its parameter timeout has a value that is not allowed"},
		{"root:" + canary + "@tcp(db)/shop?tls=" + canary, "its parameter tls has a value that is not allowed"},
		{"root:" + canary + "@tcp(db)/shop?strict=" + canary, "its parameter strict has a value that is not allowed"},
		{"root:" + canary + "@tcp(db)/shop?" + canary + "=%zz", "the driver cannot read it"},
		{"root:" + canary + "@tcp(db)/shop?loc=Mars/" + canary, "did you forget to escape a param value?"},
		{"root:" + canary + "@tcp(db)/%" + canary, "the driver cannot read it"},
		{"root:" + canary + "@tcp(db1,)/shop", "a host of its list is empty, or no host"},
		{"root:" + canary + "@tcp(,db1)/shop", "a host of its list is empty, or no host"},
		{"root:" + canary + "@tcp(db1, db2)/shop", "a host of its list is empty, or no host"},
		{"root:" + canary + "@tcp(db1:x,db2)/shop", "a host of its list is empty, or no host"},
		{"root:" + canary + "@tcp(db1,db1:3306)/shop", "a host stands twice in its list"},
		{"root:" + canary + "@tcp(db1,db2)/", "it names no database"},
		{"root:" + canary + "@tcp(db1,db2/shop", "network address not terminated (missing closing brace)"},
		{canary, "missing the slash separating the database name"},
		{"/", "it names no database"},
	} {
		sources := map[string]given{
			"environment variable PRESCIENT_DSN": {env: map[string]string{"PRESCIENT_DSN": test.dsn}},
			"flag --dsn":                         {flags: []string{"--dsn", test.dsn}},
			"file FILE, line 1":                  {file: "dsn: " + quoteYAML(test.dsn)},
		}
		for source, given := range sources {
			if _, got := given.load(t); got != "dsn: "+test.reason+want+" ("+source+")" {
				t.Errorf("%s: got %s", test.dsn, got)
			}
		}
		path := write(t, "dsn", test.dsn)
		_, got := given{flags: []string{"--dsn-file", path}}.load(t)
		if got != "dsn: "+test.reason+want+" (file "+path+", which dsn_file names)" {
			t.Errorf("%s: got %s", test.dsn, got)
		}
	}
}

func quoteYAML(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}

func TestDSNInTheWrongPlaceIsNotRepeated(t *testing.T) {
	dsn := "root:" + canary + "@tcp(db:3306)/shop"
	var cases []given
	for _, f := range fields(new(Config)) {
		if f.name == keyDSN || strings.HasPrefix(f.name, "serve.dsn_") {
			continue
		}
		cases = append(cases,
			given{file: f.name + ": " + dsn},
			given{file: f.name + ": {" + quoteYAML(dsn) + ": 1}"},
			given{env: map[string]string{envName(f.name): dsn}})
		if f.usage != "" {
			cases = append(cases, given{flags: []string{"--" + flagName(f.name), dsn}})
		}
	}
	cases = append(cases,
		given{file: dsn},
		given{file: "'" + dsn + "': 1"},
		given{file: "- " + dsn},
		given{file: "dsn: '" + dsn},
		given{file: "dsn: \"\\q" + dsn + "\""},
		given{file: "dsn: *" + canary},
		given{file: "dsn: !" + canary + " x"},
		given{file: "dsn: &" + canary + " x"},
		given{file: "dsn: [" + dsn + "]"},
		given{file: "dsn: a\ndsn: " + dsn},
		given{file: "dsn:\n  user: root\n  password: " + canary},
		given{file: "jobs: {http: [{secret: " + canary + "}]}"},
		given{file: "jobs: {http: [{exec: '" + dsn + "', url: '" + dsn + "', secret_file: '" + dsn + "', headers: {'" + dsn + "': x}}]}"},
		given{file: "jobs: {http: [{exec: a, url: 'http://u:" + canary + "@h:port/'}]}"},
		given{file: "jobs: {http: [{exec: a, url: '" + canary + "', headers: {a: \"" + canary + "\\n\"}}]}"},
		given{file: "jobs: {http: [{exec: a, url: 'http://h', secret_env: '" + dsn + "'}]}"},
		given{env: map[string]string{"PRESCIENT_CONFIG": dsn}},
		given{env: map[string]string{"PRESCIENT_" + dsn: "x"}},
	)
	for _, given := range cases {
		c, got := given.load(t)
		if got == "" {
			t.Errorf("%+v is allowed: %s", given, c)
		}
		if strings.Contains(got, canary) {
			t.Errorf("%+v: the password is in the error:\n%s", given, got)
		}
	}
}

func TestDSNFile(t *testing.T) {
	const dsn = "root:secret@tcp(db:3306)/shop"
	for _, text := range []string{dsn, dsn + "\n", dsn + "\r\n"} {
		path := write(t, "dsn", text)
		c := given{file: "dsn_file: " + path}.mustLoad(t)
		if c.DSN.Reveal() != dsn {
			t.Errorf("%q became %q", text, c.DSN.Reveal())
		}
		if s := c.Describe()[0]; s.Value != "root:***@tcp(db:3306)/shop" || s.Source != "file "+path+", which dsn_file names" {
			t.Errorf("it is described as %+v", s)
		}
	}

	empty := write(t, "empty", "\n")
	large := write(t, "large", strings.Repeat("x", maxSecret+1))
	for _, test := range []struct {
		given given
		want  string
	}{
		{given{file: "dsn_file: /nowhere/dsn"}, "dsn_file: file /nowhere/dsn cannot be read: no such file or directory (file FILE, line 1)"},
		{given{file: "dsn_file: /"}, "dsn_file: file / cannot be read: is a directory (file FILE, line 1)"},
		{given{flags: []string{"--dsn-file", empty}}, "dsn_file: file " + empty + " is empty (flag --dsn-file)"},
		{given{flags: []string{"--dsn-file", large}}, "dsn_file: file " + large + " has more than 65536 bytes, which is the most that is allowed (flag --dsn-file)"},
		{given{file: "{dsn: '" + dsn + "', dsn_file: /a}"}, "dsn: dsn_file is given too (file FILE, line 1); only one of the two is allowed (file FILE, line 1)"},
		{given{env: map[string]string{"PRESCIENT_DSN": dsn, "PRESCIENT_DSN_FILE": "/a"}}, "dsn: dsn_file is given too (environment variable PRESCIENT_DSN_FILE); only one of the two is allowed (environment variable PRESCIENT_DSN)"},
		// The stronger source wins.
		{given{file: "dsn_file: /a", flags: []string{"--dsn", dsn}}, ""},
		{given{file: "dsn_file: /a", env: map[string]string{"PRESCIENT_DSN": dsn}}, ""},
		{given{env: map[string]string{"PRESCIENT_DSN_FILE": "/a"}, flags: []string{"--dsn", dsn}}, ""},
		{given{file: "dsn: '" + dsn + "'", flags: []string{"--dsn-file", "/nowhere/dsn"}}, "dsn_file: file /nowhere/dsn cannot be read: no such file or directory (flag --dsn-file)"},
		{given{file: "dsn_file: /a", flags: []string{"--dsn", dsn, "--dsn-file", ""}}, ""},
	} {
		if _, got := test.given.load(t); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

// What has a database of its own needs none of the files that are for another.
func TestWhatHasADatabaseOfItsOwnReadsNoOther(t *testing.T) {
	options := given{file: "dsn_file: /nonexistent/dsn\ntls: {ca_file: /nonexistent/ca, server_name: db}\n" +
		"serve: {dsn_admin: nonsense, oidc_secret_file: /nonexistent/secret}\nworker: {lease: 9s}\n"}.options(t)
	if _, err := Load(options); err == nil || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("%v; want four faults", err)
	}
	options.NoDatabase = true
	c, err := Load(options)
	if err != nil || !c.DSN.IsZero() || c.TLS != (TLS{}) || !c.Serve.Admin.IsZero() || c.Worker.Lease != 9*time.Second {
		t.Errorf("%+v, %v", c, err)
	}
}
