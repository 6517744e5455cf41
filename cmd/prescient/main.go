package main

import (
	_ "time/tzdata" // the time zones of schedules, for a machine or a container that has no zoneinfo of its own

	"prescient/cmd"
)

func main() { cmd.Main(cmd.Options{}) }
