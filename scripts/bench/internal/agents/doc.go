// Package agents measures how several agents share long runs, and what it takes when one of them stops or dies. Each agent is a
// process of its own: this program, started once more.
package agents
