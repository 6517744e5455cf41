package main

import "context"

var asynqSection = section{
	name:  "asynq",
	about: "Asynq on Redis, for tasks that come due at one instant and are kept when done, beside a slot run: alone, and with a million more pending",
	run: func(ctx context.Context, b *bench, s *server) error {
		for _, pending := range []int{0, b.scaled(1_000_000)} {
			if err := b.asynq(ctx, s, b.scaled(50_000), pending); err != nil {
				return err
			}
		}
		return nil
	},
}

// asynqName is the case of a setting of Redis.
func asynqName(fsync string) string { return "Asynq on Redis, fsync " + fsync }
