package web

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/input"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient/ops"
)

// User returns the command user.
func User(prog *program.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:        "user",
		SuggestFor: []string{"users", "account", "adduser"},
		Short:      "Add, list, disable and enable who signs in to the page",
		Long: `A user signs in to the page that serve serves, by name and password, with a role: viewer, operator or admin. Of the
password the database keeps an argon2id. Who may add the first one is a matter of the database: it needs the role
serve-admin or owner.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(addCommand(prog), usersCommand(prog), passwordCommand(prog), roleCommand(prog), sessionsCommand(prog),
		changeCommand(prog, ops.DisableUser, "disable NAME", "Let a user sign in no more", "Lets a user sign in no more. What is open is over within 10 seconds. That it was so before is no failure."),
		changeCommand(prog, ops.EnableUser, "enable NAME", "Let a user sign in again who was disabled", "Lets a user sign in again who was disabled. That it was so before is no failure."))
	return cmd
}

const ofUser = "the name of a user"

func addCommand(prog *program.Program) *cobra.Command {
	var role string
	var admin bool
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Let somebody sign in to the page",
		Long: `Lets somebody sign in to the page. The password is asked for on a terminal, which does not show it, or read as the one
line of stdin; the user changes it on the page. A name that is not free is a failure.`,
		Example: fmt.Sprintf("  %[1]s user add ada --role operator\n  %[1]s user add grace --admin < password.txt", prog.Name),
		Args:    arguments.One(ofUser),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := arguments.Exclusive(cmd, "admin", "role"); err != nil {
				return err
			}
			if admin {
				role = string(ops.Admin)
			}
			if _, err := ops.ParseRole(role); err != nil {
				return exit.Usage(fmt.Errorf("--role: %w", err))
			}
			password, err := readPassword(cmd, args[0])
			if err != nil {
				return err
			}
			return withOps(cmd, prog, func(ctx context.Context, o *ops.Ops, by ops.Caller) error {
				u, err := ops.AddUser.Do(ctx, o, by, ops.NewUser{Name: args[0], Role: ops.Role(role), Password: password})
				if err != nil {
					return err
				}
				return sayUser(cmd, prog, u)
			})
		},
	}
	cmd.Flags().StringVar(&role, "role", string(ops.Viewer), "what the user may do: viewer, operator or admin")
	cmd.Flags().BoolVar(&admin, "admin", false, "the same as --role admin")
	return program.Reasoned(cmd)
}

func passwordCommand(prog *program.Program) *cobra.Command {
	return program.Reasoned(&cobra.Command{
		Use:     "password NAME",
		Short:   "Give a user another password",
		Long:    `Gives a user another password, which is read as user add does. What is open is over within 10 seconds.`,
		Example: fmt.Sprintf("  %[1]s user password ada --reason 'forgotten'", prog.Name),
		Args:    arguments.One(ofUser),
		RunE: func(cmd *cobra.Command, args []string) error {
			password, err := readPassword(cmd, args[0])
			if err != nil {
				return err
			}
			return withOps(cmd, prog, func(ctx context.Context, o *ops.Ops, by ops.Caller) error {
				u, err := ops.SetUserPassword.Do(ctx, o, by, ops.NewPassword{OfUser: ops.OfUser{Name: args[0]}, Password: password})
				if err != nil {
					return err
				}
				return sayUser(cmd, prog, u)
			})
		},
	})
}

// readPassword reads the password that somebody is to have.
func readPassword(cmd *cobra.Command, name string) (string, error) {
	password, err := input.Password(cmd.Context(), cmd.InOrStdin(), cmd.ErrOrStderr(), "password of "+words.Clip(name, 40))
	if err != nil {
		return "", exit.NotRead("the password", err)
	}
	return password, nil
}

func roleCommand(prog *program.Program) *cobra.Command {
	return program.Reasoned(&cobra.Command{
		Use:     "role NAME ROLE",
		Short:   "Give a user another role",
		Long:    `Gives a user another role: viewer, operator or admin. In what is open it holds within 10 seconds.`,
		Example: fmt.Sprintf("  %[1]s user role ada viewer", prog.Name),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return exit.Usage(fmt.Errorf("%s takes the name of a user and a role", cmd.CommandPath()))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return withOps(cmd, prog, func(ctx context.Context, o *ops.Ops, by ops.Caller) error {
				u, err := ops.SetUserRole.Do(ctx, o, by, ops.NewRole{OfUser: ops.OfUser{Name: args[0]}, Role: ops.Role(args[1])})
				if err != nil {
					return err
				}
				return sayUser(cmd, prog, u)
			})
		},
	})
}

// changeCommand is a command that does to a user what an operation does.
func changeCommand(prog *program.Program, op ops.Operation[ops.OfUser, ops.User], use, short, long string) *cobra.Command {
	return program.Reasoned(&cobra.Command{
		Use:   use,
		Short: short,
		Long:  long,
		Args:  arguments.One(ofUser),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withOps(cmd, prog, func(ctx context.Context, o *ops.Ops, by ops.Caller) error {
				u, err := op.Do(ctx, o, by, ops.OfUser{Name: args[0]})
				if err != nil {
					return err
				}
				return sayUser(cmd, prog, u)
			})
		},
	})
}

// sayUser says how a user is.
func sayUser(cmd *cobra.Command, prog *program.Program, u ops.User) error {
	return output.Answer(cmd.OutOrStdout(), prog.JSON, u, "user %s is %s, %s", words.Clip(u.Name, 40), string(u.Role), stateOf(u))
}

func stateOf(u ops.User) string {
	if u.DisabledAt != nil {
		return "disabled since " + output.Second(u.DisabledAt)
	}
	return "enabled"
}

func usersCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List who signs in to the page",
		Long:  `Lists the users by their names: what they may do, whether they are disabled, and when they last used the page.`,
		Args:  arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withOps(cmd, prog, func(ctx context.Context, o *ops.Ops, by ops.Caller) error {
				all, err := everyPage(ctx, o, by, ops.ListUsers)
				if err != nil {
					return err
				}
				return output.Rows(cmd.OutOrStdout(), prog.JSON, all, "there are no users", []output.Column{{Title: "user"}, {Title: "role"}, {Title: "state"}, {Title: "sessions", Right: true}, {Title: "added (UTC)"},
					{Title: "password of"}, {Title: "last used"}}, func(u ops.User) []string {
					return []string{words.Clip(u.Name, 40), string(u.Role), stateOf(u), fmt.Sprint(u.Sessions), output.Second(&u.CreatedAt), output.Second(&u.ChangedAt), output.Second(u.LastUsedAt)}
				})
			})
		},
	}
}

func sessionsCommand(prog *program.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions on the page, or end those of somebody",
		Long:  `Lists the sessions on the page that are not over: of users, and of those whom a provider of OpenID Connect named.`,
		Args:  arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withOps(cmd, prog, func(ctx context.Context, o *ops.Ops, by ops.Caller) error {
				all, err := everyPage(ctx, o, by, ops.ListSessions)
				if err != nil {
					return err
				}
				return output.Rows(cmd.OutOrStdout(), prog.JSON, all, "there are no sessions", []output.Column{{Title: "session", Right: true}, {Title: "person"}, {Title: "role"}, {Title: "by"}, {Title: "from"},
					{Title: "begun (UTC)"}, {Title: "good until"}}, func(s ops.WebSession) []string {
					return []string{s.Cursor(), words.Clip(s.Person, 40), string(s.Role), map[bool]string{true: "provider", false: "password"}[s.ByProvider], words.Clip(s.Host, 40), output.Second(&s.CreatedAt), output.Second(&s.EndsAt)}
				})
			})
		},
	}
	cmd.AddCommand(program.Reasoned(&cobra.Command{
		Use:     "end NAME",
		Short:   "End all sessions of somebody",
		Long:    `Ends all sessions of a user, or of somebody whom a provider named. They are over within 10 seconds. That there are none is no failure.`,
		Example: fmt.Sprintf("  %[1]s user sessions end ada", prog.Name),
		Args:    arguments.One(ofUser),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withOps(cmd, prog, func(ctx context.Context, o *ops.Ops, by ops.Caller) error {
				n, err := ops.EndSessions.Do(ctx, o, by, ops.OfUser{Name: args[0]})
				if err != nil {
					return err
				}
				return output.Answer(cmd.OutOrStdout(), prog.JSON, n, "sessions of %s that are ended: %d", words.Clip(args[0], 40), n.Count)
			})
		},
	}))
	return cmd
}

// everyPage asks for all pages of a list.
func everyPage[T any](ctx context.Context, o *ops.Ops, by ops.Caller, list ops.Operation[ops.Paging, ops.Page[T]]) (all []T, err error) {
	for asked := (ops.Paging{Limit: 1000}); ; {
		page, err := list.Do(ctx, o, by, asked)
		if err != nil {
			return nil, err
		}
		all, asked.After = append(all, page.Rows...), page.Next
		if page.Next == "" {
			return all, nil
		}
	}
}
