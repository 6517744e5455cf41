package forward

import (
	"math/rand/v2"
	"slices"
)

// holder is a row of event_shard.
type holder struct {
	Shard     int    `db:"shard"`
	Token     uint64 `db:"token"`
	Forwarder string `db:"forwarder"`
	Lives     bool   `db:"lives"`
	// Forwarders is how many are alive.
	Forwarders int `db:"forwarders"`
}

// free are the shards that nobody has.
func free(leases []holder) (some []int) {
	for _, l := range leases {
		if !l.Lives {
			some = append(some, l.Shard)
		}
	}
	return some
}

// share says which shards a forwarder takes, and how many of its own it gives back, so that all that are alive have about the same
// number. It is a pure function, but for which of the free ones it takes: not those that another one takes just now, mostly.
func share(leases []holder, mine int) (take []int, give int) {
	forwarders := 1
	for _, l := range leases {
		forwarders = max(forwarders, l.Forwarders)
	}
	take = free(leases)
	most := (len(leases) + forwarders - 1) / forwarders
	rand.Shuffle(len(take), func(i, j int) { take[i], take[j] = take[j], take[i] })
	take = take[:min(max(most-mine, 0), len(take))]
	slices.Sort(take)
	return take, max(mine-most, 0)
}
