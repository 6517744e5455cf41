package arguments

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ErrRepeated is the error of a flag that is given a second time with something else.
var ErrRepeated = errors.New("it is given twice")

// once is the value of a flag that may be given once: where the last of several would win, the others would be lost
// without a word. The same may be given again.
type once struct {
	pflag.Value
	given bool
	text  string
}

// Set implements pflag.Value.
func (o *once) Set(text string) error {
	if o.given && text != o.text {
		return ErrRepeated
	}
	o.given, o.text = true, text
	return o.Value.Set(text)
}

// RefuseRepeated makes every flag of a command and of all below it be refused when it is given twice, but for those that
// hold a list.
func RefuseRepeated(cmd *cobra.Command) {
	wrap := func(flag *pflag.Flag) {
		_, list := flag.Value.(pflag.SliceValue)
		_, wrapped := flag.Value.(*once)
		if !list && !wrapped {
			flag.Value = &once{Value: flag.Value}
		}
	}
	cmd.PersistentFlags().VisitAll(wrap)
	cmd.Flags().VisitAll(wrap)
	for _, sub := range cmd.Commands() {
		RefuseRepeated(sub)
	}
}
