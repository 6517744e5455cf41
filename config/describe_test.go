package config

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"
)

func TestEffectiveConfiguration(t *testing.T) {
	c := given{
		file:  "worker:\n  name: 'a b'\njobs: {http: [{exec: a, url: 'http://h/x', headers: {A: b}}]}",
		env:   map[string]string{"PRESCIENT_DSN": "root:x@tcp(db)/shop"},
		flags: []string{"--guards-horizon=90d"},
	}.mustLoad(t)
	text := strings.ReplaceAll(c.Redacted(), c.File, "FILE")
	for _, line := range []string{
		"dsn: root:***@tcp(db:3306)/shop  # environment variable PRESCIENT_DSN\n",
		"dsn_file: \"\"  # default\n",
		"slots.resolution: 15m  # default\n",
		"worker.name: \"a b\"  # file FILE, line 2\n",
		"guards.horizon: 90d  # flag --guards-horizon\n",
		"jobs.http[0].exec: a  # file FILE, line 3\n",
		"jobs.http[0].url: http://h/***  # file FILE, line 3\n",
		"jobs.http[0].headers.a: ***  # file FILE, line 3\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is missing in\n%s", line, text)
		}
	}
	const want = `config{dsn=root:***@tcp(db:3306)/shop worker.name="a b" guards.horizon=90d` +
		` jobs.http[0].exec=a jobs.http[0].url=http://h/*** jobs.http[0].headers.a=***}`
	if c.String() != want {
		t.Errorf("got %s", c)
	}
	var log bytes.Buffer
	logger := zerolog.New(&log)
	logger.Log().Object("config", c).Send()
	if got := log.String(); !strings.HasPrefix(got, `{"config":{"dsn":"root:***@tcp(db:3306)/shop","worker.name":"a b","guards.horizon":"90d",`) {
		t.Errorf("logged %s", got)
	}
}

func TestDescriptionBelongsToTheCaller(t *testing.T) {
	c := Default()
	c.Describe()[0].Value = "x"
	if c.Describe()[0].Value == "x" {
		t.Error("the Config was changed through its description")
	}
}

func TestFlagsShowTheirDefaults(t *testing.T) {
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	AddFlags(flags)
	usage := flags.FlagUsages()
	for _, f := range fields(new(Config)) {
		flag := flags.Lookup(flagName(f.name))
		if jobs := strings.HasPrefix(f.name, "jobs."); jobs != (flag == nil) {
			t.Errorf("%s has the flag %v", f.name, flag)
			continue
		}
		if flag != nil && flag.DefValue != f.fallback {
			t.Errorf("--%s has the default %s, want %s", flag.Name, flag.DefValue, f.fallback)
		}
	}
	for _, text := range []string{"--worker-stop-grace duration", "(default 15m)", "(default 2000)"} {
		if !strings.Contains(usage, text) {
			t.Errorf("%q is missing in\n%s", text, usage)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := make(map[string]string)
	for _, f := range fields(new(Config)) {
		for _, name := range []string{f.name, envName(f.name), "--" + flagName(f.name)} {
			if other, twice := seen[name]; twice {
				t.Errorf("%s is of %s and of %s", name, other, f.name)
			}
			seen[name] = f.name
		}
		if serviceVariables.MatchString(envName(f.name)) {
			t.Errorf("%s looks like a variable of Kubernetes", envName(f.name))
		}
	}
}

func TestFlagsThatAreNoKeyAreLeftAlone(t *testing.T) {
	options := given{}.options(t)
	options.Flags.String("format", "", "")
	if err := options.Flags.Parse([]string{"--format=table"}); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(options); err != nil {
		t.Error(err)
	}
}
