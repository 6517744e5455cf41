package main

import (
	"prescient/scripts/bench/internal/rig"
)

var asynqSection = rig.Section{
	Name:  "asynq",
	About: "Asynq on Redis, for tasks that come due at one instant and are kept when done, beside a slot run: alone, and with a million more pending",
	Run:   rig.AloneAndAmong(50_000, besideAsynq),
}
