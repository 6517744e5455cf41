package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/input"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/config"
	"prescient/config/value"
	"prescient/jobs/http"
	"prescient/jobs/http/probe"
	"prescient/prescient"
)

// What an endpoint is called for where nothing else is given.
const (
	entityForTests = "test/check-endpoint"
	execForTests   = "check-endpoint"
)

// endpointFlags are the flags of check-endpoint.
type endpointFlags struct {
	entity                          prescient.Entity
	exec, tag, payload              string
	secretFile, secretEnv, endpoint string
}

func checkEndpointCommand(prog *program.Program) *cobra.Command {
	var f endpointFlags
	cmd := &cobra.Command{
		Use:   "check-endpoint [URL]",
		Short: "Call an HTTP check as a worker does, and say what it does wrong",
		Long: `Calls the URL of an HTTP check as a worker does, for the entity of --entity, and says what is wrong with its answers:
whether a worker takes the first for settled, for later or for an error; whether the same call again has the same answer;
and whether bodies that are written in another way, or are larger, are taken. With a secret it also sends what is to be refused: no signature, one by
another secret, one of an hour ago, and one of another body.

The calls are real ones, up to ten: give it an app for tests, or an entity that it may do something about. Where the first
is not answered as it should be, the others are not made. No database is asked.

Without a URL it is that of the job_exec in jobs.http of the configuration, with its secret, headers and guards.
--guards-timeout says how long a call may take.

The exit code says how bad it is: 0 nothing is wrong, 10 something is a warning, 11 something is bad; any other as for every command.
With --json, a line a call: code, severity (ok, not looked at, warn, bad), status, took_ms, text, do.`,
		Example: fmt.Sprintf(`  %[1]s check-endpoint http://127.0.0.1:3000/checks/invoice-unpaid --secret-env CHECK_SECRET --entity invoice/1
  %[1]s check-endpoint --exec invoice-unpaid --json`, prog.Name),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return exit.Usage(fmt.Errorf("%s takes one URL, but was given %d", cmd.CommandPath(), len(args)))
			case len(args) == 1:
				f.endpoint = args[0]
			}
			return checkEndpoint(cmd, prog, f)
		},
	}
	arguments.Parsed(cmd.Flags(), &f.entity, "entity", entityForTests, prescient.ParseEntity, "what the calls are about: name/key, as in order/42")
	cmd.Flags().StringVar(&f.exec, "exec", "", "the job_exec that the calls are for (default "+execForTests+"); without a URL the one of jobs.http")
	cmd.Flags().StringVar(&f.tag, "tag", "", "the tag of the check")
	cmd.Flags().StringVar(&f.payload, "payload", "", "JSON that the endpoint gets; - reads it from stdin, @PATH from a file")
	cmd.Flags().StringVar(&f.secretFile, "secret-file", "", "file that holds the secret of the signature")
	cmd.Flags().StringVar(&f.secretEnv, "secret-env", "", "name of the environment variable that holds the secret of the signature")
	return cmd
}

func checkEndpoint(cmd *cobra.Command, prog *program.Program, f endpointFlags) error {
	if err := cmp.Or(arguments.NotEmpty(cmd, "exec", "secret-file", "secret-env"), arguments.Exclusive(cmd, "secret-file", "secret-env")); err != nil {
		return err
	}
	c, err := prog.Load(cmd)
	if err != nil {
		return err
	}
	o, err := f.options(prog, c)
	if err != nil {
		return err
	}
	if o.Check.Payload, err = input.Payload(cmd.Context(), f.payload, cmd.InOrStdin()); err != nil {
		return exit.NotRead("--payload", err)
	}
	var found []probe.Finding
	err = probe.Run(cmd.Context(), o, func(f probe.Finding) error {
		found = append(found, f)
		if f.Err != nil {
			f.Text = strings.ReplaceAll(f.Text, f.Err.Error(), words.Of(f.Err))
		}
		p := output.To(cmd.OutOrStdout())
		if prog.JSON {
			p.JSON(f)
			return p.Err()
		}
		mark := string(f.Severity)
		if f.Severity == probe.Unseen {
			mark = "?"
		}
		p.Say("%-4s  %s: %s", mark, f.Code, f.Text)
		if f.Do != "" {
			p.Say("      → %s", f.Do)
		}
		return p.Err()
	})
	if err != nil {
		return err
	}
	switch probe.Worst(found) {
	case probe.Bad:
		return &exit.Error{Code: exit.CodeBad, Err: errors.New("the endpoint does something bad"), Printed: true}
	case probe.Warn:
		return &exit.Error{Code: exit.CodeWarn, Err: errors.New("there are warnings"), Printed: true}
	}
	return nil
}

// options says what is called: the URL of the command line, or what the configuration has.
func (f endpointFlags) options(prog *program.Program, c config.Config) (probe.Options, error) {
	o := probe.Options{Grid: c.Grid, Guards: c.Guards, Endpoint: http.Options{URL: f.endpoint}}
	o.Check = prescient.NewJob{Entity: f.entity, JobExec: cmp.Or(f.exec, execForTests), Tag: f.tag}
	if f.endpoint == "" {
		i := slices.IndexFunc(c.Jobs.HTTP, func(job config.HTTPJob) bool { return job.Exec == f.exec })
		if i < 0 {
			return o, exit.Usage(fmt.Errorf("give a URL, http:// or https://, or --exec with a job_exec of jobs.http; it has %s", value.List(execsOver(c), "and")))
		}
		job := c.Jobs.HTTP[i]
		if job.Long {
			job.Guards.Timeout = cmp.Or(job.Guards.Timeout, prescient.MaxHorizon) // for no bound
		}
		o.Guards = job.Guards.Or(c.Guards)
		o.Endpoint = program.HTTPOptions(job)
	} else if u, err := url.Parse(f.endpoint); err == nil && u.User != nil {
		return o, exit.Usage(errors.New("the URL has a user in it, whom others on this machine can see: let jobs.http of the configuration say it, and give --exec"))
	}
	secret, err := f.secret(prog)
	if secret != "" {
		o.Endpoint.Secret = []byte(secret)
	}
	return o, err
}

// secret reads the secret that the flags name; empty where they name none.
func (f endpointFlags) secret(prog *program.Program) (string, error) {
	if f.secretFile != "" {
		secret, err := config.ReadSecret(f.secretFile)
		if err != nil {
			return "", exit.Usage(fmt.Errorf("--secret-file: %w", err))
		}
		return secret, nil
	}
	if f.secretEnv == "" {
		return "", nil
	}
	secret, _ := prog.Env(f.secretEnv)
	if secret == "" {
		return "", exit.Usage(fmt.Errorf("--secret-env: the environment has no variable %s, or an empty one", value.Plain(f.secretEnv)))
	}
	return secret, nil
}

// execsOver are the job_execs of jobs.http.
func execsOver(c config.Config) []string {
	names := []string{}
	for _, job := range c.Jobs.HTTP {
		names = append(names, job.Exec)
	}
	if len(names) == 0 {
		return []string{"none"}
	}
	return names
}
