package main

var asynqSection = section{
	name:  "asynq",
	about: "Asynq on Redis, for tasks that come due at one instant and are kept when done, beside a slot run: alone, and with a million more pending",
	run:   aloneAndAmong(50_000, (*bench).asynq),
}

// asynqName is the case of a setting of Redis.
func asynqName(fsync string) string { return "Asynq on Redis, fsync " + fsync }
