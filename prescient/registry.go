package prescient

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Registry maps the names of job_execs to the functions that do them; the zero value is an empty one. Fill it at start,
// before a worker is made from it; it is not for concurrent writing.
type Registry struct {
	execs  map[string]registered
	around []Middleware
}

// registered is a job_exec.
type registered struct {
	handler Handler
	guards  Guards
	long    *Long
	part    bool // of this library: no middleware is around it
}

// Long are the limits of a job_exec whose checks are long runs. They hold for the runs; the guards in the registry are those of their start.
type Long struct {
	Guards Guards // their Timeout is 0 for no bound
	Lease  time.Duration
	Pool   string // empty for that of all agents
}

// SetLong says that the checks of a registered job_exec are long runs: package longrun does.
func (r *Registry) SetLong(name string, limits Long) {
	exec := r.execs[name]
	exec.long = &limits
	r.execs[name] = exec
}

// LongOf returns the limits of a job_exec whose checks are long runs; nil for another.
func (r *Registry) LongOf(name string) *Long {
	if r == nil {
		return nil
	}
	return r.execs[name].long
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry { return new(Registry) }

// Register adds a job_exec. Zero Guards mean the worker's. The error wraps ErrInvalid: the name is no identifier or
// too long, or is registered already, fn is nil, or a guard is out of range.
func (r *Registry) Register(name string, fn Func, guards Guards) error {
	return r.register(name, registered{handler: fn, guards: guards}, fn == nil)
}

func (r *Registry) register(name string, exec registered, empty bool) error {
	if err := ValidIdentifier("job_exec", name); err != nil {
		return err
	}
	if empty {
		return fmt.Errorf("%w: job_exec %q has no function", ErrInvalid, name)
	}
	if err := exec.guards.Validate(); err != nil {
		return fmt.Errorf("job_exec %q: %w", name, err)
	}
	if _, dup := r.execs[name]; dup {
		return fmt.Errorf("%w: job_exec %q is registered twice", ErrInvalid, name)
	}
	if r.execs == nil {
		r.execs = make(map[string]registered)
	}
	r.execs[name] = exec
	return nil
}

// MustRegister is Register for a program's start: it panics where Register returns an error.
func (r *Registry) MustRegister(name string, fn Func, guards Guards) {
	if err := r.Register(name, fn, guards); err != nil {
		panic(fmt.Errorf("prescient: %w", err))
	}
}

// Names returns the registered names, sorted.
func (r *Registry) Names() []string {
	if r == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(r.execs))
}

// Handler returns the function of a job_exec, with the middleware around it; nil where it is unknown.
func (r *Registry) Handler(name string) Handler {
	if r == nil {
		return nil
	}
	exec := r.execs[name]
	if len(r.around) == 0 || exec.part || exec.long != nil { // a long run is called where it is
		return exec.handler
	}
	return r.with(name, exec.handler)
}

// GuardsOf returns the guards of a job_exec over the defaults given, or just those where it is unknown.
func (r *Registry) GuardsOf(name string, d Guards) Guards {
	if r == nil {
		return d
	}
	return r.execs[name].guards.Or(d)
}
