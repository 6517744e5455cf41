package schedules

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/schedule"

	"prescient/scripts/bench/internal/rig"
)

// Section measures schedules.
var Section = rig.Section{
	Name: "schedules",
	About: "schedules: a million made, 500 at a time on 4 connections that take turns, and on one; one at a time on 1 and 32, beside plain SQL that writes the same rows; bytes of each beyond its payload; slots in which 100 thousand " +
		"of them fire, with their lateness and statements, beside as many plain checks; beside an in-process cron with as many entries",
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error {
		for _, k := range []kind{
			{name: "runs", forms: []string{"one", "batch", "checks"}, connections: bulkers}, {name: "events", forms: []string{"events"}, connections: bulkers},
			{name: "events", connections: 1}, // for their bytes: in the order of their ids, as an import makes them
		} {
			if err := measure(ctx, b, s, k); err != nil {
				return err
			}
		}
		return inProcess(ctx, b)
	},
}

// slotLength is the resolution of the section.
const slotLength = 30 * time.Second

const (
	inBulk     = 500 // schedules of one CreateMany
	bulkers    = 4   // connections that create in bulk
	firing     = 100_000
	payloadLen = 100 // bytes
)

// singles are the connections that create one at a time.
var singles = []int{1, 32}

// target is the job_exec, or the topic.
const target = "reminder.send"

// kind is what schedules do: send events, or run a job_exec.
type kind struct {
	name        string
	forms       []string // of what fires
	connections int      // that create in bulk
}

// stage is an installation with schedules of one kind.
type stage struct {
	*rig.Place
	kind
	client    *client.Client
	schedules *schedule.Schedules
	made      int // so far: the number of the next
}

// measure measures one kind: the forms fire among those that were made.
func measure(ctx context.Context, b *rig.Bench, s *rig.Server, k kind) error {
	p, err := s.Install(ctx, "schedules", slotLength, false)
	if err != nil {
		return err
	}
	if !b.Keep {
		defer p.Drop(ctx)
	}
	st := &stage{Place: p, kind: k}
	c, err := client.New(ctx, p.App, client.Options{})
	if err != nil {
		return err
	}
	st.client, st.schedules = c, schedule.New(c)
	if err := st.create(ctx, b); err != nil {
		return err
	}
	for round := 1; round <= b.Rounds; round++ {
		for _, form := range k.forms {
			if !b.Wants(form) {
				continue
			}
			if err := st.fire(ctx, b, round, form, b.Scaled(firing)); err != nil {
				return fmt.Errorf("%s: %w", form, err)
			}
		}
	}
	return nil
}

var zones = []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Sydney"}

var payload = func() []byte {
	b := make([]byte, payloadLen)
	for i := range b {
		b[i] = 'a' + byte(i%26)
	}
	return b
}()

// number is a schedule of the stage: at a minute of the day that its number says, in one of several zones.
func (st *stage) number(i int) schedule.Schedule {
	// Numbers that follow one another lie far apart in the day, so that no slot has many.
	minute := i * 7919 % (24 * 60)
	return st.at(i, fmt.Sprintf("%d %d * * *", minute%60, minute/60), zones[i%len(zones)])
}

// at is a schedule that an owner has with nine others.
func (st *stage) at(i int, crontab, zone string) schedule.Schedule {
	one := schedule.Schedule{ID: fmt.Sprintf("reminder-%08d", i), Crontabs: []string{crontab}, Zone: zone, Payload: payload,
		Owner: prescient.Entity{Name: "user", Key: fmt.Sprint(1_000_000 + i/10)}}
	if st.name == "events" {
		one.Topic = target
	} else {
		one.JobExec = target
	}
	return one
}
