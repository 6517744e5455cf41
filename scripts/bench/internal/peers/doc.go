// Package peers is what prescient is measured beside: the floor, which is what the server itself needs for the same; a queue
// table; River on Postgres; and a Redis for Asynq.
package peers
