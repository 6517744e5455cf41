package config

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

// Options say where a configuration comes from. The zero Options are the usual places and no flags.
type Options struct {
	// File is the path of the file, which has to be there. Empty: the one that PRESCIENT_CONFIG names, which has to be
	// there too, or else the first of SearchPaths that exists, or none.
	File string
	// SearchPaths are tried in turn. Nil: prescient.yaml, $XDG_CONFIG_HOME/prescient/prescient.yaml (~/.config where
	// that is not set) and /etc/prescient/prescient.yaml. Empty, but not nil: none.
	SearchPaths []string
	// Flags are looked up by the names that [AddFlags] gives them; only those that were set count. Flags that are no
	// key are left alone. Nil for none.
	Flags *pflag.FlagSet
	// PasswordInFlag allows a DSN with a password on the command line, which others on the machine can see: for a
	// demonstration. Otherwise it is refused.
	PasswordInFlag bool
	// Env looks up a variable; os.LookupEnv by default.
	Env func(name string) (string, bool)
	// Environ lists the variables as name=value, to find the unknown ones among them; os.Environ by default, and
	// nothing where Env is given.
	Environ func() []string
}

// Load reads and validates the configuration. The error joins an [*Error] for everything that is wrong, in one line
// each and without secrets; the Config is then zero. Files with secrets are read too, so these have to be there. A DSN
// is not asked for: see [Config.RequireDSN].
func Load(options Options) (Config, error) {
	l := &loader{options: options.complete()}
	l.readFile()
	l.refuseUnknownVariables(l.referredVariables())
	l.layer()

	c := Config{File: l.document.path}
	for _, f := range fields(&c) {
		l.take(f)
	}
	l.resolveDSN(&c)
	l.resolveTLS(&c)
	l.resolveSlots(&c)
	l.resolveJobs(&c)
	if len(l.list) > 0 {
		return Config{}, errors.Join(l.list...)
	}
	c.settings = l.settings
	return c, nil
}

// Default returns the configuration where nothing is given.
func Default() Config {
	none := func(string) (string, bool) { return "", false }
	c, err := Load(Options{SearchPaths: []string{}, Env: none})
	if err != nil {
		panic(fmt.Errorf("config: the defaults are not valid: %w", err))
	}
	return c
}

func (o Options) complete() Options {
	if o.Environ == nil {
		o.Environ = func() []string { return nil }
		if o.Env == nil {
			o.Environ = os.Environ
		}
	}
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	if o.SearchPaths == nil {
		o.SearchPaths = o.usualPaths()
	}
	return o
}

type loader struct {
	problems
	options  Options
	document document
	layers   *viper.Viper
	sources  map[string]string
	settings []Setting
}

// sourceDefault is the source of what was not given.
const sourceDefault = "default"

// layer puts flags over the environment over the file over the defaults. Every value is text here: viper's casts would
// make a 0 of a misspelt number, and its own look at the environment knows no other than the process's.
func (l *loader) layer() {
	l.layers = viper.New()
	l.sources = make(map[string]string)
	file := make(map[string]any)
	for _, f := range fields(new(Config)) {
		l.layers.SetDefault(f.name, f.fallback)
		l.sources[f.name] = sourceDefault
		if v, given := l.document.values[f.name]; given {
			file[f.name] = v.text
			l.sources[f.name] = l.document.source(v.line)
		}
		if text, source := l.override(f.name); source != "" {
			l.sources[f.name] = source
			if err := l.layers.BindFlagValue(f.name, override(text)); err != nil {
				l.add(f.name, source, err)
			}
		}
	}
	if err := l.layers.MergeConfigMap(file); err != nil {
		l.add(keyConfig, l.document.path, errors.New("the file cannot be merged"))
	}
}

// override returns what a flag or else the environment says about a key, and which it was.
func (l *loader) override(key string) (text, source string) {
	if l.options.Flags != nil {
		if flag := l.options.Flags.Lookup(flagName(key)); flag != nil && flag.Changed {
			return flag.Value.String(), "flag --" + flag.Name
		}
	}
	if text, _ := l.options.Env(envName(key)); text != "" {
		return text, "environment variable " + envName(key)
	}
	return "", ""
}

// override is a viper.FlagValue that was given.
type override string

func (o override) HasChanged() bool    { return true }
func (o override) Name() string        { return "" }
func (o override) ValueString() string { return string(o) }
func (o override) ValueType() string   { return "text" }

// take reads the value of a key that needs no other, and notes what it is for Describe.
func (l *loader) take(f field) {
	text, source := l.given(f.name)
	if text == "" && f.fallback == "" {
		source = sourceDefault
	}
	l.note(f.name, text, source)
	l.set(f, f.name, text, source)
}

func (l *loader) given(key string) (text, source string) {
	return l.layers.GetString(key), l.sources[key]
}

// set hands a text to a field. An empty text of a key whose default is empty counts as not given.
func (l *loader) set(f field, key, text, source string) {
	if f.set == nil || text == "" && f.fallback == "" {
		return
	}
	if err := f.set(text); err != nil {
		l.add(key, source, err)
	}
}

func (l *loader) note(key, text, source string) {
	if confidential(text) {
		text = mask
	}
	l.settings = append(l.settings, Setting{Key: key, Value: text, Source: source})
}
