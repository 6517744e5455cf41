package spool

import (
	"cmp"
	"fmt"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"prescient/jobs/command"
	"prescient/prescient"
	"prescient/slots"
)

// Defaults of Options.
const (
	DefaultResolution  = time.Minute
	DefaultTimeout     = 10 * time.Minute
	DefaultConcurrency = 4
	DefaultKeep        = 30 * 24 * time.Hour
)

// Options are for Put and Run; zero fields but Dir mean the defaults.
type Options struct {
	// Dir is the spool. It is made where it is not there, for its user alone.
	Dir string
	// Grid has the slots: of a minute by default, which is also the least, as folders are named by minutes.
	Grid slots.Grid
	// Guards are those of each file. Timeout is 10 minutes by default, and MaxErrors None: a file that fails is not executed again.
	Guards prescient.Guards
	// Concurrency is how many files are executed at a time; 4 by default.
	Concurrency int
	// Keep is for how long done has what was executed; 30 days by default.
	Keep time.Duration
	// Command bounds what a file may take. Its Run and Timeout are set here.
	Command command.Options
	// Now is the time; time.Now by default.
	Now func() time.Time
	// Tell is called after each file, by one goroutine at a time; nil for none.
	Tell func(Ran)
	// Log gets what each file came to; the zero value is silent.
	Log zerolog.Logger
}

// complete fills in the defaults, and refuses what is not allowed.
func (o *Options) complete() error {
	if o.Dir == "" {
		return fmt.Errorf("%w: the folder of the spool is not given", prescient.ErrInvalid)
	}
	dir, err := filepath.Abs(o.Dir) // what is executed runs elsewhere
	if err != nil {
		return fmt.Errorf("asking where %s is: %w", o.Dir, err)
	}
	o.Dir = dir
	if o.Grid.IsZero() {
		o.Grid, _ = slots.NewGrid(DefaultResolution) // which divides a day
	}
	if r := o.Grid.Resolution(); r%time.Minute != 0 {
		return fmt.Errorf("%w: resolution %s: whole minutes are allowed, since folders are named by them", prescient.ErrInvalid, r)
	}
	if err := o.Guards.Validate(); err != nil {
		return err
	}
	defaults := prescient.DefaultGuards()
	defaults.Timeout, defaults.MaxErrors = DefaultTimeout, prescient.None
	o.Guards = o.Guards.Or(defaults)
	o.Concurrency, o.Keep = cmp.Or(o.Concurrency, DefaultConcurrency), cmp.Or(o.Keep, DefaultKeep)
	if o.Concurrency < 1 || o.Keep < 0 {
		return fmt.Errorf("%w: concurrency %d and keep %s: positive numbers are allowed", prescient.ErrInvalid, o.Concurrency, o.Keep)
	}
	o.Command.Timeout = o.Guards.Timeout
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Tell == nil {
		o.Tell = func(Ran) {}
	}
	return nil
}

// executes refuses what would have every file fail, whatever is in it.
func (o *Options) executes() error {
	options := o.Command
	options.Run = []string{"/bin/sh"}
	c, err := command.New(options)
	if err != nil {
		return err
	}
	c.Close()
	return nil
}
