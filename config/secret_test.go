package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"go.yaml.in/yaml/v3"

	"prescient/config/value"
)

// printed returns a Config in all the ways in which it may get into a log.
func printed(t *testing.T, c Config) []string {
	t.Helper()
	type holder struct {
		hidden  Config
		Open    Config
		pointer *Config
		secret  value.Secret
	}
	h := holder{c, c, &c, c.DSN}
	var list []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%o"} {
		for _, v := range []any{c, &c, h, &h, c.DSN, &c.DSN, c.Jobs, c.Jobs.HTTP, struct{ Config }{c}, bare(c), &[]bare{bare(c)}, []Config{c}, map[string]Config{"a": c}} {
			list = append(list, fmt.Sprintf(verb, v))
		}
	}
	for _, v := range []any{c, h, bare(c), c.DSN, c.Jobs} {
		text, err := json.Marshal(v)
		list = append(list, string(text), errString(err))
		text, err = yaml.Marshal(v)
		list = append(list, string(text), errString(err))
	}
	var log bytes.Buffer
	logger := zerolog.New(&log)
	logger.Info().Object("object", c).Interface("interface", c).Any("any", h).Stringer("dsn", c.DSN).Msg("")
	slog.New(slog.NewTextHandler(&log, nil)).Info("", "config", c, "dsn", c.DSN, "jobs", c.Jobs)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("", "config", c, "dsn", c.DSN, "jobs", c.Jobs)
	return append(list, log.String(), c.Redacted(), c.String(), fmt.Sprint(c.Describe()), errors.New(c.String()).Error())
}

func errString(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestNothingPrintedHasASecret(t *testing.T) {
	t.Setenv("SIGNING_KEY", "unused")
	c := given{
		file: `
dsn: "root:` + canary + `@tcp(db:3306)/shop?a=` + canary + `"
jobs:
  http:
    - exec: a
      url: https://user:` + canary + `@app.example.com/` + canary + `?token=` + canary + `
      headers: {Authorization: "Bearer ` + canary + `"}
      secret_env: SIGNING_KEY
heartbeats:
  urls:
    - name: nightly
      success: https://hc.example.com/` + canary + `
      start: https://hc.example.com/start/` + canary + `
      failure: https://hc.example.com/?fail=` + canary + `
`,
		env: map[string]string{"SIGNING_KEY": canary},
	}.mustLoad(t)
	job := c.Jobs.HTTP[0]
	beat := c.Heartbeats.URLs[0]
	for _, secret := range []value.Secret{c.DSN, job.URL, job.Headers["authorization"], job.Secret, beat.Start, beat.Success, beat.Failure} {
		if !strings.Contains(secret.Reveal(), canary) {
			t.Errorf("%s does not reveal its secret", secret)
		}
	}
	for _, text := range printed(t, c) {
		if strings.Contains(text, canary) || strings.Contains(text, fmt.Sprintf("%x", canary)) || strings.Contains(text, fmt.Sprintf("%X", canary)) {
			t.Errorf("a secret is in %s", text)
		}
	}
}

func TestSecret(t *testing.T) {
	s := value.NewSecret("x")
	text, err := json.Marshal(map[string]value.Secret{"a": s, "b": {}})
	if string(text) != `{"a":"***","b":""}` || err != nil {
		t.Errorf("JSON is %s, %v", text, err)
	}
	if s.String() != "***" || s.IsZero() || s.Reveal() != "x" {
		t.Errorf("got %s, %t", s, s.IsZero())
	}
	if got := fmt.Sprintf("%#v", s); got != "value.Secret(***)" {
		t.Errorf("in Go it is %s", got)
	}
	if zero := value.NewSecret(""); zero != (value.Secret{}) || !zero.IsZero() || zero.Reveal() != "" || zero.String() != "" {
		t.Errorf("an empty text is not the zero Secret")
	}
	if !reflect.DeepEqual(value.NewSecret("x"), s) || reflect.DeepEqual(value.NewSecret("y"), s) {
		t.Error("reflect.DeepEqual does not compare the texts")
	}
}
