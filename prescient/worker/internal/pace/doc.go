// Package pace decides what a slot run takes of the server: how many buckets are worked on at a time, each of which sends one
// commit after the other, how many rows a commit has, and how long a bucket rests after one. It governs neither calls nor how many
// buckets a slot has.
//
// A run begins with the least effort. When it sees that the slot will not end in time it goes up by a step, or by two; when it
// would end long before, it goes down by one. Where its own commits come to take much longer than the best at the same
// effort, somebody else needs the server: it goes down first, and asks for more only a while later.
package pace
