package rig

import (
	"os"

	text "prescient/sql"
)

// Dialect is the setting that the tests' installations are made and opened with: auto, unless PRESCIENT_TEST_DIALECT says
// plain. Then MySQL and MariaDB are used as other servers are, which lack what plain does without.
func Dialect() text.Dialect { return text.Dialect(os.Getenv("PRESCIENT_TEST_DIALECT")) }
