package page

import (
	"fmt"
	"strings"
)

// The cases and figures of section vitess.
const (
	Alone             = "MySQL alone"
	NothingDue        = ", nothing due"
	Idle              = ", idle"
	OneBucket         = ", a bucket of each at a time"
	Pending           = "what is pending"
	Statements        = "statements"
	StatementsAMinute = "statements a minute and shard"
	BytesEach         = "bytes each"
	ShardsOf          = "shards"
)

// Shards is the case of a keyspace of so many shards.
func Shards(count int) string {
	return fmt.Sprintf("Vitess, %d shard%s", count, map[bool]string{true: "s"}[count > 1])
}

// Among is the end of the case in which so many are pending.
func Among(pending int) string { return ", among " + Short(float64(pending)) + " pending" }

// CPUOf is the figure of what a group of processes uses.
func CPUOf(group string) string { return group + " µs" }

// cpuOf is the CPU a row of all processes, in µs.
func (s *results) cpuOf(name string) float64 {
	return s.of(name, func(r Record) float64 { return (r.ClientCPU + r.ServerCPU) * 1e6 / float64(max(r.Rows, 1)) })
}

// cpuRatio is how much more of the processors a row takes in one case than in another.
func cpuRatio(name, other string) func(s *results) (float64, bool) {
	return func(s *results) (float64, bool) {
		if s.byCase[name] == nil || s.byCase[other] == nil {
			return 0, false
		}
		return s.cpuOf(name) / s.cpuOf(other), true
	}
}

const (
	manyPending  = 1_000_000_000
	manyDue      = 1_000_000
	manyShards   = 16
	coresOfShard = 2 // and of a machine of vtgate, and of one of the worker
)

// billion is the arithmetic from what was measured to a billion pending and a million due in a slot.
func (s *results) billion() (text string, measured bool) {
	among := ""
	for _, name := range s.cases {
		if s.section == "vitess" && strings.Contains(name, ", among ") {
			among = name
		}
	}
	if among == "" || s.byCase[Pending] == nil {
		return "", false
	}
	each := func(group string) float64 {
		return s.of(among, func(r Record) float64 { return r.Figures[CPUOf(group)] })
	}
	bytes := s.of(Pending, func(r Record) float64 { return r.Figures[BytesEach] })
	sampled, shards := s.byCase[Pending][0], s.of(Pending, func(r Record) float64 { return r.Figures[ShardsOf] })
	worker := s.of(among, func(r Record) float64 { return r.ClientCPU * 1e6 / float64(max(r.Rows, 1)) })
	shard, gate := each("mysqld")+each("vttablet"), each("vtgate")
	takes := func(rows, micros float64) float64 { return rows * micros / 1e6 / coresOfShard }
	onShard, onGate, onWorker := takes(manyDue/manyShards, shard), takes(manyDue, gate), takes(manyDue, worker)
	return fmt.Sprintf(`
**A billion pending, and a million due in one slot**, computed, not measured. By %[1]s, where a pending row takes %[2]s bytes with its indexes, a billion
take %[3]s GB: on %[4]d shards %[5]s GB and %[6]s million rows each. A shard ends its %[7]s due rows with %[8]s µs of CPU each for mysqld and vttablet: on %[9]d
cores within %[10]s s. All million cost vtgate %[11]s µs each, %[12]s s of %[9]d cores, and the worker %[13]s µs, %[14]s s of as many. Where each shard,
vtgate and the worker have machines of that size, the slot has ended after %[15]s s; all in all it costs %[16]s s of CPU.

Assumed are: rows spread evenly, as their hashes do; job_execs that do nothing; cores as fast as these, and disks and networks that do not hold up the
cores, where all here is on one machine; a cost a row that stays as it was among %[17]s million pending a shard, where %[6]s million lie in it: of indexes
that are larger than the buffer pool more pages are read, which section growth measures up to 30 million on one server; and one vtgate and one worker, of
which there may be more.
`, among, precise(bytes), precise(manyPending*bytes/1e9), manyShards, precise(manyPending*bytes/1e9/manyShards), precise(manyPending/manyShards/1e6),
		fmt.Sprint(manyDue/manyShards), precise(shard), coresOfShard, precise(onShard), precise(gate), precise(onGate), precise(worker), precise(onWorker),
		precise(max(onShard, onGate, onWorker)), precise(manyDue*s.cpuOf(among)/1e6), precise(float64(sampled.Rows)/shards/1e6)), true
}
