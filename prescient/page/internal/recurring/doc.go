// Package recurring has the views and deeds of what recurs: schedules, and jobs of steps.
package recurring
