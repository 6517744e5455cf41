// Package advice tells from history when what checks wait for happens, by job_exec and kind of entity, and at which ages they are best made. [Read]
// reads; package estimate, below, is pure.
package advice
