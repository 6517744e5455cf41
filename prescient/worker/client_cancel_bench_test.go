package worker

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/localserver/servertest"
)

// What a cancel adds to a transaction of the app, of nothing and of one check. The app's COMMIT is not counted.
func BenchmarkCancelInATransaction(b *testing.B) {
	ctx := context.Background()
	for _, flavour := range servertest.Flavours(b) {
		y := newYard(b, servertest.New(b, flavour), 20000)
		y.fill()
		client, err := client.New(ctx, y.app, client.Options{Prefix: "p_"})
		y.must(err)
		for _, pending := range []int{0, 1} {
			b.Run(fmt.Sprintf("%s/%d", flavour, pending), func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					e := prescient.Entity{Name: "benched", Key: fmt.Sprint(i)}
					b.StopTimer()
					if pending > 0 {
						_, err := client.Insert(ctx, y.app, prescient.NewJob{Entity: e, JobExec: "check", DueAt: time.Now().Add(time.Hour)})
						y.must(err)
					}
					tx, err := y.app.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
					y.must(err)
					b.StartTimer()
					n, err := client.Cancel(ctx, tx, e)
					b.StopTimer()
					if err != nil || n != pending {
						b.Fatal(n, err)
					}
					y.must(tx.Commit())
					b.StartTimer()
				}
			})
		}
	}
}
