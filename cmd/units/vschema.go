package units

import (
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/input"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient/shards"
)

// longestVSchema is how long the VSchema of a keyspace may be, in bytes.
const longestVSchema = 16 << 20

// VSchema returns the command vschema.
func VSchema(prog *program.Program) *cobra.Command {
	var into string
	cmd := &cobra.Command{
		Use:   "vschema [--into FILE]",
		Short: "Print where rows lie on the shards of Vitess",
		Long: `Prints the VSchema of a sharded keyspace of Vitess, for vtctldclient ApplyVSchema, which replaces what the keyspace had: so
give what it has by --into, and the app's own tables stay in it. It connects to nothing.

Pending checks, history and long runs lie where their job_key says, which begins with a hash of the entity; schedules, jobs of
steps, events and the audit where their place says, which is that hash. What a shard has for itself, such as its ledger and
shared steps, are reference tables: only sessions that are targeted at the shard are to write them.`,
		Example: fmt.Sprintf(`  vtctldclient GetVSchema shop | %s vschema --into - > shop.json
  vtctldclient ApplyVSchema --vschema-file shop.json shop`, prog.Name),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := prog.Load(cmd)
			if err != nil {
				return err
			}
			var has []byte
			if into != "" {
				if has, err = input.ReadAll(cmd.Context(), into, cmd.InOrStdin(), longestVSchema); err != nil {
					return fmt.Errorf("reading the VSchema: %w", err)
				}
				if len(has) > longestVSchema {
					return exit.Usage(fmt.Errorf("--into %s: it is longer than %d MB", input.Called(into), longestVSchema>>20))
				}
			}
			text, err := shards.VSchema(c.TablePrefix, has)
			if err != nil {
				return err
			}
			return output.JSON(cmd.OutOrStdout(), text)
		},
	}
	cmd.Flags().StringVar(&into, "into", "", "a file with the VSchema that the keyspace has, or - for stdin")
	return cmd
}
