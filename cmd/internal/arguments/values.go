package arguments

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"prescient/cmd/internal/times"
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

// Number adds a flag that takes a whole number within bounds. A name of one letter is that of a short flag, whose long one is count.
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

// parsed is the value of a flag whose text is parsed.
type parsed[T any] struct {
	flag, text, fallback string
	into                 *T
	parse                func(text string) (T, error)
}

// Parsed adds a flag whose text is parsed. An empty text is left alone where that is the fallback.
func Parsed[T any](flags *pflag.FlagSet, into *T, name, fallback string, parse func(text string) (T, error), usage string) {
	p := &parsed[T]{"--" + name, fallback, fallback, into, parse}
	_ = p.Set(fallback) // which is a good one
	flags.Var(p, name, usage)
}

// Set implements pflag.Value.
func (p *parsed[T]) Set(text string) error {
	p.text = text
	if text == "" && p.fallback == "" {
		return nil
	}
	v, err := p.parse(text)
	if err != nil {
		return &Refused{value.Named(p.flag, err)}
	}
	*p.into = v
	return nil
}

// String implements pflag.Value.
func (p *parsed[T]) String() string { return p.text }

// Type implements pflag.Value.
func (p *parsed[T]) Type() string { return "string" }

// Duration adds a flag that takes a duration.
func Duration(flags *pflag.FlagSet, into *time.Duration, name, fallback, usage string) {
	Parsed(flags, into, name, fallback, value.ParseDuration, usage)
}

// Within adds a flag that takes a duration within bounds.
func Within(flags *pflag.FlagSet, into *time.Duration, name, fallback string, least, most time.Duration, usage string) {
	Parsed(flags, into, name, fallback, func(text string) (d time.Duration, err error) {
		err = value.Duration(&d, least, most)(text)
		return d, err
	}, usage)
}

// Text adds a flag whose text is checked.
func Text(flags *pflag.FlagSet, into *string, name string, check func(text string) error, usage string) {
	Parsed(flags, into, name, "", func(text string) (string, error) { return text, check(text) }, usage)
}

// Time adds a flag that takes a time, which is read as far as that is possible without knowing what time it is.
func Time(flags *pflag.FlagSet, into *string, name, usage string) {
	Text(flags, into, name, func(text string) error {
		_, err := times.Parse(text, time.Unix(0, 0))
		return err
	}, usage)
}
