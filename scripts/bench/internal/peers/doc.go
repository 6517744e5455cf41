// Package peers is what prescient is measured beside: the floor, a queue table, River on Postgres, and a Redis for Asynq.
package peers
