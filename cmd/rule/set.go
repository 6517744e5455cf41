package rule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient"
	"prescient/prescient/rule"
	"prescient/prescient/rulebook"
)

// previewFor is how long --dry-run looks at what is pending.
const previewFor = 10 * time.Second

// putOff is what becomes of checks of a job_exec that nobody has.
const putOff = "workers put its checks off, further each time, until one has it"

// definitionFlags are what a command says of a rule.
type definitionFlags struct {
	is            rule.Rule
	onPending     string
	ends, payload string
}

// setFlags are the flags of set.
type setFlags struct {
	definitionFlags
	version       int
	leave, dryRun bool
}

func setCommand(prog *program.Program) *cobra.Command {
	var f setFlags
	cmd := &cobra.Command{
		Use:   "set NAME",
		Short: "Make a rule, or change one",
		Long: `Makes a rule, or changes what the flags name of one. Then it moves what is pending to the times of the new version, unless --leave
says otherwise: whoever has moved a check by itself keeps that. Where it is stopped, "move" goes on.

--dry-run changes nothing, and says what would move. With --version it is refused, with exit code 6, unless that is the rule's. A rule keeps
its occasion and its job_exec: another one is another rule.`,
		Example: fmt.Sprintf(`  %[1]s rule set remind --occasion order.placed --exec send-reminder --delay 3h --ends order.shipped,order.cancelled
  %[1]s rule set remind --delay 4h --dry-run
  %[1]s rule set remind --delay 4h --reason 'customers asked'`, prog.Name),
		Args: oneRule,
		RunE: func(cmd *cobra.Command, args []string) error { return f.set(cmd, prog, args[0]) },
	}
	f.addFlags(cmd)
	flags := cmd.Flags()
	arguments.Number(flags, &f.version, "version", 0, 0, 4_000_000_000, "the version that is to be changed (default whichever there is)")
	flags.BoolVar(&f.leave, "leave", false, "leave what is pending as it is")
	flags.BoolVar(&f.dryRun, "dry-run", false, "change nothing, and say what would move")
	return cmd
}

func (f *definitionFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.is.Occasion, "occasion", "", "what makes its checks: order.placed")
	flags.StringVar(&f.is.JobExec, "exec", "", "the job_exec of its checks")
	arguments.Duration(flags, &f.is.Delay, "delay", "0s", "how long after the occasion: 3h")
	arguments.Duration(flags, &f.is.Spread, "spread", "0s", "somewhere in so much more time, always at the same place: 10m")
	arguments.Duration(flags, &f.is.ExpiresAfter, "expires", "0s", "how long after it is due a check is of use: 1h (default for ever)")
	flags.StringVar(&f.onPending, "on-pending", "", "what a further occasion does to a pending check: keep (default), replace, earlier or later")
	flags.StringVar(&f.ends, "ends", "", "the occasions that end its check, with commas between")
	flags.StringVar(&f.payload, "payload", "", "a JSON object, into which the data of an occasion are merged")
	arguments.Number(flags, &f.is.MaxChecks, "max-checks", 0, prescient.None, 1_000_000, "guard of its own (default that of the job_exec)")
	arguments.Number(flags, &f.is.MaxErrors, "max-errors", 0, prescient.None, 1_000_000, "guard of its own (default that of the job_exec)")
}

// rule is the rule of a name, if there is one, as the flags change it.
func (f *definitionFlags) rule(cmd *cobra.Command, s *program.Session, name string) (r rule.Rule, old *rulebook.Stored, err error) {
	r.Name = name
	found, err := s.Rules.Get(cmd.Context(), s.DB, name)
	switch {
	case err == nil:
		r, old = found.Rule, &found
	case !errors.Is(err, rulebook.ErrNotFound):
		return r, nil, s.Explain(err)
	case !cmd.Flags().Changed("occasion") || !cmd.Flags().Changed("exec"):
		return r, nil, exit.Usage(fmt.Errorf("there is no rule %s: give --occasion and --exec to make it", name))
	}
	f.onto(cmd, &r)
	return r, old, nil
}

// onto puts what the flags name into a rule.
func (f *definitionFlags) onto(cmd *cobra.Command, r *rule.Rule) {
	given := cmd.Flags().Changed
	for name, set := range map[string]func(){
		"occasion": func() { r.Occasion = f.is.Occasion }, "exec": func() { r.JobExec = f.is.JobExec }, "delay": func() { r.Delay = f.is.Delay }, "spread": func() { r.Spread = f.is.Spread },
		"expires": func() { r.ExpiresAfter = f.is.ExpiresAfter }, "on-pending": func() { r.OnPending = prescient.OnPending(f.onPending) },
		"ends": func() {
			if r.Ends = nil; f.ends != "" {
				r.Ends = strings.Split(f.ends, ",")
			}
		},
		"payload": func() {
			if r.Payload = nil; f.payload != "" {
				r.Payload = []byte(f.payload)
			}
		},
		"max-checks": func() { r.MaxChecks = f.is.MaxChecks }, "max-errors": func() { r.MaxErrors = f.is.MaxErrors },
	} {
		if given(name) {
			set()
		}
	}
}

// set is what --json prints of a change.
type set struct {
	Name    string            `json:"name"`
	Did     string            `json:"did"`
	Version uint32            `json:"version,omitempty"`
	Preview *rulebook.Preview `json:"preview,omitempty"`
	moved
}

func (f *setFlags) set(cmd *cobra.Command, prog *program.Program, name string) error {
	return prog.ConnectEach(cmd, func(s *program.Session) error {
		ctx := cmd.Context()
		r, old, err := f.rule(cmd, s, name)
		if err != nil {
			return err
		}
		out := set{Name: name, Did: "kept"}
		if f.dryRun {
			p, err := s.Rules.Preview(ctx, s.DB, r, previewFor)
			if err != nil {
				return s.Explain(err)
			}
			out.Did, out.Preview = "nothing", &p
			return answer(cmd, prog, out, inWords(name, p)...)
		}
		older := rule.Move
		if f.leave {
			older = rule.Leave
		}
		version := uint32(f.version)
		if version == 0 && old != nil {
			version = old.Version // what was read, and stands in its place where no flag was given
		}
		changed, version, err := s.Rules.Put(ctx, s.DB, r, version, older)
		if err != nil {
			return s.Explain(err)
		}
		out.Version = version
		if !changed {
			return output.Answer(cmd.OutOrStdout(), prog.JSON, out, "kept: %s is so already", name)
		}
		if out.Did = "changed"; version == 1 {
			out.Did = "created"
		}
		if out.moved, err = move(cmd, s, name); err != nil {
			return s.Explain(notMoved(name, fmt.Sprintf("%s, with version %d", out.Did, version), prog.Name, err))
		}
		err = output.Answer(cmd.OutOrStdout(), prog.JSON, out, "%s: %s, with version %d%s", out.Did, name, version, out.moved)
		return errors.Join(err, s.WarnMisspelt(cmd, putOff, r.JobExec))
	})
}

// inWords says what a change would move.
func inWords(name string, p rulebook.Preview) (lines []string) {
	text := fmt.Sprintf("it would move %d pending checks of %s", p.Moves, name)
	if !p.Whole {
		text = fmt.Sprintf("it would move %d pending checks of %s at least: later ones were not looked at", p.Moves, name)
	}
	if p.Late > 0 {
		text += fmt.Sprintf(", %d of them to times that are over", p.Late)
	}
	if p.Stays > 0 {
		text += fmt.Sprintf("; %d stay, which others moved or which were called", p.Stays)
	}
	lines = append(lines, text)
	for _, one := range p.Samples {
		lines = append(lines, fmt.Sprintf("  %s from %s to %s", one.Entity, output.Stamp(one.DueAt), output.Stamp(one.To)))
	}
	return lines
}
