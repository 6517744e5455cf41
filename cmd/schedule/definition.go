package schedule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/input"
	"prescient/prescient"
	"prescient/prescient/schedule"
)

// definitionFlags are the flags of create and update.
type definitionFlags struct {
	zone, exec, topic, payload, payloadFile string
	owner                                   prescient.Entity
	catchUp                                 schedule.CatchUp
	catchUpWithin, expires, jitter          time.Duration
	coalesce, noPayload, noOwner            bool
	heartbeat                               string
	noHeartbeat                             bool
	long                                    longFlags
}

// texts are those that have to have a value where they are given.
var texts = []string{"zone", "exec", "topic", "payload-file", "owner", "catch-up", "catch-up-within", "expires", "jitter", "overlap", "tolerance", "quota", "pool", "heartbeat"}

func (f *definitionFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.zone, "zone", "", "time zone of the crontabs, such as Europe/Berlin (default UTC)")
	flags.StringVar(&f.exec, "exec", "", "the job_exec that it runs")
	flags.StringVar(&f.topic, "topic", "", "the topic that it sends events to: letters, digits and _ . - /")
	flags.StringVar(&f.payload, "payload", "", "what runs and events carry, byte for byte; - reads it from stdin")
	flags.StringVar(&f.payloadFile, "payload-file", "", "the file that has the payload; - for stdin")
	addOwner(flags, &f.owner, "whom it belongs to: name/key, as in customer/42")
	arguments.Parsed(flags, &f.catchUp, "catch-up", "", schedule.ParseCatchUp, "of what was missed: once, skip or all (default once)")
	arguments.Duration(flags, &f.catchUpWithin, "catch-up-within", "", "what is later is missed: 5m (default 1m or two slots, the longer)")
	arguments.Duration(flags, &f.expires, "expires", "", "how long after its time an occurrence is of use: 1h (default for ever)")
	arguments.Duration(flags, &f.jitter, "jitter", "", "bound of a delay that the schedule has of its own: 10m (default none)")
	flags.BoolVar(&f.coalesce, "coalesce", false, "crontabs may be finer than the slots: occurrences of one slot are one")
	flags.StringVar(&f.heartbeat, "heartbeat", "", "what is told of its runs or events: a name in heartbeats.urls of the workers' configuration (default none)")
	f.long.addFlags(flags)
}

// read returns what the flags that were given make of a definition. They are read, and so is the payload, before that is called.
func (f *definitionFlags) read(cmd *cobra.Command, crontabs []string) (change func(s *schedule.Schedule) error, err error) {
	given := cmd.Flags().Changed
	if err := arguments.NotEmpty(cmd, texts...); err != nil {
		return nil, err
	}
	for _, flags := range [][]string{{"exec", "topic"}, {"payload", "payload-file", "no-payload"}, {"owner", "no-owner"}, {"pool", "no-pool"}, {"heartbeat", "no-heartbeat"}} {
		if err := arguments.Exclusive(cmd, flags...); err != nil {
			return nil, err
		}
	}
	payload, err := f.readPayload(cmd.Context(), cmd.InOrStdin())
	if err != nil {
		return nil, err
	}
	return func(s *schedule.Schedule) error {
		set(given("zone"), &s.Zone, f.zone)
		if f.exec+f.topic != "" {
			s.JobExec, s.Topic = f.exec, f.topic
		}
		set(given("payload") || given("payload-file") || f.noPayload, &s.Payload, payload)
		set(given("owner") || f.noOwner, &s.Owner, f.owner)
		set(given("catch-up"), &s.CatchUp, f.catchUp)
		set(given("catch-up-within"), &s.CatchUpWithin, f.catchUpWithin)
		set(given("expires"), &s.ExpiresAfter, f.expires)
		set(given("jitter"), &s.Jitter, f.jitter)
		set(given("coalesce"), &s.MayCoalesce, f.coalesce)
		set(given("heartbeat") || f.noHeartbeat, &s.Heartbeat, f.heartbeat)
		f.long.change(s, given)
		set(len(crontabs) > 0, &s.Crontabs, crontabs)
		if err := s.Validate(); err != nil {
			return exit.Usage(fmt.Errorf("%w%s", err, quotesMissing(crontabs)))
		}
		return nil
	}, nil
}

func set[T any](given bool, into *T, to T) {
	if given {
		*into = to
	}
}

// readPayload reads the payload that the flags give; nil for none.
func (f *definitionFlags) readPayload(ctx context.Context, stdin io.Reader) ([]byte, error) {
	name := f.payloadFile
	switch {
	case f.noPayload:
		return nil, nil
	case f.payload == input.Stdin:
		name = input.Stdin
	case name == "":
		return []byte(f.payload), nil
	}
	payload, err := input.ReadAll(ctx, name, stdin, schedule.MaxPayload)
	if err != nil {
		return nil, exit.NotRead("--payload-file", err)
	}
	return payload, nil
}

// addOwner adds the flag of an owner.
func addOwner(flags *pflag.FlagSet, owner *prescient.Entity, usage string) {
	arguments.Parsed(flags, owner, "owner", "", prescient.ParseEntity, usage)
}

// wantIDs wants ids of schedules, each once, and refuses those that none can have.
func wantIDs(cmd *cobra.Command, ids []string) ([]string, error) {
	if len(ids) == 0 {
		return nil, exit.Usage(fmt.Errorf("%s takes ids of schedules, but was given none", cmd.CommandPath()))
	}
	for _, id := range ids {
		if id == "" {
			return nil, exit.Usage(errors.New("id of a schedule is empty"))
		}
		if err := prescient.ValidText("id of a schedule", id, prescient.MaxKeyLen); err != nil {
			return nil, err
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(ids))), nil
}
