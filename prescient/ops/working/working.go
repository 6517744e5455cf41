// Package working has agents, pools and topics as operations tell of them, made of those of packages agent and event.
package working

import (
	"time"

	"prescient/prescient/agent"
	"prescient/prescient/event"
	"prescient/prescient/ops/definition"
)

// Agent is a process that works, or a timer.
type Agent struct {
	Name        string         `json:"name"`
	Kind        agent.Kind     `json:"kind" enum:"work,run,sweep" doc:"What stays up is work; run and sweep are timers."`
	State       agent.State    `json:"state"`
	Instance    uint64         `json:"instance,string" doc:"Tells apart agents of one name."`
	Host        string         `json:"host"`
	PID         uint32         `json:"pid"`
	Version     string         `json:"version"`
	Assignment  string         `json:"assignment" doc:"Which slots it serves."`
	Pools       map[string]int `json:"pools" doc:"Whose long runs it takes, and how many of each."`
	Concurrency int            `json:"concurrency"`
	Busy        float64        `json:"busy" doc:"The share of concurrency that was in use between its last two heartbeats."`
	LongRuns    int            `json:"long_runs"`
	Connections int            `json:"connections" doc:"How many it has at most; 0 for no bound."`
	Load        *float64       `json:"load_1m" doc:"That of its host; null where it cannot be told."`
	MemoryBytes uint64         `json:"memory_bytes,string"`
	AheadMS     int64          `json:"ahead_ms,string" doc:"By how much its clock is ahead of the database's."`
	StartedAt   time.Time      `json:"started_at"`
	SeenAt      time.Time      `json:"seen_at"`
	DueAt       *time.Time     `json:"due_at,omitempty" doc:"By when a timer is to be heard of again."`
	Drain       bool           `json:"drain,omitempty" doc:"Somebody wants it to take nothing new. It is draining once it has heard that."`
	WantedBy    string         `json:"wanted_by,omitempty" doc:"Who wants that, where that is known."`
	WantedAt    *time.Time     `json:"wanted_at,omitempty" doc:"Since when."`
	SilentMS    int64          `json:"silent_ms,string" doc:"For how long it was not heard of."`
}

// Agents tells of those that are known.
func Agents(all []agent.Known) []Agent {
	rows := make([]Agent, len(all))
	for i, a := range all {
		rows[i] = Agent{Name: a.Name, Kind: a.Kind, State: a.State, Instance: a.Instance, Host: a.Host, PID: a.PID, Version: a.Version, Assignment: a.Assignment,
			Pools: a.Pools, Concurrency: a.Concurrency, Busy: a.Busy, LongRuns: a.LongRuns, Connections: a.Connections, Load: a.Load, MemoryBytes: a.MemoryBytes,
			AheadMS: a.Ahead.Milliseconds(), StartedAt: a.StartedAt, SeenAt: a.SeenAt, DueAt: a.DueAt, Drain: a.Drain, WantedBy: a.WantedBy, WantedAt: a.WantedAt,
			SilentMS: a.Silent.Milliseconds()}
	}
	return rows
}

// Pool is what there is of a pool of long runs.
type Pool struct {
	Name     string `json:"pool" doc:"Empty for the runs that any agent may have."`
	Agents   int    `json:"agents" doc:"How many live agents serve it."`
	Places   int    `json:"places" doc:"How many of its runs they may have at a time."`
	Running  int    `json:"running"`
	Waiting  int    `json:"waiting"`
	OldestMS int64  `json:"oldest_ms,string" doc:"For how long the first of those that wait does."`
}

// Pools tells of pools.
func Pools(pools []agent.Pool) []Pool {
	rows := make([]Pool, len(pools))
	for i, p := range pools {
		rows[i] = Pool{p.Name, p.Agents, p.Places, p.Running, p.Waiting, p.Oldest.Milliseconds()}
	}
	return rows
}

// TopicBacklog is what waits in the outbox for one topic.
type TopicBacklog struct {
	Topic  string    `json:"topic"`
	Events int       `json:"events" doc:"How many of the events that were looked at."`
	Oldest time.Time `json:"oldest" doc:"When the first of them was put there."`
	AgeMS  int64     `json:"age_ms,string" doc:"How long ago that is."`
	// The rest is of a topic that cannot be published to.
	FailingSince *time.Time `json:"failing_since,omitempty" doc:"Since when the topic cannot be published to."`
	Reason       string     `json:"reason,omitempty"`
	EventID      string     `json:"event_id,omitempty" doc:"The event that met this last."`
}

// Topics tells of what waits.
func Topics(all []event.Waiting) []TopicBacklog {
	rows := make([]TopicBacklog, len(all))
	for i, w := range all {
		rows[i] = TopicBacklog{w.Topic, w.Events, w.Oldest, w.Age.Milliseconds(), definition.TimeOrNil(w.FailingSince), w.Reason, w.EventID}
	}
	return rows
}
