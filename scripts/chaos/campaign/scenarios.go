package campaign

import (
	"slices"

	"prescient/scripts/chaos/stage"
)

// Scenarios are all that there are, in the order in which they are run.
func Scenarios() []stage.Scenario {
	return slices.Concat(deaths(), servers(), machines(), nodes(), sharded(), behaviours(), outsiders(), rollups(), forecasts())
}

// Named returns scenarios by name; ok is false where one is not known.
func Named(names ...string) (list []stage.Scenario, unknown string) {
	for _, name := range names {
		at := slices.IndexFunc(Scenarios(), func(s stage.Scenario) bool { return s.Name == name })
		if at < 0 {
			return nil, name
		}
		list = append(list, Scenarios()[at])
	}
	return list, ""
}
