package stage

import (
	"time"
)

// How the workers of every scenario are set up: as small as the product lets them be, so that minutes hold many slots,
// leases and batches.
const (
	Prefix     = "c_"
	entity     = "chaos"
	resolution = time.Second
	Lease      = 3 * time.Second
	batch      = 40
	sweepEvery = time.Second
	StopGrace  = time.Second
	maxChecks  = 3
	maxErrors  = 2
	maxLate    = 20 * time.Second
)

// The account of the workers on a server that is ours, and gone with it.
const (
	workerUser     = "chaos_worker"
	workerPassword = "only on loopback"
)
