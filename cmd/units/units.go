package units

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/config"
	"prescient/config/value"
	"prescient/prescient/prune"
	"prescient/slots"
)

// unitFlags are the flags of units.
type unitFlags struct {
	shards                  int
	name, user, binary, dir string
	keep, owner             string // of prune
	work, serve             bool
}

// unitFile is a file of units, as units --json prints it.
type unitFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// mostShards bounds how many files come of one command.
const mostShards = 64

// Command returns the command units.
func Command(prog *program.Program) *cobra.Command {
	units := &cobra.Command{
		Use:   "units",
		Short: "Print systemd units or crontab lines that run every slot",
		Long: `Prints what runs every slot, the sweeper and prune on this machine, from the configuration: systemd services and
timers, or the lines of a crontab. Where events.routes says where events go, forward is among them, and notify where there are
notify.receivers. With --shards each of n jobs
serves a share of the slots.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	units.AddCommand(systemdCommand(prog), cronCommand(prog))
	return units
}

func (f *unitFlags) addFlags(cmd *cobra.Command, user, aboutUser string) {
	arguments.Number(cmd.Flags(), &f.shards, "shards", 1, 1, mostShards, "how many jobs share the slots: 1 to "+strconv.Itoa(mostShards))
	cmd.Flags().StringVar(&f.name, "name", "prescient", "what the names of the units begin with")
	cmd.Flags().StringVar(&f.user, "user", user, aboutUser)
	cmd.Flags().StringVar(&f.binary, "binary", "", "absolute path of the program (default this one)")
	cmd.Flags().StringVar(&f.keep, "keep", "90d", "how long prune keeps history, for good; '' leaves prune out, as on all machines but one")
	cmd.Flags().StringVar(&f.owner, "owner-dsn-file", "", "file with the DSN of prune, which needs the role owner (default the DSN of the others)")
}

var unitName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

func (f *unitFlags) check() (err error) {
	if !unitName.MatchString(f.name) {
		return exit.Usage(fmt.Errorf("--name %.80q: only letters, digits and _ . - are allowed, 64 at most", f.name))
	}
	if f.keep != "" {
		if err := value.Duration(new(time.Duration), prune.MinKeep, math.MaxInt64)(f.keep); err != nil {
			return exit.Usage(value.Named("--keep", err))
		}
	} else if f.owner != "" {
		return exit.Usage(errors.New("--owner-dsn-file is for prune, which --keep '' leaves out"))
	}
	if !printable(f.owner) {
		return exit.Usage(fmt.Errorf("--owner-dsn-file %.80q: characters that can be seen are wanted, in UTF-8", f.owner))
	}
	if f.owner != "" { // the units run in another folder
		if f.owner, err = filepath.Abs(f.owner); err != nil {
			return err
		}
	}
	if f.user != "" && !unitName.MatchString(f.user) {
		return exit.Usage(fmt.Errorf("--user %.80q: only letters, digits and _ . - are allowed, 64 at most", f.user))
	}
	if f.binary == "" {
		if f.binary, err = os.Executable(); err != nil {
			return fmt.Errorf("give --binary; where this program is cannot be told: %w", err)
		}
		if madeByGoRun(f.binary) {
			return exit.Usage(fmt.Errorf("give --binary, where the program will be: %s, which runs now, was made by go run and will be gone", f.binary))
		}
	}
	if !filepath.IsAbs(f.binary) || !printable(f.binary) {
		return exit.Usage(fmt.Errorf("--binary %.80q: an absolute path is wanted, of characters that can be seen, in UTF-8", f.binary))
	}
	return nil
}

// printable says whether a path can stand in a unit, and on a terminal.
func printable(path string) bool {
	return utf8.ValidString(path) && !strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) })
}

// madeByGoRun says whether a program lies where go run and go test put theirs: in a temporary folder, or in the cache of
// builds, which is cleaned up.
func madeByGoRun(binary string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(binary), "/") {
		if number, is := strings.CutPrefix(part, "go-build"); is && strings.Trim(number, "0123456789") == "" {
			return true
		}
	}
	return false
}

// unitPlan is what the units are made of.
type unitPlan struct {
	unitFlags
	program   string
	dsn       config.Setting
	variables []string // that the configuration refers to
	loud      bool     // the log has more than warnings, and nobody asked for that here
	args      []string // the flags that every command gets
	shardList []shard
	sweep     time.Duration
	stopGrace time.Duration
	forwards  bool     // there are routes for events
	logs      bool     // one of them to the log, which needs info
	tells     bool     // there are receivers of findings
	ofServe   []string // variables that serve alone needs
	// variablesOf is the name of the file in /etc/default that has variables; by default name.
	variablesOf string
}

// shard is a share of the slots.
type shard struct {
	number     int
	assignment slots.Assignment
	args       []string // the flags that choose it
}

func writeUnits(cmd *cobra.Command, prog *program.Program, f unitFlags, write func(unitPlan) ([]unitFile, error)) error {
	if err := f.check(); err != nil {
		return err
	}
	c, err := prog.Load(cmd)
	if err != nil {
		return err
	}
	plan, err := planUnits(prog, c, f)
	if err != nil {
		return err
	}
	files, err := write(plan)
	if err != nil {
		return err
	}
	if plan.dsn.Source == "default" {
		if err := output.Say(cmd.ErrOrStderr(), "no DSN is given here: what is printed needs one, in a configuration file that it finds"); err != nil {
			return err
		}
	}
	return writeFiles(cmd, prog, f.dir, files)
}

// writeFiles writes files to a folder, or prints them.
func writeFiles(cmd *cobra.Command, prog *program.Program, dir string, files []unitFile) error {
	p := output.To(cmd.OutOrStdout())
	switch {
	case dir != "":
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for _, file := range files {
			path := filepath.Join(dir, file.Name)
			if err := output.File(path, file.Text); err != nil {
				return err
			}
			p.Say("%s", path)
		}
		return p.Err()
	case prog.JSON:
		return output.Lines(cmd.OutOrStdout(), files)
	}
	for i, file := range files {
		heading := ""
		if len(files) > 1 {
			heading = "# " + file.Name + "\n"
		}
		if i > 0 {
			heading = "\n" + heading
		}
		p.Text(heading + file.Text)
	}
	return p.Err()
}

// planUnits takes from the configuration what the units need. What was not given in its file they get as flags.
func planUnits(prog *program.Program, c config.Config, f unitFlags) (unitPlan, error) {
	p := unitPlan{unitFlags: f, program: prog.Name, sweep: c.Sweep.Every, stopGrace: c.Worker.StopGrace, forwards: len(c.Events.Routes) > 0, logs: slices.ContainsFunc(c.Events.Routes, toLog), tells: len(c.Notify.Receivers) > 0}
	p.loud = c.Log.Level < zerolog.WarnLevel
	if c.File != "" {
		path, err := filepath.Abs(c.File)
		if err != nil {
			return p, err
		}
		p.args = append(p.args, "--config", path)
	}
	for _, s := range c.Describe() {
		fromFile := c.File != "" && strings.HasPrefix(s.Source, "file ")
		switch {
		case s.Key == "dsn":
			p.dsn = s
			continue
		case strings.HasSuffix(s.Key, ".secret_env") && s.Source != "default":
			p.variables = append(p.variables, s.Value)
		case strings.HasPrefix(s.Key, "serve.dsn_"):
			if s.Source != "default" && !fromFile {
				p.ofServe = append(p.ofServe, "PRESCIENT_"+strings.ToUpper(strings.ReplaceAll(s.Key, ".", "_")))
			}
			continue
		case s.Key == "log.level" && s.Source != "default" && !fromFile:
			p.loud = false
		}
		if s.Source == "default" || fromFile {
			continue
		}
		if strings.HasPrefix(s.Key, "jobs.") {
			return p, exit.Usage(fmt.Errorf("%s is given by %s; units take it from the configuration file only", s.Key, s.Source))
		}
		if strings.HasSuffix(s.Key, "_file") { // the units run in another folder
			var err error
			if s.Value, err = filepath.Abs(s.Value); err != nil {
				return p, err
			}
		}
		p.args = append(p.args, "--"+strings.NewReplacer(".", "-", "_", "-").Replace(s.Key), s.Value)
	}
	if f.shards == 1 {
		p.shardList = []shard{{number: 1, assignment: c.Worker.Assignment}}
		return p, nil
	}
	for _, key := range []string{"worker.minutes", "worker.share"} {
		if c.Given(key) {
			return p, exit.Usage(errors.New("--shards excludes " + key + ", which is given: it says already which slots are served"))
		}
	}
	for n := 1; n <= f.shards; n++ {
		share := fmt.Sprintf("%d/%d", n, f.shards)
		assignment, err := slots.ParseShare(c.Grid, share)
		if err != nil {
			return p, exit.Usage(fmt.Errorf("--shards %d: %w", f.shards, err))
		}
		p.shardList = append(p.shardList, shard{number: n, assignment: assignment, args: []string{"--worker-share", share}})
	}
	return p, nil
}

// environment are the variables that the units need, since no file holds what they say.
func (p unitPlan) environment() []string {
	if strings.HasPrefix(p.dsn.Source, "file ") || p.dsn.Source == "default" {
		return p.variables
	}
	return append([]string{"PRESCIENT_DSN"}, p.variables...)
}

// command is a command line of the program, as words.
func (p unitPlan) command(name string, more ...string) []string {
	return append(append([]string{p.binary, name}, p.args...), more...)
}

// pruneAt is when prune runs: in the night of Europe and America, and not at a slot of most resolutions.
const pruneAt = 3*3600 + 17*60

// prune is the command line of prune.
func (p unitPlan) prune() []string {
	command := p.command("prune", "--keep", p.keep)
	if p.owner != "" {
		command = append(command, "--dsn-file", p.owner)
	}
	return command
}

// aboutPrune says what prune does, and which account it needs where none was given for it.
func (p unitPlan) aboutPrune() string {
	about := fmt.Sprintf("# Each day drop what is older than %s, for good. One machine is enough.\n", p.keep)
	if p.owner == "" {
		about += "# It needs an account with the role owner: --owner-dsn-file of units names its DSN.\n"
	}
	return about
}

// toLog says whether a route's events become lines of the log.
func toLog(r config.Route) bool { return strings.HasPrefix(r.URL.Reveal(), "log:") }
