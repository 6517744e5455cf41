package job

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
)

// wantNames wants names, each once.
func wantNames(cmd *cobra.Command, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, exit.Usage(fmt.Errorf("%s takes the names of jobs", cmd.CommandPath()))
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, exit.Usage(fmt.Errorf("%q is there twice", name))
		}
	}
	return names, nil
}

var oneJob = arguments.One("the name of one job")
