package campaign

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient/localserver/vitess"
	"prescient/scripts/chaos/checker"
	"prescient/scripts/chaos/stage"
	"prescient/scripts/chaos/wire"
)

// onVitess are the scenarios of other servers that are played on a Vitess, too. What it lacks: accounts, KILL, SET GLOBAL, triggers and CREATE DATABASE
// by vtgate, and statements of the scenario's own that would go to all shards.
var onVitess = []string{"calm", "kill", "kill-slot", "kill-statement", "freeze", "freeze-statement", "outage", "term", "lost-answer", "lost-commit", "latency",
	"split", "refused", "late-commit", "bad-execs", "killers", "worker-clock", "mixed"}

// besideIs how late a first call may come on a shard beside one that is broken.
const besideIs = 5 * time.Second

// sharded are the scenarios in which one shard of a Vitess is broken, or what stands before all of them.
func sharded() []stage.Scenario {
	slow := func(r *checker.Rules) { r.MaxLate, r.Crashes = 60*time.Second, true }
	scenario := func(name, about string, s stage.Scenario) stage.Scenario {
		s.Name, s.About, s.Sharded, s.Rules = name, about, true, slow
		return s
	}
	return []stage.Scenario{
		scenario("reshard", "one shard is divided into two, prepared and switched to", stage.Scenario{Beside: besideIs, Prepare: addShards, Faults: reshard}),
		scenario("shard-kill", "SIGKILL of the MySQL of one shard in mid-slot, and a restart", stage.Scenario{Beside: besideIs, Faults: killShard}),
		scenario("reparent", "another tablet becomes the primary of one shard, as planned, and back", stage.Scenario{Beside: besideIs, Prepare: func(ctx context.Context, s *stage.Stage) error {
			_, err := victimShard(s).AddReplica(ctx)
			return err
		}, Faults: reparent}),
		scenario("reparent-dead", "the primary of one shard is killed, with its MySQL, and another takes its place", stage.Scenario{Beside: besideIs, Prepare: followClosely,
			Faults: reparentFromDead}),
		scenario("gate-kill", "SIGKILL of vtgate, whose transactions stay for 30 s, and a restart", stage.Scenario{Faults: killGate, Drain: 2 * time.Minute}),
		scenario("app-lost-answer", "statements of the apps are done, COMMITs too, but they see a broken connection", stage.Scenario{AppWire: []wire.Rule{
			{Match: "COMMIT", Chance: 0.25, Do: wire.Drop, After: true}, {Chance: 0.02, Do: wire.Drop, After: true}, {Chance: 0.01, Do: wire.Drop}}}),
	}
}

// victimShard is the one that is broken.
func victimShard(s *stage.Stage) *vitess.Shard { return s.Engine.Vitess.Shards[0] }

func killShard(ctx context.Context, s *stage.Stage) {
	dice, shard := s.Dice(1), victimShard(s)
	for stage.Pause(ctx, 2*time.Second) && s.IntoSlot(ctx, time.Duration(dice.IntN(150))*time.Millisecond) {
		s.DuringOn(shard.Name, "SIGKILL of a shard's MySQL", 2*stage.Lease, func() {
			shard.Server.Kill()
			if err := shard.Server.Restart(context.WithoutCancel(ctx)); err != nil {
				s.Logf("the MySQL does not come back: %v", err)
			}
		})
	}
}

// followClosely gives the shard a replica that has all that was answered.
func followClosely(ctx context.Context, s *stage.Stage) error {
	replica, err := victimShard(s).AddReplica(ctx)
	if err != nil {
		return err
	}
	return s.Engine.Vitess.AwaitsReplica(ctx, victimShard(s), replica)
}

// reparent goes forth and back between the first tablet of a shard and its replica.
func reparent(ctx context.Context, s *stage.Stage) {
	dice, shard := s.Dice(1), victimShard(s)
	for n := 1; stage.Pause(ctx, 3*time.Second) && s.IntoSlot(ctx, time.Duration(dice.IntN(150))*time.Millisecond); n++ {
		to := []*vitess.Tablet{shard.Tablet, shard.Replicas[0]}[n%2]
		s.DuringOn(shard.Name, "planned reparent", 2*stage.Lease, func() {
			if err := shard.Reparent(context.WithoutCancel(ctx), to); err != nil {
				s.Logf("a planned reparent: %v", err)
				return
			}
			s.Engine.Vitess.Moved(shard, to)
		})
	}
}

// reparentFromDead kills a primary whose commits are on its replica before they are answered. That takes its place, and gets a replica of its own.
func reparentFromDead(ctx context.Context, s *stage.Stage) {
	dice, shard := s.Dice(1), victimShard(s)
	for stage.Pause(ctx, 3*time.Second) && s.IntoSlot(ctx, time.Duration(dice.IntN(150))*time.Millisecond) {
		dead, to := s.Engine.Vitess.Primary(shard), shard.Replicas[len(shard.Replicas)-1]
		failed := fmt.Errorf("it was not tried")
		s.DuringOn(shard.Name, "SIGKILL of a primary", 2*stage.Lease, func() {
			dead.Kill()
			s.Engine.Vitess.Moved(shard, to)
			if failed = shard.ReparentFromDead(context.WithoutCancel(ctx), dead, to); failed != nil {
				s.Logf("a reparent from the dead: %v", failed)
			}
		})
		if failed != nil || ctx.Err() != nil {
			return
		}
		if err := followClosely(context.WithoutCancel(ctx), s); err != nil {
			s.Logf("a further replica: %v", err)
			return
		}
	}
}

// gateTime is how long a vttablet keeps a transaction that a dead vtgate had begun: its rows are locked until then.
const gateTime = 30 * time.Second

func killGate(ctx context.Context, s *stage.Stage) {
	dice := s.Dice(1)
	for stage.Pause(ctx, 2*time.Second) && s.IntoSlot(ctx, time.Duration(dice.IntN(150))*time.Millisecond) {
		s.During("SIGKILL of vtgate", "", gateTime+2*stage.Lease, func() {
			s.Engine.Vitess.KillGate()
			if err := s.Engine.Vitess.StartGate(context.WithoutCancel(ctx)); err != nil {
				s.Logf("vtgate does not come back: %v", err)
			}
		})
	}
}

// parts are those that take the place of the first shard.
var parts = []string{"-40", "40-80"}

func addShards(ctx context.Context, s *stage.Stage) error {
	_, err := s.Engine.Vitess.AddShards(ctx, parts...)
	return err
}

// reshard divides the first shard as an operator does: the new ones get what no reshard copies before traffic is switched to them. While it copies, it
// locks tables now and then.
func reshard(ctx context.Context, s *stage.Stage) {
	ctx = context.WithoutCancel(ctx) // half of it is no shard
	stage.Pause(ctx, 3*time.Second)
	var done *vitess.Reshard
	var err error
	s.DuringOn(victimShard(s).Name, checker.Divided, 2*stage.Lease, func() { done, err = divide(ctx, s) })
	stage.Pause(ctx, 3*time.Second) // they are worked on
	if err == nil {
		err = done.Complete(ctx)
	}
	if err != nil {
		s.Find("reshard", "%v", err)
	}
}

func divide(ctx context.Context, s *stage.Stage) (*vitess.Reshard, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	from, into := victimShard(s), s.Engine.Vitess.Shards[2:]
	r, err := s.Engine.Vitess.Reshard(ctx, []*vitess.Shard{from}, into)
	if err != nil {
		return nil, err
	}
	if err := s.PrepareShards(ctx, from, into); err != nil {
		return nil, err
	}
	if err := r.Copied(ctx); err != nil {
		return nil, err
	}
	for _, shard := range into {
		if err := s.Watch(ctx, shard); err != nil {
			return nil, err
		}
	}
	if err := r.Switch(ctx); err != nil {
		return nil, err
	}
	return r, s.Divided(from, into)
}
