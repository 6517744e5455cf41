package config

import (
	"strings"
	"testing"
	"time"
)

const sqlItem = "jobs:\n  sql:\n    - {exec: late, table: orders, column: id, key: int, while: shipped_at IS NULL, "

func TestSQLJobs(t *testing.T) {
	c := given{file: sqlItem + "dsn_env: READER, topics: [late, lost], set: alerts = alerts + 1, again: [1h, 1d], every: 2d, scan: true, max_checks: 7}",
		env: map[string]string{"READER": "reader:secret@tcp(db)/shop"}}.mustLoad(t)
	j := c.Jobs.SQL[0]
	if j.DSN.Reveal() != "reader:secret@tcp(db)/shop" || strings.Join(j.Topics, " ") != "late lost" || j.Set != "alerts = alerts + 1" || len(j.Again) != 2 ||
		j.Again[1] != 24*time.Hour || j.Every != 48*time.Hour || !j.Scan || j.Guards.MaxChecks != 7 || j.Key != KeyInt || j.While != "shipped_at IS NULL" {
		t.Errorf("got %+v", j)
	}
	if text := c.Redacted() + c.String(); strings.Contains(text, "reader:") || !strings.Contains(text, "jobs.sql[0].topics[1]: lost") {
		t.Errorf("it is shown as %s", text)
	}
}

func TestSQLJobsThatCannotBeAreRefused(t *testing.T) {
	for rest, want := range map[string]string{
		"":                                     "jobs.sql[0].topics: it is missing; want topics, set, both of them, or url",
		"topics: [t], url: 'http://a'":         "jobs.sql[0].url: it is not allowed beside topics and set",
		"topics: [t], headers: {a: b}":         "jobs.sql[0].url: it is missing",
		"topics: t":                            "jobs.sql[0].topics: it has the wrong form; want a list",
		"topics: [a b]":                        `jobs.sql[0].topics[0]: "a b" is not allowed`,
		"topics: ['t*']":                       `jobs.sql[0].topics[0]: "t*" is not allowed`,
		"topics: [t], again: [1h, soon]":       "jobs.sql[0].again[1]",
		"topics: [t], again: [0s]":             "jobs.sql[0].again[0]",
		"topics: [t], dsn: 'a:secret@tcp/b'":   "jobs.sql[0].dsn: unknown key; a secret does not belong into the file, name it with dsn_file or dsn_env",
		"topics: [t], dsn_env: NONE":           "jobs.sql[0].dsn_env: the environment has no variable NONE",
		"topics: [t], dsn_env: A, dsn_file: b": "jobs.sql[0].dsn_file: dsn_env is given too",
		"topics: [t], dsn_env: WRONG":          "jobs.sql[0].dsn_env:",
		"set: a = 1 WHERE 1 = 1":               "jobs.sql[0].set:",
		"set: 'a = 1; DROP TABLE a'":           "jobs.sql[0].set:",
		"topics: [t], scan: maybe":             "jobs.sql[0].scan:",
		"topics: [t], entity: order":           "jobs.sql[0].entity: unknown key",
	} {
		_, problem := given{file: sqlItem + rest + "}", env: map[string]string{"A": "x", "WRONG": "a:secret@tcp(b/c"}}.load(t)
		if !strings.Contains(problem, want) || strings.Contains(problem, "secret@") {
			t.Errorf("%s: %s; want %q", rest, problem, want)
		}
	}
	_, problem := given{file: strings.Replace(sqlItem, "shipped_at IS NULL", "'a = 1) OR (1 = 1'", 1) + "topics: [t]}"}.load(t)
	if want := `jobs.sql[0].while: "a = 1) OR (1 = 1" is not allowed; a ) closes nothing`; !strings.Contains(problem, want) {
		t.Errorf("%s; want %q", problem, want)
	}
	_, problem = given{file: sqlItem + "topics: [t]}\n  http: [{exec: late, url: 'http://a'}]"}.load(t)
	if want := "is the name of jobs.http[0].exec too"; !strings.Contains(problem, want) {
		t.Errorf("%s; want %q", problem, want)
	}
}
