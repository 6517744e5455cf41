package config

import (
	"strings"

	"github.com/spf13/pflag"
)

// AddFlags registers the flags of the common keys: all but those of jobs. Their values are checked by [Load], together
// with everything else. It panics, as pflag does, if a flag of such a name is there already.
func AddFlags(flags *pflag.FlagSet) {
	for _, f := range fields(new(Config)) {
		if f.usage != "" {
			flags.Var(&flagText{text: f.fallback, kind: f.kind}, flagName(f.name), f.usage)
		}
	}
}

// flagName returns the flag of a key: --worker-stop-grace for worker.stop_grace.
func flagName(key string) string { return strings.NewReplacer(".", "-", "_", "-").Replace(key) }

// flagText is a pflag.Value that takes any text.
type flagText struct{ text, kind string }

func (t *flagText) Set(text string) error {
	t.text = text
	return nil
}
func (t *flagText) String() string { return t.text }
func (t *flagText) Type() string   { return t.kind }
