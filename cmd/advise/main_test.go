package advise_test

import (
	"testing"

	"prescient/cmd/internal/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }
