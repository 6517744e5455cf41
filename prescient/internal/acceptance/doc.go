// Package acceptance holds the tests that take several rooms, through their public doors, and those of the layout and the pages.
package acceptance
