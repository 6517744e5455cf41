package rule

import (
	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/definition"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
)

// kind is what rules have of their own, where they are treated as schedules are. Each shard of Vitess has all rules, since checks of its entities go by them.
func kind(prog *program.Program) definition.Kind {
	return definition.Kind{Prog: prog, Names: wantNames, Named: func(name string) definition.Done { return definition.Done{Name: name} }, EachShard: true}
}

// answer prints lines, or what they say in JSON.
func answer(cmd *cobra.Command, prog *program.Program, v any, lines ...string) error {
	if prog.JSON {
		return output.JSON(cmd.OutOrStdout(), v)
	}
	p := output.To(cmd.OutOrStdout())
	for _, line := range lines {
		p.Say("%s", line)
	}
	return p.Err()
}

var (
	oneRule   = arguments.One("the name of one rule")
	wantNames = arguments.Names("rules")
)
