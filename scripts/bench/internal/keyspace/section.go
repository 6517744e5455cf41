package keyspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

// shardCounts are those of the keyspaces that are measured.
var shardCounts = []int{1, 2, 4}

// Section measures keyspaces of Vitess beside a MySQL alone.
var Section = rig.Section{
	Name: "vitess",
	About: "slot runs of 200 thousand due among a million pending, on keyspaces of Vitess with 1, 2 and 4 shards, there also with a bucket of each at a time, and on the same MySQL alone, by the command run, one process " +
		"for all shards, whose start counts as CPU; with nothing due; among 10 million pending on 4 shards; and what the command work sends between its slots, with a sweep a minute",
	MySQLOnly: true,
	// What Vitess asks of a MySQL, which its shards have.
	Args: func(*rig.Bench, page.Engine) []string {
		return []string{"--server-id=100", "--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--skip-replica-start"}
	},
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) (err error) {
		if err := build(ctx); err != nil {
			return err
		}
		var sides []*side
		defer func() {
			for _, one := range sides {
				err = errors.Join(err, one.close(ctx))
			}
		}()
		alone, err := onServer(ctx, s)
		if err != nil {
			return err
		}
		sides = append(sides, alone)
		for _, shards := range shardCounts {
			one, err := onShards(ctx, b, shards)
			if err != nil {
				return err
			}
			sides = append(sides, one)
		}
		due, pending := b.Scaled(200_000), b.Scaled(1_000_000)
		for _, one := range sides {
			b.Say("  %s: %d pending, %d due", one.name, pending, due)
			if err := one.fill(ctx, 0, pending, due); err != nil {
				return err
			}
		}
		last := sides[len(sides)-1]
		narrow := *last
		narrow.name += page.OneBucket
		narrow.environ = []string{"PRESCIENT_WORKER_BUCKETS=1"}
		for round := 1; round <= b.Rounds; round++ {
			for _, rows := range []int{due, 0} {
				for _, one := range append(slices.Clone(sides), &narrow)[:len(sides)+min(rows, 1)] {
					if err := one.slot(ctx, b, round, rows, one.name); err != nil {
						return err
					}
				}
			}
		}
		if err := last.among(ctx, b, pending, max(b.Scaled(10_000_000), pending), due); err != nil {
			return err
		}
		return idle(ctx, b, sides)
	},
}

// build has the programs of Vitess built where they are not there yet, and found.
func build(ctx context.Context) error {
	script := exec.CommandContext(ctx, "../vitess")
	script.Stderr = os.Stderr
	folder, err := script.Output()
	if err != nil {
		return fmt.Errorf("getting a Vitess by scripts/vitess: %w", err)
	}
	const where = "PRESCIENT_SERVER_DIR"
	list := append(filepath.SplitList(os.Getenv(where)), strings.TrimSpace(string(folder)))
	return os.Setenv(where, strings.Join(list, string(filepath.ListSeparator)))
}
