package arguments

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"prescient/config/value"
)

// Refused is what is wrong with the value of a flag, by the flag's name.
type Refused struct{ error }

// Unwrap returns what is wrong.
func (r *Refused) Unwrap() error { return r.error }

// number is the value of a flag that takes a whole number within bounds.
type number struct {
	pflag.Value
	flag        string
	into        *int
	least, most int
}

// Number adds a flag that takes a whole number within bounds. A name of one letter is that of a short flag as well, whose long one is count.
func Number(flags *pflag.FlagSet, into *int, name string, fallback, least, most int, usage string) {
	flag := "--" + name
	if len(name) == 1 {
		flag = "-" + name
		flags.IntVarP(into, "count", name, fallback, usage)
		name = "count"
	} else {
		flags.IntVar(into, name, fallback, usage)
	}
	added := flags.Lookup(name)
	added.Value = &number{added.Value, flag, into, least, most}
}

// Set implements pflag.Value.
func (n *number) Set(text string) error {
	if err := n.Value.Set(text); err != nil {
		return err
	}
	if err := value.Within(*n.into, n.least, n.most); err != nil {
		return &Refused{fmt.Errorf("%s %w", n.flag, err)}
	}
	return nil
}

// duration is the value of a flag that takes a duration.
type duration struct {
	flag, text, fallback string
	parse                value.Parser
}

// Duration adds a flag that takes a duration. An empty text is none, where that is the fallback.
func Duration(flags *pflag.FlagSet, into *time.Duration, name, fallback, usage string) {
	addDuration(flags, into, value.AnyDuration(into), name, fallback, usage)
}

// Within adds a flag that takes a duration within bounds.
func Within(flags *pflag.FlagSet, into *time.Duration, name, fallback string, least, most time.Duration, usage string) {
	addDuration(flags, into, value.Duration(into, least, most), name, fallback, usage)
}

func addDuration(flags *pflag.FlagSet, into *time.Duration, parse value.Parser, name, fallback, usage string) {
	*into, _ = value.ParseDuration(fallback)
	flags.Var(&duration{"--" + name, fallback, fallback, parse}, name, usage)
}

// Set implements pflag.Value.
func (d *duration) Set(text string) error {
	d.text = text
	if text == "" && d.fallback == "" {
		return nil
	}
	if err := d.parse(text); err != nil {
		return &Refused{value.Named(d.flag, err)}
	}
	return nil
}

func (d *duration) String() string { return d.text }

// Type implements pflag.Value.
func (d *duration) Type() string { return "string" }
