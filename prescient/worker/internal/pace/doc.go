// Package pace decides what a slot run takes of the server: how many buckets are worked on at a time, how many rows a commit has, and how long a bucket
// rests after one. It governs neither calls nor how many buckets a slot has.
// A run begins with the least effort, and goes up and down by steps.
package pace
