// Package claimer is the part of an agent that claims long runs: it looks for what may be claimed in its pools, and has a
// machine for each run that it knows of, which says what is to be done.
//
// It looks each half second while anything of its pools waits or runs anywhere, so that what another hands on is claimed within a second.
// While nothing does, it looks a second after
// each slot boundary, after two, four, and so on up to a minute, and each minute after that: offers are made by slot runs, which begin
// at a boundary. Where runs wait that had no place here, it claims the next of those that the last look has shown once a place comes free, and looks
// again, ten times a second at most. A look is one statement for all pools, and reads some rows by the index on (pool, allocated_until).
//
// A claim is one UPDATE on the token that was seen. What comes of it is decided by the row, and by nothing else. Runs that are to be claimed at
// the same time are claimed by one statement, each on its own token, and start in one transaction: else agents would claim many of them as fast as
// the server commits, and not by their load.
package claimer
