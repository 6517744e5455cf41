package config

import (
	"prescient/slots"

	"prescient/config/value"
)

// readSlots makes the grid and chooses the slots of the worker on it.
func readSlots(l layers, p *problems) (slots.Grid, slots.Assignment) {
	text, source := l.given(keyResolution)
	grid, err := parseGrid(text)
	if err != nil {
		p.add(keyResolution, source, err)
	}

	var assignment slots.Assignment
	minutes, minutesSource := l.given(keyMinutes)
	share, shareSource := l.given(keyShare)
	switch {
	case minutes != "" && share != "":
		p.addf(keyMinutes, minutesSource, "%s is given too (%s); only one of the two is allowed", keyShare, shareSource)
	case grid.IsZero():
	case minutes != "":
		assignment, err = slots.ParseMinutes(grid, minutes)
		p.check(keyMinutes, minutes, minutesSource, err)
	case share != "":
		assignment, err = slots.ParseShare(grid, share)
		p.check(keyShare, share, shareSource, err)
	default:
		assignment = slots.All(grid)
	}
	return grid, assignment
}

func parseGrid(text string) (slots.Grid, error) {
	resolution, err := value.ParseDuration(text)
	if err != nil {
		return slots.Grid{}, err
	}
	return slots.NewGrid(resolution)
}
