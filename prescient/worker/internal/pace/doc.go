// Package pace decides what a slot run takes of the server: how many buckets are worked on at a time, how many rows a commit has, and how long a bucket
// rests after one. It governs neither calls nor how many buckets a slot has.
//
// A run begins with the least effort. It goes up by a step or two when the slot will not end in time, and down by one when it would end long before.
// Where its own commits take much longer than the best at the same effort, somebody else needs the server: it goes down, and asks for more later.
package pace
