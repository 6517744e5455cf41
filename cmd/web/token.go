package web

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient/audit"
	"prescient/prescient/ops"
)

// Token returns the command token.
func Token(prog *program.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:        "token",
		SuggestFor: []string{"tokens", "login"},
		Short:      "Make, list, replace and revoke the tokens of callers over HTTP",
		Long: `A token lets a caller in, over HTTP, with a role: viewer, operator or admin. It is shown once, when it is made: the
database keeps a hash. Who may make the first one is a matter of the database: it needs the role serve-admin or owner.
Admins make others over HTTP.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(createCommand(prog), listCommand(prog), rotateCommand(prog), revokeCommand(prog))
	return cmd
}

// withOps runs what an admin does, by the account of dsn.
func withOps(cmd *cobra.Command, prog *program.Program, do func(ctx context.Context, o *ops.Ops, by ops.Caller) error) error {
	return prog.Read(cmd, func(s *program.Session) error {
		o, err := opsOf(cmd.Context(), s, ops.Accounts{Viewer: s.DB, Operator: s.DB, Admin: s.DB})
		if err != nil {
			return s.Explain(err)
		}
		by := audit.Of(cmd.Context())
		return s.Explain(do(cmd.Context(), o, ops.Caller{Name: prog.Person(s.Config), Role: ops.Admin, Reason: by.Reason, Host: by.Host}))
	})
}

func createCommand(prog *program.Program) *cobra.Command {
	var role string
	var lasts time.Duration
	cmd := &cobra.Command{
		Use:   "create NAME --role ROLE",
		Short: "Make a token and print it, this once",
		Long: `Makes a token for a person or a program, whose name stands in the audit with what is done by it, and prints it. Nobody
can see it again.`,
		Example: fmt.Sprintf("  TOKEN=$(%[1]s token create ci --role operator --for 30d)", prog.Name),
		Args:    arguments.One("the name of a person or a program"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := ops.ParseRole(role); err != nil {
				return exit.Usage(fmt.Errorf("--role: %w", err))
			}
			return withOps(cmd, prog, func(ctx context.Context, o *ops.Ops, by ops.Caller) error {
				made, err := ops.CreateToken.Do(ctx, o, by, ops.NewToken{Name: args[0], Role: ops.Role(role), ExpiresMS: lasts.Milliseconds()})
				if err != nil {
					return err
				}
				return printMade(cmd, prog, made)
			})
		},
	}
	cmd.Flags().StringVar(&role, "role", "", "what it lets its caller do: viewer, operator or admin")
	lifeFlag(cmd, &lasts)
	return program.Reasoned(cmd)
}

func rotateCommand(prog *program.Program) *cobra.Command {
	var lasts, overlap time.Duration
	cmd := &cobra.Command{
		Use:     "rotate NUMBER",
		Short:   "Make a token in the place of another, and print it, this once",
		Long:    `Makes a token of the same name and role, and prints it. The old one is good for --overlap still.`,
		Example: fmt.Sprintf("  %[1]s token rotate 7 --overlap 1h", prog.Name),
		Args:    arguments.One("the number of a token, as token list shows it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			number, err := numberOf(args[0])
			if err != nil {
				return err
			}
			return withOps(cmd, prog, func(ctx context.Context, o *ops.Ops, by ops.Caller) error {
				ms := overlap.Milliseconds()
				made, err := ops.RotateToken.Do(ctx, o, by, ops.Rotating{Number: number, OverlapMS: &ms, ExpiresMS: lasts.Milliseconds()})
				if err != nil {
					return err
				}
				return printMade(cmd, prog, made)
			})
		},
	}
	arguments.Within(cmd.Flags(), &overlap, "overlap", "1d", 0, ops.MaxOverlap, "how long the old one is still good")
	lifeFlag(cmd, &lasts)
	return program.Reasoned(cmd)
}

func revokeCommand(prog *program.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "revoke NUMBER",
		Short:   "Have a token refused from now on",
		Long:    `Has a token refused from the next request on. That it was revoked before is no failure.`,
		Example: fmt.Sprintf("  %[1]s token revoke 7 --reason 'it was in a log'", prog.Name),
		Args:    arguments.One("the number of a token, as token list shows it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			number, err := numberOf(args[0])
			if err != nil {
				return err
			}
			return withOps(cmd, prog, func(ctx context.Context, o *ops.Ops, by ops.Caller) error {
				t, err := ops.RevokeToken.Do(ctx, o, by, ops.Revoking{Number: number})
				if err != nil {
					return err
				}
				return output.Answer(cmd.OutOrStdout(), prog.JSON, t, "token %d of %s is revoked since %s", t.Number, t.Name, output.Second(t.RevokedAt))
			})
		},
	}
	return program.Reasoned(cmd)
}

func listCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List tokens, without what is secret of them",
		Long:  `Lists the tokens by their numbers: whose they are, what they may do, until when they are good and when they were last used.`,
		Args:  arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withOps(cmd, prog, func(ctx context.Context, o *ops.Ops, by ops.Caller) error {
				all, err := everyPage(ctx, o, by, ops.ListTokens)
				if err != nil {
					return err
				}
				return output.Rows(cmd.OutOrStdout(), prog.JSON, all, "there are no tokens", []output.Column{{Title: "token", Right: true}, {Title: "name"}, {Title: "role"}, {Title: "state"},
					{Title: "made (UTC)"}, {Title: "good until"}, {Title: "last used"}}, func(t ops.Token) []string {
					return []string{t.Cursor(), words.Clip(t.Name, 40), string(t.Role), t.State, output.Second(&t.CreatedAt), output.Second(&t.ExpiresAt), output.Second(t.LastUsedAt)}
				})
			})
		},
	}
}

func lifeFlag(cmd *cobra.Command, into *time.Duration) {
	arguments.Within(cmd.Flags(), into, "for", "90d", time.Second, ops.MaxTokenTime, "how long it is good, 366d at most")
}

// printMade prints a token alone to stdout, for $(…), and to stderr what it is.
func printMade(cmd *cobra.Command, prog *program.Program, made ops.MadeToken) error {
	if prog.JSON {
		return output.JSON(cmd.OutOrStdout(), made)
	}
	if err := output.Say(cmd.OutOrStdout(), "%s", made.Secret); err != nil {
		return err
	}
	return output.Say(cmd.ErrOrStderr(), "token %d of %s (%s), good until %s; it is not shown again", made.Number, made.Name, string(made.Role), output.Second(&made.ExpiresAt))
}

func numberOf(text string) (uint64, error) {
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, exit.Usage(fmt.Errorf("%.40q is no number of a token; token list shows these", words.Clean(text)))
	}
	return number, nil
}
