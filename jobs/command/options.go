package command

import (
	"cmp"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"prescient/jobs/command/variable"
	"prescient/prescient"
)

// None is for a limit that is not to be set, where zero means a default.
const None = -1

// Defaults and bounds.
const (
	DefaultMemory    = 2 << 30
	DefaultNice      = 10
	DefaultProcesses = 256
	DefaultGrace     = 5 * time.Second
	DefaultOutput    = 64 << 10

	minMemory = 16 << 20
	maxGrace  = 30 * time.Second
	maxOutput = 16 << 20
)

// Options say what is run, and what it may take. Only Run is needed.
type Options struct {
	// Run is the program and its arguments, each of which reaches it as it is, whatever it holds. A program without a slash is looked
	// for in PATH, by New. {entity_name}, {entity_key}, {tag}, {job_exec}, {due_at}, {slot} and {idempotency_key} in an argument
	// are replaced by what the row has; an argument stays one argument then, but it may begin with "-".
	Run []string
	// Shell has /bin/sh read the first of Run as its script; the others are $1, $2, …. In the script nothing is replaced: it takes
	// what the row has from variables, as in "$PRESCIENT_CHECK_ENTITY_KEY".
	Shell bool
	// Env are variables of its environment, and PassEnv the names of those of this process that it gets too. Of the others it gets
	// PATH, HOME, USER, LOGNAME, SHELL, LANG, LC_…, TZ and TMPDIR only, since this process may have secrets there. Names have letters,
	// digits and _; those that shells set themselves, as IFS and PWD, are refused.
	Env     map[string]string
	PassEnv []string
	// Dir is where it runs, an absolute path; / by default.
	Dir string
	// User is the name or number of the user that it runs as, in that user's groups; by default that of this process. Only root may
	// run it as another. HOME, USER and LOGNAME are that user's then.
	User string
	// Timeout is how long it may run before it is told to end (TERM); 0 for as long as the context of the call lasts. See
	// Command.Guards.
	Timeout time.Duration
	// Grace is what it has from TERM to KILL: 5 s by default, 30 s at most.
	Grace time.Duration
	// Memory is how many bytes of addresses each of its processes may have (RLIMIT_AS), and of memory of their own all of them
	// together: 2 GiB by default, None for no bound. Programs that reserve much more than they use, as Java's and Node's, need much.
	Memory int64
	// CPU is how much processor time each of its processes may use (RLIMIT_CPU), in whole seconds; 0 for no bound.
	CPU time.Duration
	// Nice is by how much its processes make way for others, 1 to 19: 10 by default, None for not at all.
	Nice int
	// Processes is how many it may have at a time, threads aside: 256 by default, None for no bound. Beyond that it is killed. The
	// kernel, too, has its user start no more than some more than that (RLIMIT_NPROC), but it does not bound root: a process that
	// runs as root should have a User here.
	Processes int
	// Files is how many files each of its processes may have open (RLIMIT_NOFILE); 0 for as many as this process may.
	Files int
	// Output is how many bytes are kept of each of stdout and stderr, from their ends: 64 KiB by default, 16 MiB at most.
	Output int
	// Log gets, at debug level, how each call ended and the end of what it wrote; the zero value is silent.
	Log zerolog.Logger
}

// defaults fills in what is zero.
func (o *Options) defaults() {
	o.Dir = cmp.Or(o.Dir, "/")
	o.Grace = cmp.Or(o.Grace, DefaultGrace)
	o.Memory = cmp.Or(o.Memory, DefaultMemory)
	o.Nice = cmp.Or(o.Nice, DefaultNice)
	o.Processes = cmp.Or(o.Processes, DefaultProcesses)
	o.Output = cmp.Or(o.Output, DefaultOutput)
	o.Run, o.PassEnv, o.Env = slices.Clone(o.Run), slices.Clone(o.PassEnv), maps.Clone(o.Env)
}

// validate returns what is wrong, if something is, with the defaults filled in.
func (o *Options) validate() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{prescient.ErrInvalid}, args...)...)
	}
	switch {
	case len(o.Run) == 0 || o.Run[0] == "":
		return refuse("Run is empty: want a program and its arguments")
	case slices.ContainsFunc(o.Run, hasNUL):
		return refuse("Run has a NUL byte, which no argument can have")
	case !filepath.IsAbs(o.Dir) || hasNUL(o.Dir):
		return refuse("Dir %q: want an absolute path", o.Dir)
	case o.Timeout < 0:
		return refuse("Timeout %s: must not be negative (0 for that of the guards)", o.Timeout)
	case o.Grace < 0 || o.Grace > maxGrace:
		return refuse("Grace %s: up to %s are allowed (0 for %s)", o.Grace, maxGrace, DefaultGrace)
	case o.Memory != None && o.Memory < minMemory:
		return refuse("Memory of %d bytes: at least %d are needed (0 for %d, %d for no bound)", o.Memory, minMemory, DefaultMemory, None)
	case o.CPU < 0 || o.CPU%time.Second != 0:
		return refuse("CPU %s: want whole seconds (0 for no bound)", o.CPU)
	case o.Nice != None && (o.Nice < 1 || o.Nice > 19):
		return refuse("Nice %d: 1 to 19 are allowed (0 for %d, %d for not at all)", o.Nice, DefaultNice, None)
	case o.Processes != None && o.Processes < 1:
		return refuse("Processes %d: positive numbers are allowed, 0 for %d, and %d for no bound", o.Processes, DefaultProcesses, None)
	case o.Files != 0 && o.Files < minFiles:
		return refuse("Files %d: at least %d are needed (0 for as many as this process may have)", o.Files, minFiles)
	case o.Output < 0 || o.Output > maxOutput:
		return refuse("Output of %d bytes: up to %d are allowed (0 for %d)", o.Output, maxOutput, DefaultOutput)
	}
	return o.validateEnv()
}

// minFiles are stdin, stdout, stderr, and one to load a library from.
const minFiles = 8

func (o *Options) validateEnv() error {
	for _, name := range slices.Sorted(maps.Keys(o.Env)) {
		if err := validVariable(name); err != nil {
			return err
		}
		if hasNUL(o.Env[name]) {
			return fmt.Errorf("%w: variable %s has a NUL byte, which no variable can have", prescient.ErrInvalid, name)
		}
	}
	for _, name := range o.PassEnv {
		if err := validVariable(name); err != nil {
			return err
		}
	}
	return nil
}

// validVariable refuses names that a command cannot be given.
func validVariable(name string) error {
	if err := variable.Check(name); err != nil {
		return fmt.Errorf("%w: a variable %q is not allowed: %w", prescient.ErrInvalid, name, err)
	}
	return nil
}

func hasNUL(text string) bool { return strings.ContainsRune(text, 0) }

// shell is what runs scripts.
const shell = "/bin/sh"

// find returns the program as a path, and the arguments that every call begins with.
func (o *Options) find() (program string, fixed, replaced []string, err error) {
	if o.Shell {
		return shell, []string{"-c", o.Run[0], "sh"}, o.Run[1:], nil
	}
	program = o.Run[0]
	if strings.Contains(program, "/") && !filepath.IsAbs(program) {
		program = filepath.Join(o.Dir, program)
	}
	found, err := exec.LookPath(program)
	if err != nil {
		return "", nil, nil, fmt.Errorf("%w: %w", prescient.ErrInvalid, err)
	}
	if !filepath.IsAbs(found) {
		return "", nil, nil, fmt.Errorf("%w: program %q was found in a relative path of PATH, %q: give an absolute one", prescient.ErrInvalid, program, found)
	}
	return found, nil, o.Run[1:], nil
}

// niceOf looks for the program that lowers the priority, by the PATH of this process: that of the command may be another.
func niceOf(o Options) (string, error) {
	if o.Nice == None {
		return "", nil
	}
	path, err := exec.LookPath("nice")
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", fmt.Errorf("%w: Nice %d: %w", prescient.ErrInvalid, o.Nice, err)
	}
	return path, nil
}
