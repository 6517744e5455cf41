// Package notify tells people of what the doctor finds, as it comes, gets worse, stays and goes: one process of all does, at least once, with the same
// id in each try. Who cannot be reached holds nobody up. While the database is away nobody is told.
package notify
