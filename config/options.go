package config

import (
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
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
	// NoDatabase leaves out the DSNs, TLS and how people sign in: for what has a database of its own. Their files need not be there.
	NoDatabase bool
	// Env looks up a variable; os.LookupEnv by default.
	Env func(name string) (string, bool)
	// Environ lists the variables as name=value, to find the unknown ones among them; os.Environ by default, and
	// nothing where Env is given.
	Environ func() []string
}

// complete fills in what was left out.
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

// usualPaths are where a file is looked for.
func (o Options) usualPaths() []string {
	paths := []string{"prescient.yaml"}
	base, _ := o.Env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		home, _ := o.Env("HOME")
		base = filepath.Join(home, ".config")
	}
	if filepath.IsAbs(base) {
		paths = append(paths, filepath.Join(base, "prescient", "prescient.yaml"))
	}
	return append(paths, "/etc/prescient/prescient.yaml")
}
