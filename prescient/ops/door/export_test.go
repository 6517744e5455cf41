package door

import "prescient/prescient/internal/store"

// Tables are those that the door has opened.
func (d *Door) Tables() *store.Tables { return &d.tables }
