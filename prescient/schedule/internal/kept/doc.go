// Package kept has what the tables keep of schedules beside their rows: what they were before they were changed, and which are no good.
package kept
