// Package status answers whoever is on call, at one look: who works, what is late, what fails and why, what waits, and what comes next. What
// is wrong with it is what package doctor finds.
package status
