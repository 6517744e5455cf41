package definition

import (
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/output"
)

// WentBack says that one is as it was with a version, or was so already.
func (k Kind) WentBack(cmd *cobra.Command, name string, version uint64, changed bool) error {
	done, text := k.Named(name), fmt.Sprintf("changed: %s is as it was with version %d", name, version)
	done.Did = "changed"
	if !changed {
		done.Did, text = kept, fmt.Sprintf("kept: %s is so already", name)
	}
	return output.Answer(cmd.OutOrStdout(), k.Prog.JSON, done, "%s", text)
}
