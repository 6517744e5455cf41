package units

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/words"
	"prescient/prescient/shards"
)

// controlTime bounds a call of vtctldclient: where its server is away, that tries again for an hour.
const controlTime = 30 * time.Second

// applying has a VSchema applied. It goes by vtctldclient, and not by a statement to vtgate: ALTER VSCHEMA makes no reference table in a sharded
// keyspace. Nor does it go by a pipe of three programs: where GetVSchema fails in one, ApplyVSchema takes the app's tables from the keyspace.
type applying struct {
	keyspace, program string
	dry               bool

	prefix string
	args   []string // of vtctldclient, before its command
	json   bool
}

// applied is what was done, as vschema --apply --json prints it.
type applied struct {
	Keyspace string   `json:"keyspace"`
	Changes  []string `json:"changes"`
	Applied  bool     `json:"applied"`
}

func (a *applying) check(cmd *cobra.Command) error {
	if err := arguments.NotEmpty(cmd, "into", "apply", "vtctldclient"); err != nil {
		return err
	}
	if err := arguments.Exclusive(cmd, "into", "apply"); err != nil {
		return err
	}
	switch {
	case a.keyspace == "" && (a.dry || cmd.Flags().Changed("vtctldclient")):
		return exit.Usage(errors.New("--dry-run and --vtctldclient belong to --apply"))
	case strings.HasPrefix(a.keyspace, "-") || strings.ContainsAny(a.keyspace, ":/[@ "):
		return exit.Usage(fmt.Errorf("--apply %.80q: the name of a keyspace is wanted, without a shard", a.keyspace))
	}
	return nil
}

func (a *applying) apply(cmd *cobra.Command) error {
	has, err := a.control(cmd.Context(), "GetVSchema", a.keyspace)
	if err != nil {
		return err
	}
	wants, err := shards.VSchema(a.prefix, has)
	if err != nil {
		return fmt.Errorf("keyspace %s: %w", a.keyspace, err)
	}
	changes, err := shards.Changes(has, wants)
	if err != nil {
		return err
	}
	did := applied{Keyspace: a.keyspace, Changes: append([]string{}, changes...)}
	if len(changes) > 0 && !a.dry {
		if err := a.replace(cmd.Context(), wants); err != nil {
			return err
		}
		did.Applied = true
	}
	p := output.To(cmd.OutOrStdout())
	if a.json {
		p.JSON(did)
		return p.Err()
	}
	for _, change := range changes {
		p.Say("%s", change)
	}
	switch {
	case did.Applied:
		p.Say("applied to keyspace %s: %s", a.keyspace, words.Counted(len(changes), "change", "changes"))
	case len(changes) > 0:
		p.Say("keyspace %s was not changed: --dry-run", a.keyspace)
	default:
		p.Say("keyspace %s has all of it: nothing was changed", a.keyspace)
	}
	return p.Err()
}

// replace gives the keyspace another VSchema, by a file: it may be longer than an argument can be.
func (a *applying) replace(ctx context.Context, vschema []byte) (err error) {
	file, err := os.CreateTemp("", "vschema-*.json")
	if err != nil {
		return fmt.Errorf("writing the VSchema: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	_, err = file.Write(vschema)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("writing the VSchema: %w", err)
	}
	_, err = a.control(ctx, "ApplyVSchema", "--vschema-file="+file.Name(), a.keyspace)
	return err
}

// control runs a command of vtctldclient, and returns what it printed.
func (a *applying) control(ctx context.Context, command ...string) ([]byte, error) {
	within, cancel := context.WithTimeout(ctx, controlTime)
	defer cancel()
	run := exec.CommandContext(within, a.program, append(a.args[:len(a.args):len(a.args)], command...)...)
	run.WaitDelay = time.Second
	var printed, said bounded
	run.Stdout, run.Stderr = &printed, &said
	err := run.Run()
	switch {
	case err == nil:
		return printed.text.Bytes(), nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case run.Process == nil:
		return nil, exit.Usage(fmt.Errorf("--vtctldclient %s: %w", a.program, err))
	case printed.err != nil:
		err = printed.err
	case within.Err() != nil:
		err = fmt.Errorf("it gave no answer within %s", controlTime)
	}
	err = fmt.Errorf("vtctldclient %s: %w", command[0], err)
	if last := complaint(said.text.String()); last != "" {
		err = fmt.Errorf("%w: %s", err, last)
	}
	return nil, err
}

// bounded takes as much as the longest VSchema has. What a pipe is read into is not to have more methods of a buffer than Write.
type bounded struct {
	text bytes.Buffer
	err  error
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > longestVSchema {
		b.err = fmt.Errorf("it printed more than %d MB", longestVSchema>>20)
		return 0, b.err
	}
	return b.text.Write(p)
}

// complaint is what vtctldclient said last: a line of its log, which is JSON, or text.
func complaint(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	last := lines[len(lines)-1]
	var line struct{ Msg string }
	if json.Unmarshal([]byte(last), &line) == nil && line.Msg != "" {
		last = line.Msg
	}
	return words.Clip(strings.Join(strings.Fields(last), " "), 300)
}
