package agents

import (
	"testing"
	"time"

	"prescient/prescient/agent"
	"prescient/prescient/client"
	"prescient/prescient/ops/working"
)

func TestEachAgentHasWhatItHasUnderWay(t *testing.T) {
	at := time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC)
	over := at.Add(time.Minute)
	buckets := []client.Bucket{{Slot: over, Worker: "a", Held: true}, {Slot: at, Worker: "a", Held: true}, {Slot: at, Worker: "b", Held: true}, {Slot: at, Worker: "a", Held: true},
		{Slot: at, Worker: "a", FinishedAt: &over}, {Slot: at, Worker: "b"}}
	all := underWay([]working.Agent{{Name: "a"}, {Name: "c", State: agent.Dead}}, buckets)
	if len(all) != 2 || len(all[0].Slots) != 2 || all[0].Slots[0] != (slotParts{over, 1}) || all[0].Slots[1] != (slotParts{at, 2}) || len(all[1].Slots) != 0 {
		t.Errorf("%+v", all)
	}
	if some := inState(all, "dead"); len(some) != 1 || some[0].Name != "c" {
		t.Errorf("%+v", some)
	}
}

func TestWhoDrainsDoesNotWork(t *testing.T) {
	all := []working.Agent{{Name: "a", Kind: agent.Work, State: agent.Live}, {Name: "b", Kind: agent.Work, State: agent.Live, Drain: true}, {Name: "c", Kind: agent.Sweep, State: agent.Live}, {Name: "d", Kind: agent.Run, State: agent.Live}}
	if n, beside := atWork(all, ""), atWork(all, "a"); n != 2 || beside != 1 {
		t.Errorf("%d, %d", n, beside)
	}
}
