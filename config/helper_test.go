package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// given is what a test configures with.
type given struct {
	file  string // its text; no file if empty
	env   map[string]string
	flags []string
}

func (g given) options(t testing.TB) Options {
	t.Helper()
	options := Options{
		SearchPaths: []string{}, PasswordInFlag: true,
		Env: func(name string) (string, bool) { v, ok := g.env[name]; return v, ok },
		Environ: func() []string {
			var list []string
			for name, v := range g.env {
				list = append(list, name+"="+v)
			}
			return list
		},
		Flags: pflag.NewFlagSet("test", pflag.ContinueOnError),
	}
	AddFlags(options.Flags)
	if err := options.Flags.Parse(g.flags); err != nil {
		t.Fatal(err)
	}
	if g.file != "" {
		options.File = write(t, "prescient.yaml", g.file)
	}
	return options
}

// load loads what was given. The path of the file is FILE in the error.
func (g given) load(t testing.TB) (Config, string) {
	t.Helper()
	options := g.options(t)
	c, err := Load(options)
	if err == nil {
		return c, ""
	}
	text := err.Error()
	if options.File != "" {
		text = strings.ReplaceAll(text, options.File, "FILE")
	}
	return c, text
}

func (g given) mustLoad(t testing.TB) Config {
	t.Helper()
	c, problem := g.load(t)
	if problem != "" {
		t.Fatal(problem)
	}
	return c
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// withoutSources drops what is not the configuration itself, to compare the rest.
func withoutSources(c Config) Config {
	c.File, c.settings = "", nil
	return c
}

// bare is a Config that prints its fields.
type bare Config
