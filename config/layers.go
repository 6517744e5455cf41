package config

import (
	"errors"
	"strings"

	"github.com/spf13/viper"
)

// layers are what was given by key, the strongest on top, and where each came from.
type layers struct {
	values  *viper.Viper
	sources map[string]string
}

// layer puts flags over the environment over the file over the defaults. Every value is text here: viper's casts would
// make a 0 of a misspelt number, and its own look at the environment knows no other than the process's.
func layer(options Options, d document, p *problems) layers {
	l := layers{values: viper.New(), sources: make(map[string]string)}
	file := make(map[string]any)
	for _, f := range fields(new(Config)) {
		l.values.SetDefault(f.name, f.fallback)
		l.sources[f.name] = sourceDefault
		if v, given := d.values[f.name]; given {
			file[f.name] = v.text
			l.sources[f.name] = d.source(v.line)
		}
		if text, source := options.override(f.name); source != "" {
			l.sources[f.name] = source
			if err := l.values.BindFlagValue(f.name, override(text)); err != nil {
				p.add(f.name, source, err)
			}
		}
	}
	if err := l.values.MergeConfigMap(file); err != nil {
		p.add(keyConfig, d.path, errors.New("the file cannot be merged"))
	}
	return l
}

// given returns what was given for a key, or its default, and where it came from.
func (l layers) given(key string) (text, source string) {
	return l.values.GetString(key), l.sources[key]
}

// override returns what a flag or else the environment says about a key, and which it was.
func (o Options) override(key string) (text, source string) {
	if o.Flags != nil {
		if flag := o.Flags.Lookup(flagName(key)); flag != nil && flag.Changed {
			return flag.Value.String(), ofFlag + "--" + flag.Name
		}
	}
	if text, _ := o.Env(envName(key)); text != "" {
		return text, ofVariable + envName(key)
	}
	return "", ""
}

// The beginnings of sources.
const (
	ofFlag     = "flag "
	ofVariable = "environment variable "
)

// strength orders sources: flags over the environment over the file.
func strength(source string) int {
	switch {
	case strings.HasPrefix(source, ofFlag):
		return 2
	case strings.HasPrefix(source, ofVariable):
		return 1
	}
	return 0
}

// override is a viper.FlagValue that was given.
type override string

func (o override) HasChanged() bool    { return true }
func (o override) Name() string        { return "" }
func (o override) ValueString() string { return string(o) }
func (o override) ValueType() string   { return "text" }
