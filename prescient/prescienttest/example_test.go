package prescienttest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/prescienttest"
)

// A test of a program that has its checks in a registry. It needs a database server: one that PRESCIENT_TEST_DSN names,
// or one that is installed.
func ExampleNew() {
	checkOrder := func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }

	_ = func(t *testing.T) { // func TestAnOrderIsLookedAtAfterThreeHours(t *testing.T)
		registry := prescient.NewRegistry()
		registry.MustRegister("order-unshipped", checkOrder, prescient.Guards{})
		kit := prescienttest.New(t, registry, prescienttest.Options{})
		order := prescient.Entity{Name: "order", Key: "42"}

		kit.Insert(prescient.NewJob{Entity: order, JobExec: "order-unshipped", DueAt: kit.Now().Add(3 * time.Hour)})
		kit.RequirePending(order, "order-unshipped")
		kit.RunFor(3 * time.Hour)
		kit.RequireEnded(order, "order-unshipped", prescient.Done)
		kit.RequireCalls("order-unshipped", 1)
	}
}

// One check is taken through its life, without a server.
func ExampleSimulate() {
	t := exampleT{} // in a test it is the *testing.T

	start := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	shipped := start.Add(5 * time.Hour)
	life := prescienttest.Simulate(t, prescienttest.Simulation{
		Now: start,
		Job: prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "42"}, JobExec: "order-unshipped", DueAt: start.Add(3 * time.Hour)},
		Func: func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			if job.NextCheckAt.Before(shipped) {
				return prescient.At(job.DueAt.Add(3 * time.Hour)), nil // remind somebody, and look again
			}
			return nil, nil
		},
	})
	for _, step := range life.Run().Steps {
		fmt.Println(step.At.Format("15:04"), step.Outcome == prescient.Done)
	}
	// Output:
	// 15:00 false
	// 18:00 true
}

// exampleT stands in for a *testing.T, which an example has not.
type exampleT struct{}

func (exampleT) Helper()                           {}
func (exampleT) Context() context.Context          { return context.Background() }
func (exampleT) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
