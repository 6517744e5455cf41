package listing

import (
	"slices"
	"strings"

	"prescient/prescient"
)

// Condition collects what a WHERE clause has.
type Condition struct {
	parts []string
	args  []any
}

// Add adds what has to be true, too.
func (c *Condition) Add(part string, args ...any) {
	c.parts = append(c.parts, part)
	c.args = append(c.args, args...)
}

// ofEntity is the condition for the rows of an entity.
func ofEntity(e prescient.Entity) (c Condition) {
	c.Add("entity_name = ?", e.Name)
	c.Add("entity_key = ?", e.Key)
	return c
}

// and returns both conditions together.
func (c Condition) and(other Condition) Condition {
	return Condition{parts: slices.Concat(c.parts, other.parts), args: slices.Concat(c.args, other.args)}
}

func (c Condition) text() string {
	if len(c.parts) == 0 {
		return "1 = 1"
	}
	return strings.Join(c.parts, " AND ")
}
