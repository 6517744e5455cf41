// Package rig is what sections are measured with: servers, rows pending and due, contestants that take turns.
package rig
