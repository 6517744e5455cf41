// Package agents measures how several agents, each a process, share long runs, and what it takes when one stops or dies.
package agents
