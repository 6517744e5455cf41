// Package rig is what sections are measured with: the servers, an installation with rows pending and due, contestants that
// take turns on it, and what a turn took.
package rig
