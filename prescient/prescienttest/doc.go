// Package prescienttest is for the tests of programs that use prescient: it has a database whose clock a test sets, runs
// what is due through the worker itself, and tells what came of it.
//
//	func TestMain(m *testing.M) { prescienttest.Main(m) }
//
//	func TestAnUnshippedOrderIsReported(t *testing.T) {
//		registry := prescient.NewRegistry()
//		registry.MustRegister("order-unshipped", checkOrder, prescient.Guards{})
//		kit := prescienttest.New(t, registry, prescienttest.Options{})
//		order := prescient.Entity{Name: "order", Key: "42"}
//
//		kit.Insert(prescient.NewJob{Entity: order, JobExec: "order-unshipped", DueAt: kit.Now().Add(3 * time.Hour)})
//		kit.RequirePending(order, "order-unshipped")
//		kit.RunFor(3 * time.Hour)
//		kit.RequireEnded(order, "order-unshipped", prescient.Done)
//		kit.RequireCalls("order-unshipped", 1)
//	}
//
// # The server
//
// Each [Kit] has an empty database of its own with the tables in it. It is made on the server of Options.DSN, or of the
// variable PRESCIENT_TEST_DSN, or on a private MariaDB or MySQL in a temporary folder (see package localserver), which
// [Main] lets all tests of a package share.
//
// # Time
//
// Nothing of prescient looks at the machine's clock: it goes by that of the database, which on the connections of
// Kit.DB stands where the test has put it. It does not move by itself. [Kit.RunFor] and [Kit.RunUntil] run each slot
// when it comes, as a worker does that never stops; [Kit.Advance] and [Kit.At] only move the clock, and [Kit.RunDue] then
// runs everything that is late, as after an outage. Code under test should take its time from Kit.Now, or ask the
// database; and it should use Kit.DB, since a pool of its own has the server's real time.
//
// # Without a server
//
// [Simulate] takes one check through its life by the rules and nothing else: no database, no network, no goroutines. It
// can be used under testing/synctest, where it waits for each slot in the bubble's time.
package prescienttest
