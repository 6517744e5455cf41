package job

import "prescient/cmd/internal/arguments"

var (
	oneJob    = arguments.One("the name of one job")
	wantNames = arguments.Names("jobs")
)
