package sql

import "regexp"

// ofLease is a condition, in a file, on the column that says until when somebody has something: that the lease lives, or that there is none.
var ofLease = regexp.MustCompile(`\{(lives|free) ([a-z_.]+)\}`)

// withLeases writes out the conditions on leases.
func withLeases(text string) string {
	return ofLease.ReplaceAllStringFunc(text, func(condition string) string {
		found := ofLease.FindStringSubmatch(condition)
		if until := found[2]; found[1] == "free" {
			return "(" + until + " IS NULL OR " + Over(until) + " OR " + Far(until) + ")"
		}
		return Lives(found[2])
	})
}

// Lives is the condition of a lease that lives.
func Lives(until string) string {
	return "(" + until + " > UTC_TIMESTAMP(6) AND " + until + " <= UTC_TIMESTAMP(6) + INTERVAL 1 HOUR)"
}

// Over is that of one that has lapsed.
func Over(until string) string { return until + " <= UTC_TIMESTAMP(6)" }

// Far is that of one that ends further ahead than the longest there is: it was left before the clock was put back, and does not live.
func Far(until string) string { return until + " > UTC_TIMESTAMP(6) + INTERVAL 1 HOUR" }
