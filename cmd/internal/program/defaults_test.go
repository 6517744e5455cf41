package program

import (
	"testing"

	"prescient/config"
	"prescient/jobs/orders"
	"prescient/prescient"
	"prescient/prescient/doctor"
	"prescient/prescient/ops/door"
	"prescient/prescient/worker"
)

// What the configuration documents as defaults are those of the library: a worker is the same, whoever makes it.
func TestTheDefaultsOfTheConfigurationAreTheLibrarys(t *testing.T) {
	c := config.Default()
	for key, pair := range map[string][2]any{
		"worker.concurrency":         {c.Worker.Concurrency, worker.DefaultConcurrency},
		"worker.batch":               {c.Worker.Batch, worker.DefaultBatch},
		"worker.lease":               {c.Worker.Lease, prescient.DefaultLease},
		"worker.stop_grace":          {c.Worker.StopGrace, worker.DefaultStopGrace},
		"worker.patience":            {c.Worker.Patience, worker.DefaultPatience},
		"sweep.every":                {c.Sweep.Every, prescient.DefaultSweepEvery},
		"sweep.grace":                {c.Sweep.Grace, prescient.DefaultSweepGrace},
		"sweep.finish_within":        {c.Sweep.FinishWithin, worker.DefaultSweepWithin},
		"guards":                     {c.Guards, prescient.DefaultGuards()},
		"doctor.clock":               {c.Doctor.Clock, doctor.DefaultClockWarn},
		"doctor.purge":               {c.Doctor.Purge, doctor.DefaultPurgeBehind},
		"doctor.transaction":         {c.Doctor.Transaction, doctor.DefaultTransactionOpen},
		"serve.rate":                 {c.Serve.Rate, door.DefaultRate},
		"serve.concurrent":           {c.Serve.Concurrent, door.DefaultConcurrent},
		"jobs.orders.exec":           {c.Jobs.Orders.Exec, orders.DefaultJobExec},
		"jobs.orders.primary_after":  {c.Jobs.Orders.PrimaryAfter, orders.DefaultPrimaryAfter},
		"jobs.orders.escalate_after": {c.Jobs.Orders.EscalateAfter, orders.DefaultEscalateAfter},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %v by default, the library has %v", key, pair[0], pair[1])
		}
	}
}
