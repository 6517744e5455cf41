// Package acceptance holds the tests that take several rooms, through their public doors: migrations and upgrades, roles, the
// procedure, views, plain SQL, clusters, and the layout of the house itself.
package acceptance
