package vitess

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// Counts returns one of vtgate's own variables that is a table of counters, such as CommitModeTimings: how often each of its rows was counted.
func (c *Cluster) Counts(ctx context.Context, variable string) (map[string]int, error) {
	page, err := read(ctx, c.ports[0], "/debug/vars")
	if err != nil {
		return nil, fmt.Errorf("vitess: reading the variables of vtgate: %w", err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(page, &all); err != nil {
		return nil, fmt.Errorf("vitess: the variables of vtgate: %w", err)
	}
	counts := make(map[string]int)
	var timings struct {
		Histograms map[string]struct{ Count int }
	}
	switch text, there := all[variable]; {
	case !there:
		return nil, fmt.Errorf("vitess: vtgate has no variable %s", variable)
	case json.Unmarshal(text, &counts) == nil:
	case json.Unmarshal(text, &timings) == nil:
		clear(counts)
		for name, one := range timings.Histograms {
			counts[name] = one.Count
		}
	default:
		return nil, fmt.Errorf("vitess: %s is no table of counters", variable)
	}
	return counts, nil
}

// Calls returns how often vtgate has sent a statement to the shard so far.
func (s *Shard) Calls(ctx context.Context) (all int, err error) {
	counts, err := s.cluster.Counts(ctx, "VttabletCall")
	for call, n := range counts { // Execute.shop.-80.primary
		if strings.Contains(call, "."+s.keyspace+"."+s.Name+".") {
			all += n
		}
	}
	return all, err
}
